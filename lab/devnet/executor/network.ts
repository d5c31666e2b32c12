import { hexlify, id, type Interface, randomBytes } from 'ethers'
import { freshAddress } from '../chain/accounts.ts'
import type { Mined } from '../chain/contracts.ts'
import { minedOf } from '../chain/mined.ts'
import { createSender } from '../chain/sender.ts'
import { compiledArtifact } from '../chain/solidity.ts'
import type { ConfigInput } from '../relayer-config.ts'
import { until } from '../until.ts'
import { toUniversal } from '../wormhole/vaa.ts'
import type { WormholeChain } from '../wormhole/wormhole.ts'
import type { SentBurn } from '../cctp/cctp-users.ts'
import type { SentNttTransfer } from '../ntt/ntt-users.ts'
import { deployExecutors, executorConfig, type ExecutorEnd } from './deploy.ts'
import type { NttNetwork } from '../ntt/ntt.ts'
import { deployPaid, paidCall, type PaidEnd, type PaidNetworks, paidOutcome, type PaidWish } from './paid.ts'
import { askQuote, type ExecutorMessage, instructionsOf, type Quoted } from './users.ts'

/** wei that a request pays out. `msgValue`: wei for the receiver. `dropOff`: wei for another recipient. */
const forms = {
  plain: { msgValue: 0n, dropOff: 0n },
  value: { msgValue: 10n ** 12n, dropOff: 0n },
  dropOff: { msgValue: 10n ** 12n, dropOff: 2n * 10n ** 12n },
  /** Only requests that pay for an NTT transfer or a burn have this form. */
  dropOffAlone: { msgValue: 0n, dropOff: 2n * 10n ** 12n },
} as const
export type ExecutionForm = keyof typeof forms
const executionForms = Object.keys(forms) as ExecutionForm[]

/**
 * `underpaid`: the payment is one wei too low, so Portage must not deliver. `paidFor`: undefined if the request pays
 * for a message.
 */
export interface ExecutionWish {
  readonly form: ExecutionForm
  readonly underpaid?: boolean
  readonly paidFor?: Pick<PaidWish, 'kind' | 'amount'>
}

export interface SentExecution {
  readonly source: string
  readonly target: string
  readonly emitterChain: number
  /** The Executor contract, 64 hex digits. */
  readonly emitter: string
  /** Place of the request: block height × 1,000,000 + index of the log. */
  readonly sequence: bigint
  /** Unique payload of the message, 0x hex. Empty if the request pays for an NTT transfer or a CCTP burn. */
  readonly payload: string
  readonly paidFor?: SentNttTransfer | SentBurn
  /** wei for the receiver. */
  readonly msgValue: bigint
  /** wei for `recipient`, a lower-case 0x address. */
  readonly dropOff: bigint
  readonly recipient: string
  /** Payment, wei of the source. */
  readonly paid: bigint
  readonly txHash: string
  readonly height: number
  /** Seconds. */
  readonly sentAt: number
}

export interface ExecutorUsers {
  /**
   * Sends requests and waits until all are final, because a fork may move a request to another place. Returns the fully
   * paid requests.
   */
  send(wishes: readonly ExecutionWish[]): Promise<SentExecution[]>
}

export interface ExecutorNetwork {
  readonly ends: { readonly ethereum: ExecutorEnd; readonly bsc: ExecutorEnd }
  /** Contracts for requests that pay for the delivery of an NTT transfer or a CCTP burn. */
  readonly paid: { readonly ethereum: PaidEnd; readonly bsc: PaidEnd }
  readonly users: { readonly ethereum: ExecutorUsers; readonly bsc: ExecutorUsers }
  readonly config: NonNullable<ConfigInput['bridges']['executor']>
  /** Gets quotes, which are valid for an hour, from the first of these APIs that answers. */
  askQuotes(apiUrls: readonly string[]): Promise<void>
  /** The latest quote for a direction. Throws Error before the first `askQuotes`. */
  quoteOf(source: 'ethereum' | 'bsc', form: ExecutionForm): Quoted
  readonly gasLimit: bigint
}

const requestTopic = id('RequestForExecution(address,uint256,uint16,bytes32,address,bytes,bytes,bytes)')
/** Gas units, enough for 13 signatures and a drop-off. */
const deliveryGas = 500_000n
const gasLimit = 700_000n

export async function startExecutorNetwork(
  chains: {
    readonly ethereum: WormholeChain
    readonly bsc: WormholeChain
  },
  networks: PaidNetworks = {},
): Promise<ExecutorNetwork> {
  const [ethereum, bsc] = await deployExecutors([chains.ethereum, chains.bsc])
  const [paidEthereum, paidBsc] = await deployPaid([ethereum, bsc], networks)
  const { abi } = await compiledArtifact('MessageSender')
  const quotes = new Map<string, Quoted>()
  const quoteOf = (source: string, form: ExecutionForm) => {
    const quote = quotes.get(`${source} ${form}`)
    if (quote) return quote
    throw new Error('Nobody has asked a provider for quotes')
  }
  return {
    ends: { ethereum, bsc },
    paid: { ethereum: paidEthereum, bsc: paidBsc },
    users: {
      ethereum: startUsers(ethereum, bsc, { abi, quoteOf, paid: [paidEthereum, paidBsc] }),
      bsc: startUsers(bsc, ethereum, { abi, quoteOf, paid: [paidBsc, paidEthereum] }),
    },
    config: withDropOffs(executorConfig([ethereum, bsc]), { ethereum: paidEthereum, bsc: paidBsc }),
    ...{ quoteOf, gasLimit: deliveryGas },
    async askQuotes(apiUrls) {
      const ways = [[ethereum, bsc] as const, [bsc, ethereum] as const]
      const asked = ways.flatMap(([from, to]) => executionForms.map((form) => ({ from, to, form })))
      const ask = (api: string) =>
        Promise.all(asked.map(({ from, to, form }) => askQuote(`${api}/v0`, from, to, instructionsOf(messageOf(form, freshAddress())))))
      const found = await Promise.any(apiUrls.map(ask))
      for (const [index, { from, form }] of asked.entries()) quotes.set(`${from.chain.name} ${form}`, found[index]!)
    },
  }
}

