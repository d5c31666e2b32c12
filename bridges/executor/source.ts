import { RelayerError } from '../../domain/catalogue/errors.ts'
import { placeOf } from '../../domain/stream/places.ts'
import type { ChainName } from '../../domain/transfer/transfer.ts'
import { emitterOf, type PlacedLogsOptions } from '../kit/placed-logs.ts'
import type { Decode } from '../kit/published.ts'
import { readRequest } from './event.ts'
import { executor } from './requests.ts'
import { type ExecutorTerms, judge } from './judge.ts'
import { digestOf, readMessage, writeMessage } from './message.ts'

export interface ExecutorSource {
  readonly name: ChainName
  /** Address of the contract: 0x, lower case. */
  readonly contract: string
}

/**
 * Throws EXECUTOR_MESSAGE, MESSAGE_TOO_LARGE, TARGET_CHAIN_UNSUPPORTED.
 * @param sources sources by Wormhole chain id
 */
export function createDecode(sources: ReadonlyMap<number, ExecutorSource>, chainNames: ReadonlyMap<number, ChainName>): Decode {
  return (bytes) => {
    const message = readMessage(bytes)
    const { sourceChain, height, logIndex, request } = message
    const source = sources.get(sourceChain)
    const targetChain = chainNames.get(request.targetChain)
    if (!source || targetChain === undefined)
      throw new RelayerError('TARGET_CHAIN_UNSUPPORTED', { facts: { wormholeChainId: source ? request.targetChain : sourceChain } })
    return {
      ...{ bridge: executor, sourceChain: source.name, sourceId: String(sourceChain), targetChain },
      ...{ emitter: emitterOf(source.contract), sequence: placeOf(height, logIndex) },
      ...{ digest: digestOf(message), message: Buffer.from(bytes).toString('base64') },
    }
  }
}

/**
 * Makes the decoder of logs. The decoder returns undefined for a request that `judge` refuses, so that no transfer
 * starts for it. If a client asks for such a request, the provider's API reads its log.
 */
export function createLogDecode(name: ChainName, sourceChain: number, terms: ExecutorTerms, decode: Decode): PlacedLogsOptions['decode'] {
  return (log) => {
    const { block, index: logIndex, transactionHash: txHash } = log
    const request = readRequest({ name }, log)
    if (judge(request, sourceChain, { requestedAt: 0, now: 0 }, terms).kind === 'refused') return undefined
    return decode(writeMessage({ sourceChain, height: block.height, logIndex, txHash, request, attested: [] }))
  }
}
