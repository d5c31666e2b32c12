import { AbiCoder, concat, decodeBase64, id, toBeHex } from 'ethers'
import type { EvmChain } from '../../chains/evm/index.ts'
import type { Receipt } from '../../chains/port.ts'
import { RelayerError } from '../../domain/errors.ts'
import type { Intent } from '../../domain/intent.ts'
import type { Transfer } from '../../domain/transfer/transfer.ts'
import { parseVaa } from '../../domain/vaa.ts'
import { createFindDelivery, type DeliveryLog } from '../common/find-delivery.ts'
import { toVerdict } from '../common/verdict.ts'
import type { Endpoint } from '../port.ts'
import { createTokenBridgeReads, isCompleted, tokenBridgeAbi, type TokenBridgeReads } from './contracts.ts'
import { createGuardianSets } from './guardian-sets.ts'
import { readMessage } from './message.ts'
import type { PolicyOptions } from './policy.ts'
import { explainRevert } from './reverts.ts'
import { createCheck } from './validate.ts'
import { createVerifier, refusals } from './verify.ts'

/** The token bridge on one EVM chain, as values of the config. Addresses lower-case 0x. */
export interface EvmEndpointOptions extends PolicyOptions {
  readonly chain: Pick<EvmChain, 'name' | 'heads' | 'call' | 'logs' | 'transactionSender'>
  /** Wormhole's number of this chain. */
  readonly wormholeChainId: number
  readonly core: string
  readonly tokenBridge: string
}

export function createEvmEndpoint(options: EvmEndpointOptions): Endpoint {
  const { chain, core, calls } = options
  const tokenBridge = options.tokenBridge.toLowerCase()
  const reads = createTokenBridgeReads(chain, tokenBridge)
  const { verify } = createVerifier({ guardianSets: createGuardianSets({ chain, core }), now: () => latestTimestamp(chain) })
  const check = createCheck({ ...options, verify, reads })
  const findDelivery = createFindDelivery(chain)
  return {
    chain: chain.name,
    verify: (message) => toVerdict(() => verify(message), refusals),
    validate: (transfer) => toVerdict(() => check(transfer), refusals),
    delivered: ({ digest }, at) => isCompleted(chain, tokenBridge, digest, at),
    findDelivery: (transfer) => findDelivery(redemptionLog(tokenBridge, transfer)),
    intent: createIntent({ ...options, tokenBridge }, reads),
    calls: allCalls(tokenBridge, calls),
    explainRevert,
    parties(transfer) {
      const { recipient, originToken } = readMessage(decodeBase64(transfer.message)).transfer
      return { recipient: `0x${recipient.slice(24)}`, token: originToken }
    },
    hasEffect: (receipt, transfer) => receipt.status === 'success' && showsRedemption(receipt, tokenBridge, redeemedTopics(transfer)),
  }
}

/** topic0: 0xcaf280c8… */
const redeemedEvent = id('TransferRedeemed(uint16,bytes32,uint64)')

/** The topics of TransferRedeemed for this transfer: its event, the source's Wormhole chain id, emitter, sequence. */
function redeemedTopics({ message, emitter, sequence }: Transfer): readonly string[] {
  const { emitterChain } = parseVaa(decodeBase64(message))
  return [redeemedEvent, toBeHex(emitterChain, 32), `0x${emitter}`, toBeHex(BigInt(sequence), 32)]
}

/** Where the redemption of this transfer is found. */
export function redemptionLog(tokenBridge: string, transfer: Transfer): DeliveryLog {
  return { address: tokenBridge, topics: redeemedTopics(transfer) }
}

function showsRedemption({ logs }: Receipt, tokenBridge: string, topics: readonly string[]): boolean {
  const isIt = (found: readonly string[]) =>
    found.length === topics.length && found.every((topic, at) => topic.toLowerCase() === topics[at])
  return logs.some((log) => log.address.toLowerCase() === tokenBridge && isIt(log.topics))
}

/** The native coin, if the token is this chain's wrapped coin (Bridge.sol: only then unwrapping is allowed). */
function createIntent({ wormholeChainId, tokenBridge, calls }: EvmEndpointOptions, { weth }: TokenBridgeReads) {
  return async function intent(transfer: Transfer): Promise<Intent> {
    const bytes = decodeBase64(transfer.message)
    const { kind, recipient, originChain, originAddress } = readMessage(bytes).transfer
    const contract = `0x${recipient.slice(24)}`
    const call = kind === 3 ? calls?.[contract] : undefined
    if (call !== undefined) {
      return { to: contract, data: concat([selectorOf(call), AbiCoder.defaultAbiCoder().encode(['bytes'], [bytes])]), value: '0' }
    }
    const native = originChain === wormholeChainId && originAddress === (await weth()).slice(2).padStart(64, '0')
    const method = native ? 'completeTransferAndUnwrapETH' : 'completeTransfer'
    return { to: tokenBridge, data: tokenBridgeAbi.encodeFunctionData(method, [bytes]), value: '0' }
  }
}

/** What `intent` above may choose among. */
function allCalls(tokenBridge: string, calls: PolicyOptions['calls'] = {}): Readonly<Record<string, readonly string[]>> {
  const redeemers = Object.entries(calls).map(([contract, call]) => [contract.toLowerCase(), [selectorOf(call)]] as const)
  const complete = ['completeTransfer(bytes)', 'completeTransferAndUnwrapETH(bytes)'].map(selectorOf)
  const own = Object.fromEntries(redeemers)[tokenBridge] ?? []
  return { ...Object.fromEntries(redeemers), [tokenBridge]: [...complete, ...own] }
}

function selectorOf(signature: string): string {
  return id(signature).slice(0, 10)
}

function latestTimestamp(chain: Pick<EvmChain, 'name' | 'heads'>): number {
  const latest = chain.heads.current?.latest
  if (!latest) throw new RelayerError('NODE_UNAVAILABLE', { detail: 'No block was read yet.', facts: { chain: chain.name } })
  return latest.timestamp
}
