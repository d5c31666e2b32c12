import type { UserBurn } from '../devnet/cctp/cctp-users.ts'
import type { ExecutionWish } from '../devnet/executor/network.ts'
import type { Devnet, DevnetOptions } from '../devnet/index.ts'
import type { NativeUserTransfer } from '../devnet/native/native-users.ts'
import type { NttUserTransfer } from '../devnet/ntt/ntt-users.ts'
import { devnetTokenFeeWei } from '../devnet/relayer-config.ts'
import type { AnySent } from '../devnet/sent.ts'
import { messageKind, type UserTransfer, transferKinds } from '../devnet/wormhole/users.ts'

export const bridgeChoices = ['wormhole', 'native', 'both', 'all'] as const
export type BridgeChoice = (typeof bridgeChoices)[number]

type Source = 'ethereum' | 'bsc'
const sources = ['ethereum', 'bsc'] as const satisfies Source[]

export interface Wish {
  readonly wormhole: readonly UserTransfer[]
  readonly native: readonly NativeUserTransfer[]
  readonly ntt: readonly NttUserTransfer[]
  /** Transfers of coins with a payload 3 to a contract. */
  readonly messages: readonly UserTransfer[]
  readonly executions: readonly ExecutionWish[]
  readonly burns: readonly UserBurn[]
}

const products = {
  wormhole: ['wormhole'],
  native: ['native'],
  both: ['wormhole', 'native'],
  all: ['wormhole', 'native', 'messages', 'ntt', 'executions', 'burns'],
} as const satisfies Record<BridgeChoice, readonly (keyof Wish)[]>

/** An NTT transfer above this number of whole tokens is queued for `rateLimitSeconds`. */
const queuedAbove = 1_000n

/** Parts of the devnet that a run over these bridges needs. */
export function partsOf(bridge: BridgeChoice): Pick<DevnetOptions, 'wormhole' | 'native' | 'receivers' | 'ntt' | 'executor' | 'cctp'> {
  const isAll = bridge === 'all'
  return {
    ...{ wormhole: bridge !== 'native', native: bridge !== 'wormhole' && 'fixed', receivers: isAll, executor: isAll },
    ...(isAll && { ntt: { inboundLimit: queuedAbove, rateLimitSeconds: 10 }, cctp: {} }),
  }
}

/**
 * Maximum number of transfers that the users of one chain send together, over all bridges. They fit into a few blocks.
 */
const burst = 200

/**
 * Sends users' transfers alternately from both chains, each to a new recipient. ERC20s pay the fee that the fee table
 * demands. Every fourth NTT transfer exceeds the inbound limit. Plain requests to the Executor come with an underpaid
 * copy, which must have no effect.
 */
export async function sendTransfers(
  devnet: Devnet,
  plan: { readonly transfers: number; readonly rate: number; readonly bridge: BridgeChoice },
  onSent: (sent: readonly AnySent[]) => void,
): Promise<AnySent[]> {
  const all: AnySent[] = []
  const send = async (source: Source, wish: Wish) => {
    const sent = await sendWish(devnet, source, wish)
    all.push(...sent)
    onSent(sent)
  }
  if (plan.rate === 0) {
    await Promise.all(
      sources.map(async (source) => {
        const own = indexesOf(source, plan.transfers)
        for (let from = 0; from < own.length; from += burst) await send(source, wishOf(plan.bridge, own.slice(from, from + burst)))
      }),
    )
    return all
  }
  const sending: Promise<void>[] = []
  for (let index = 0; index < plan.transfers; index++) {
    sending.push(send(index % 2 === 0 ? 'ethereum' : 'bsc', wishOf(plan.bridge, [index])))
    await new Promise((resolve) => setTimeout(resolve, 1000 / plan.rate))
  }
  await Promise.all(sending)
  return all
}

export function indexesOf(source: Source, transfers: number): number[] {
  return Array.from({ length: transfers }, (_, index) => index).filter((index) => index % 2 === sources.indexOf(source))
}

/**
 * The transfers of the given indexes, by product. An even index and the next index have the same product, because one
 * chain has the even indexes and the other chain has the odd ones.
 */
