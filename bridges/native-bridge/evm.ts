import { decodeBase64 } from 'ethers'
import type { EvmChain } from '../../chains/evm/index.ts'
import type { At, Revert } from '../../chains/port.ts'
import { RelayerError } from '../../domain/catalogue/errors.ts'
import type { Transfer } from '../../domain/transfer/transfer.ts'
import { demandSame } from '../kit/demands.ts'
import { findDelivery, hasLog } from '../kit/logs.ts'
import { toVerdict } from '../kit/verdict.ts'
import type { Endpoint, RevertMeaning, SharedCalls } from '../port.ts'
import { batchIntent, completionIntent, createProveCall, selectors } from './calls.ts'
import { readInboundNonce } from './contracts.ts'
import { completionLog, isCompleted } from './events.ts'
import type { VerifiedMessages } from '../kit/verified-messages.ts'
import { createInbound, type Inbound } from './inbound.ts'
import { chainTime } from '../../chains/heads.ts'
import { explainRevert } from './reverts.ts'
import { createVerifier, type ReadableRoute, refusals } from './verify.ts'
import { LRUCache } from 'lru-cache'
import type { ContractReader } from '../kit/contract-reader.ts'
import { contentOf, createRoutes, type NativeMessage, readMessage, type Routes, toTransfer } from './message.ts'

interface EvmEndpointOptions {
  readonly chain: Pick<EvmChain, 'name' | 'heads' | 'call' | 'logs' | 'transactionSender' | 'nodes'>
  readonly routes: readonly ReadableRoute[]
  readonly verified?: VerifiedMessages | undefined
  /** See `Endpoint.accept`. */
  readonly decimals?: (message: Uint8Array) => Promise<number | undefined>
}

export type NativeEndpoint = ReturnType<typeof createEvmEndpoint>

/** Throws CONFIG_INVALID if routes share a contract or end on another chain. */
export function createEvmEndpoint({ chain, routes: given, verified, decimals }: EvmEndpointOptions) {
  const stray = given.find(({ targetChain }) => targetChain !== chain.name)
  if (stray) throw new RelayerError('CONFIG_INVALID', { detail: `A route to ${stray.targetChain} does not end on ${chain.name}.` })
  const routes = createRoutes(given.map((route) => ({ ...route, inbound: createInbound(chain, route.targetBridge.toLowerCase()) })))
  const decode = createDecoder(routes)
  const verify = createVerifier(routes, verified)
  const largest = Math.max(0, ...routes.all.map(({ batch = 0 }) => batch))

  const logOf = (transfer: Transfer) => {
    const { message, route } = decode(transfer)
    return completionLog(route.targetBridge, message)
  }

  async function check(transfer: Transfer): Promise<void> {
    const { message, route } = decode(transfer)
    demandSame(transfer, toTransfer(route, message))
    // A decline is permanent, so the amount must first be confirmed by the source's table.
    await verify(decodeBase64(transfer.message))
    demandAmount(message, route)
  }

  return {
    chain: chain.name,
    batches: largest > 0 ? createSharedCalls(decode, largest) : undefined,
    verify: (bytes) => toVerdict(verify(bytes), refusals),
    accept: (bytes) => verify(bytes).then(() => decimals?.(bytes)),
    validate: (transfer) => toVerdict(check(transfer), refusals),
    delivered: async (transfer, at) => isDelivered(chain, decode(transfer), at),
    findDelivery: async (transfer) => findDelivery(chain, logOf(transfer)),
    delivery(transfer) {
      const { message, route } = decode(transfer)
      const { recipient, token } = contentOf(message)
      return {
        call: async () => completionIntent(route.targetBridge, message),
        parties: { bridge: transfer.bridge, targetChain: transfer.targetChain, recipient, token },
        revertsOnceDelivered: true,
      }
    },
    calls: Object.fromEntries(routes.all.map(({ targetBridge }) => [targetBridge, selectors])),
    proveCall: createProveCall(routes.all, verify),
    /**
     * If the bridge's limit caused the revert, the limits that were read last decide between BRIDGE_CAP and
     * BRIDGE_BUDGET.
     */
    explainRevert(revert: Revert, transfer?: Transfer): RevertMeaning {
      if (!transfer) return explainRevert(revert)
      const { message, route } = decode(transfer)
      const limits = route.inbound.last
      return explainRevert(revert, limits && { limits, amount: message.amount, now: chainTime(chain) })
    },
    hasEffect: (receipt, transfer) => hasLog(receipt, logOf(transfer)),
    async reserve(transfer, relayer) {
      const { message, route } = decode(transfer)
      return route.inbound.reserve(message, relayer)
    },
    release: createRelease(decode),
    async unauthorized(relayer) {
      const may = await Promise.all(routes.all.map(({ inbound }) => inbound.mayComplete(relayer)))
      const closed = routes.all.flatMap(({ targetBridge }, index) => (may[index] ? [] : [targetBridge]))
      if (closed.length === 0) return undefined
      return { everywhere: closed.length === may.length, reason: `grant RELAYER_ROLE of ${closed.join(', ')} to ${relayer}` }
    },
  } satisfies Endpoint
}