export function paidNttEnds({ paid: { ethereum, bsc } }: ExecutorNetwork): NttNetwork['ends'] | undefined {
  return ethereum.ntt && bsc.ntt && { ethereum: ethereum.ntt, bsc: bsc.ntt }
}

function withDropOffs(config: ExecutorNetwork['config'], paid: Readonly<Record<string, PaidEnd>>): ExecutorNetwork['config'] {
  const chains = Object.entries(config.chains).map(([name, chain]) => {
    const { ntt, dropOffs } = paid[name] ?? {}
    const ofNtt = ntt && { nttDropOffContract: chain.dropOffContract }
    const ofCctp = dropOffs && { cctpV1DropOffContract: dropOffs.v1, cctpV2DropOffContract: dropOffs.v2 }
    return [name, { ...chain, ...ofNtt, ...ofCctp }]
  })
  return { ...config, chains: Object.fromEntries(chains) }
}

function messageOf(form: ExecutionForm, recipient: string): Omit<ExecutorMessage, 'payload'> {
  const { msgValue, dropOff } = forms[form]
  return { gasLimit: deliveryGas, msgValue, ...(dropOff > 0n && { dropOff: { amount: dropOff, recipient } }) }
}

interface Asking {
  readonly abi: Interface
  readonly quoteOf: ExecutorNetwork['quoteOf']
  /** The source's contracts, then the target's. */
  readonly paid: readonly [PaidEnd, PaidEnd]
}

function startUsers(from: ExecutorEnd, to: ExecutorEnd, { abi, quoteOf, paid }: Asking): ExecutorUsers {
  const { anvil } = from.chain
  const send = createSender(anvil, from.user, gasLimit)
  const final = async () => Number((await anvil.rpc<{ number: string }>('eth_getBlockByNumber', ['finalized', false])).number)
  return {
    async send(wishes) {
      const wanted = await Promise.all(
        wishes.map(async ({ form, underpaid = false, paidFor }) => {
          const [payload, recipient] = [paidFor ? '' : hexlify(randomBytes(32)), freshAddress()]
          const { signedQuote, estimatedCost } = quoteOf(from.chain.name as 'ethereum' | 'bsc', form)
          const [dstChain, relayInstructions] = [to.chain.wormholeChainId, instructionsOf(messageOf(form, recipient))]
          const value = underpaid ? estimatedCost - 1n : estimatedCost
          const transfer = paidFor && { ...paidFor, recipient }
          const args = [payload, dstChain, `0x${toUniversal(to.receiver)}`, signedQuote, relayInstructions]
          const call = transfer
            ? { to: paid[0].sender, data: await paidCall(...paid, transfer, { dstChain, signedQuote, relayInstructions }), value }
            : { to: from.sender, data: abi.encodeFunctionData('send', args), value }
          return { form, underpaid, payload, recipient, transfer, call }
        }),
      )
      const mined = await send(wanted.map(({ call }) => call))
      const highest = Math.max(...mined.map(({ blockNumber }) => blockNumber))
      await until(async () => (await final()) >= highest + 1, { timeoutMs: 120_000, everyMs: 200, what: 'the requests to be final' })
      const placed = await Promise.all(mined.map(({ transactionHash }) => minedOf(anvil, transactionHash)))
      const sent = await Promise.all(
        placed.map(async (transaction, index) => {
          const { form, underpaid, payload, recipient, transfer, call } = wanted[index]!
          if (underpaid) return []
          const common = { source: from.chain.name, target: to.chain.name, emitterChain: from.chain.wormholeChainId }
          const place = { emitter: toUniversal(from.executor), ...placeOfRequest(from.chain.name, from.executor, transaction) }
          const paidFor = transfer && (await paidOutcome(...paid, transfer, transaction))
          return [{ ...common, ...place, payload, recipient, ...forms[form], paid: call.value, ...(paidFor && { paidFor }) }]
        }),
      )
      return sent.flat()
    },
  }
}

/** Place of the request: block height × 1,000,000 + index of the log. Throws Error if the request reverted. */
export function placeOfRequest(name: string, executor: string, { transactionHash, blockNumber, timestamp, logs }: Mined) {
  const log = logs.find(({ address, topics }) => address.toLowerCase() === executor && topics[0] === requestTopic)
  if (!log) throw new Error(`The user's transaction ${transactionHash} on ${name} reverted`)
  const sequence = BigInt(blockNumber) * 1_000_000n + BigInt(log.logIndex)
  return { sequence, txHash: transactionHash, height: blockNumber, sentAt: timestamp }
}
