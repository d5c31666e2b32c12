import { Interface, zeroPadValue } from 'ethers'
import type { Chain, Log } from '../../chains/port.ts'
import { RelayerError } from '../../domain/catalogue/errors.ts'
import { eventArguments } from '../kit/logs.ts'

/** From IExecutor.sol. */
export const executorAbi = new Interface([
  'event RequestForExecution(address indexed quoter, uint256 amountPaid, uint16 targetChain, bytes32 targetAddress, address refundAddress, bytes signedQuote, bytes request, bytes instructions)',
  'function ourChain() view returns (uint16)',
])
const event = 'RequestForExecution'
export const requestTopic = executorAbi.getEvent(event)?.topicHash ?? ''

/**
 * A request as the Executor's contract logged it. The contract checks neither the signature of the quote nor the
 * amount.
 */
export interface RequestForExecution {
  /** 0x, lower case. */
  readonly quoter: string
  /** Wei of the source's coin. */
  readonly amountPaid: bigint
  /** Wormhole chain id. */
  readonly targetChain: number
  /** 64 lower-case hex digits without 0x. */
  readonly targetAddress: string
  readonly refundAddress: string
  readonly signedQuote: Uint8Array
  readonly request: Uint8Array
  readonly instructions: Uint8Array
}

export function requestTopics(quoter: string): readonly string[] {
  return [requestTopic, zeroPadValue(quoter, 32)]
}

/** Maximum length of a log's data, bytes. Requests that are delivered have less than 3 KB. */
const mostLogBytes = 8_192

/** Throws NODE_REFUSED for a log of another event, and MESSAGE_TOO_LARGE for long data, before decoding. */
export function readRequest(chain: Pick<Chain, 'name'>, log: Log): RequestForExecution {
  const bytes = (log.data.length - 2) / 2
  if (bytes > mostLogBytes) throw new RelayerError('MESSAGE_TOO_LARGE', { facts: { bytes, most: mostLogBytes } })
  const [quoter, amountPaid, targetChain, targetAddress, refundAddress, ...parts] = eventArguments(chain, executorAbi, event, log)
  const [signedQuote, request, instructions] = parts.map((part) => Buffer.from(String(part).slice(2), 'hex'))
  const none = new Uint8Array()
  return {
    quoter: String(quoter).toLowerCase(),
    amountPaid: BigInt(amountPaid),
    targetChain: Number(targetChain),
    targetAddress: String(targetAddress).slice(2),
    refundAddress: String(refundAddress).toLowerCase(),
    ...{ signedQuote: signedQuote ?? none, request: request ?? none, instructions: instructions ?? none },
  }
}