export function wishOf(bridge: BridgeChoice, indexes: readonly number[]): Wish {
  const chosen = products[bridge]
  const over = (product: keyof Wish) => indexes.filter((index) => chosen[Math.floor(index / 2) % chosen.length] === product)
  // Position of a transfer among the transfers of its product.
  const turn = (index: number) => Math.floor(index / (2 * chosen.length)) * 2 + (index % 2)
  return {
    wormhole: over('wormhole').map((index) => wormholeTransfer(turn(index))),
    native: over('native').map((index) => ({ amount: 1000n + BigInt(index) })),
    messages: over('messages').map((index) => ({ kind: messageKind, amount: amountOf(turn(index)) })),
    ntt: over('ntt').map((index) => nttTransfer(turn(index))),
    executions: over('executions').flatMap((index) => executionsOf(turn(index))),
    burns: over('burns').map((index) => burnOf(turn(index))),
  }
}

export async function sendWish({ users, native, ntt, executor, cctp }: Devnet, source: Source, wish: Wish): Promise<AnySent[]> {
  const { wormhole, messages, native: natives, ntt: ntts, executions, burns } = wish
  const signed = [...wormhole, ...messages]
  if (executions.length > 0 && !executor) throw new Error('The devnet was started without an Executor')
  if (burns.length > 0 && !cctp) throw new Error('The devnet was started without CCTP')
  if (ntts.length > 0 && !ntt) throw new Error('The devnet was started without NTT')
  if (natives.length > 0 && !native) throw new Error('The devnet was started without a native bridge')
  const sent = await Promise.all([
    signed.length > 0 ? users[source].send(signed) : [],
    native && natives.length > 0 ? native.users[source].send(natives) : [],
    ntt && ntts.length > 0 ? ntt.users[source].send(ntts) : [],
    executor && executions.length > 0 ? executor.users[source].send(executions) : [],
    cctp && burns.length > 0 ? cctp.users[source].burn(burns) : [],
  ])
  return sent.flat()
}

function wormholeTransfer(index: number): UserTransfer {
  const turn = Math.floor(index / 2)
  const kind = transferKinds[turn % transferKinds.length] ?? 'coin'
  const withFee = kind.startsWith('token') || Math.floor(turn / transferKinds.length) % 2 === 0
  return { kind, amount: amountOf(index), ...(withFee && { fee: devnetTokenFeeWei }) }
}

/** An NTT transfer, whose amount has 8 decimals. Every fourth transfer exceeds the inbound limit. */
function nttTransfer(index: number): NttUserTransfer {
  const isQueued = Math.floor(index / 2) % 4 === 0
  return { amount: (isQueued ? queuedAbove * 10n ** 8n : 0n) + 1_000n + BigInt(index) }
}

/** The requests for one index. A plain request comes with an underpaid copy, which must have no effect. */
function executionsOf(index: number): ExecutionWish[] {
  const wishes: readonly ExecutionWish[] = [
    { form: 'plain' },
    { form: 'dropOffAlone', paidFor: { kind: 'ntt', amount: 1_000n + BigInt(index) } },
    { form: 'value' },
    { form: 'plain', paidFor: { kind: 'burnV2', amount: 2_000_000n + BigInt(index) } },
    { form: 'dropOff' },
    { form: 'dropOffAlone', paidFor: { kind: 'burnV1', amount: 2_000_000n + BigInt(index) } },
    { form: 'plain', paidFor: { kind: 'ntt', amount: queuedAbove * 10n ** 8n + 1_000n + BigInt(index) } },
    { form: 'dropOffAlone', paidFor: { kind: 'burnV2', amount: 2_000_000n + BigInt(index) } },
  ]
  const wish = wishes[Math.floor(index / 2) % wishes.length] ?? { form: 'plain' }
  return wish.form === 'plain' ? [wish, { ...wish, underpaid: true }] : [wish]
}

/** A burn of dollars (6 decimals). Every third burn pays for a fast attestation. */
function burnOf(index: number): UserBurn {
  const kind = Math.floor(index / 2) % 3
  const amount = 1_000_000n + BigInt(index)
  return { version: kind === 2 ? 1 : 2, amount, ...(kind === 0 && { minFinality: 1_000, maxFee: amount / 100n }) }
}

/** Amount for an index. All amounts differ, so that no two balances can be confused. */
function amountOf(index: number): bigint {
  return 10n ** 16n + BigInt(index) * 10n ** 12n
}
