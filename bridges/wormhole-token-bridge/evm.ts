import { AbiCoder, concat, decodeBase64, id } from 'ethers'
import type { EvmChain } from '../../chains/evm/index.ts'
import type { At } from '../../chains/port.ts'
import { RelayerError } from '../../domain/errors.ts'
import type { Intent } from '../../domain/intent.ts'
import type { Transfer } from '../../domain/transfer/transfer.ts'
import type { Endpoint } from '../port.ts'
import { read, tokenBridgeAbi } from './contracts.ts'
import { createFindDelivery, redeemedTopics } from './find-delivery.ts'
import { createGuardianSets } from './guardian-sets.ts'
import { readMessage } from './message.ts'
import { createPolicy, type PolicyOptions } from './policy.ts'
import { explainRevert } from './reverts.ts'
import { toVerdict } from './verdicts.ts'
import { createVerifier } from './verify.ts'

/** The token bridge on one EVM chain, as values of the config. Addresses lower-case 0x. */
export interface EvmEndpointOptions extends PolicyOptions {
  readonly chain: Pick<EvmChain, 'name' | 'heads' | 'call' | 'logs' | 'transactionSender'>
  /** Wormhole's number of this chain. */
  readonly wormholeChainId: number
  readonly core: string
  readonly tokenBridge: string
}

export function createEvmEndpoint(options: EvmEndpointOptions): Endpoint {
  const { chain, core, wormholeChainId, calls } = options
  const tokenBridge = options.tokenBridge.toLowerCase()
  const verifier = createVerifier({ guardianSets: createGuardianSets({ chain, core }), now: () => latestTimestamp(chain) })
  const emitterOf = remember(
    (emitterChain: number) => readEmitter(emitterChain),
    (emitter) => emitter !== unregistered,
  )
  const weth = remember(
    (_: 'WETH') => readAddress('WETH'),
    () => true,
  )
  const judge = createPolicy(options)

  async function readEmitter(emitterChain: number): Promise<string> {
    return String(await read(chain, tokenBridge, tokenBridgeAbi, 'bridgeContracts', [emitterChain]))
      .slice(2)
      .toLowerCase()
  }

  async function readAddress(method: string): Promise<string> {
    return String(await read(chain, tokenBridge, tokenBridgeAbi, method, [])).toLowerCase()
  }

  async function check(transfer: Transfer): Promise<readonly string[]> {
    const bytes = decodeBase64(transfer.message)
    const message = readMessage(bytes)
    const { vaa } = message
    const same = message.digest === transfer.digest && vaa.emitter === transfer.emitter && vaa.sequence === transfer.sequence
    if (!same) throw new RelayerError('MESSAGE_MISMATCH', { facts: { digest: transfer.digest, found: message.digest } })
    if (message.transfer.targetChain !== wormholeChainId) {
      throw new RelayerError('MESSAGE_MISMATCH', {
        facts: { chain: chain.name, wormholeChainId, targetChain: message.transfer.targetChain },
      })
    }
    const [emitter] = await Promise.all([emitterOf(vaa.emitterChain), verifier.verify(bytes)])
    if (emitter !== vaa.emitter) {
      const detail = emitter === unregistered ? `The token bridge of ${chain.name} has registered none for that chain.` : undefined
      throw new RelayerError('EMITTER_UNKNOWN', {
        ...(detail && { detail }),
        facts: { emitterChain: vaa.emitterChain, emitter: vaa.emitter },
      })
    }
    return judge(message.transfer)
  }

  /** The native coin, if the token is this chain's wrapped coin (Bridge.sol: only then unwrapping is allowed). */
  async function intent(transfer: Transfer): Promise<Intent> {
    const bytes = decodeBase64(transfer.message)
    const { kind, recipient, originChain, originAddress } = readMessage(bytes).transfer
    const contract = `0x${recipient.slice(24)}`
    const call = kind === 3 ? calls?.[contract] : undefined
    if (call !== undefined) {
      return { to: contract, data: concat([selectorOf(call), AbiCoder.defaultAbiCoder().encode(['bytes'], [bytes])]), value: '0' }
    }
    const native = originChain === wormholeChainId && originAddress === (await weth('WETH')).slice(2).padStart(64, '0')
    const method = native ? 'completeTransferAndUnwrapETH' : 'completeTransfer'
    return { to: tokenBridge, data: tokenBridgeAbi.encodeFunctionData(method, [bytes]), value: '0' }
  }

  return {
    chain: chain.name,
    verify: (message) => toVerdict(() => verifier.verify(message)),
    validate: (transfer) => toVerdict(() => check(transfer)),
    async delivered({ digest }: Transfer, at: At) {
      return (await read(chain, tokenBridge, tokenBridgeAbi, 'isTransferCompleted', [digest], at)) === true
    },
    findDelivery: createFindDelivery(chain, tokenBridge),
    intent,
    calls: allCalls(tokenBridge, calls),
    explainRevert,
    parties(transfer) {
      const { recipient, originToken } = readMessage(decodeBase64(transfer.message)).transfer
      return { recipient: `0x${recipient.slice(24)}`, token: originToken }
    },
    hasEffect(receipt, transfer) {
      const wanted = redeemedTopics(transfer)
      const shows = receipt.logs.some(
        (log) =>
          log.address.toLowerCase() === tokenBridge &&
          log.topics.length === wanted.length &&
          log.topics.every((topic, at) => topic.toLowerCase() === wanted[at]),
      )
      return receipt.status === 'success' && shows
    },
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

/** What bridgeContracts says of a chain whose token bridge was never registered; that may still come, so it is not remembered. */
const unregistered = '0'.repeat(64)

function latestTimestamp(chain: Pick<EvmChain, 'name' | 'heads'>): number {
  const latest = chain.heads.current?.latest
  if (!latest) throw new RelayerError('NODE_UNAVAILABLE', { detail: 'No block was read yet.', facts: { chain: chain.name } })
  return latest.timestamp
}

/** Reads once what never changes; failures and answers that are not `lasting` are read again. */
function remember<K, T>(make: (key: K) => Promise<T>, lasting: (value: T) => boolean): (key: K) => Promise<T> {
  const known = new Map<K, Promise<T>>()
  return (key) => {
    const kept = known.get(key)
    if (kept) return kept
    const made = make(key)
    known.set(key, made)
    made.then(
      (value) => lasting(value) || known.delete(key),
      () => known.delete(key),
    )
    return made
  }
}