type ServedRoute = ReadableRoute & { readonly inbound: Inbound }

interface DecodedTransfer {
  readonly message: NativeMessage
  readonly route: ServedRoute
}

type DecodeTransfer = (transfer: Transfer) => DecodedTransfer

const mostDecoded = 4_096

/** Decodes each message only once, because the gate watcher asks at every block. */
function createDecoder(routes: Routes<ServedRoute>): DecodeTransfer {
  const known = new WeakMap<Transfer, DecodedTransfer>()
  const decoded = new LRUCache<string, DecodedTransfer>({
    max: mostDecoded,
    memoMethod(text) {
      const message = readMessage(decodeBase64(text))
      return { message, route: routes.of(message) }
    },
  })
  return (transfer) => {
    const found = known.get(transfer) ?? decoded.memo(transfer.message)
    known.set(transfer, found)
    return found
  }
}

function createRelease(decode: DecodeTransfer) {
  return (transfer: Transfer): void => {
    try {
      const { message, route } = decode(transfer)
      route.inbound.release(message.id)
    } catch {
      // A message that cannot be read, or has no route, has reserved nothing.
    }
  }
}

function demandAmount({ amount, nonce }: NativeMessage, { minimumAmount = '0' }: ReadableRoute): void {
  if (amount >= BigInt(minimumAmount)) return
  throw new RelayerError('AMOUNT_TOO_SMALL', { facts: { nonce: String(nonce), amount: String(amount), minimum: minimumAmount } })
}

const quorumOf: Partial<Record<At, At>> = { latest: 'agreed-latest', finalized: 'agreed' }

/** If one node shows a nonce that is not the transfer's, asks most nodes, because the one node may lie. */
async function isDelivered(chain: ContractReader, { message, route }: DecodedTransfer, at: At): Promise<boolean> {
  const nonceAt = (state: At) => readInboundNonce(chain, route.targetBridge, message.id, state)
  const first = await nonceAt(at)
  const quorum = quorumOf[at]
  const isDoubtful = first !== 0n && first !== message.nonce && quorum
  return isCompleted(chain.name, message, isDoubtful ? await nonceAt(quorum) : first)
}

function createSharedCalls(decode: DecodeTransfer, largest: number): SharedCalls {
  return {
    largest,
    groupOf(transfer) {
      const { targetBridge: key, batch: most } = decode(transfer).route
      return most === undefined ? undefined : { key, most }
    },
    async intent(transfers) {
      const decoded = transfers.map(decode)
      const messages = decoded.map(({ message }) => message)
      return batchIntent(decoded[0]?.route.targetBridge ?? '', messages)
    },
    fitting(transfers) {
      const entrants = transfers.map((transfer) => ({ ...decode(transfer).message, transfer }))
      const inbound = transfers[0] && decode(transfers[0]).route.inbound
      return inbound?.fitting(entrants).map(({ transfer }) => transfer) ?? []
    },
  }
}
