import { Interface, zeroPadValue } from 'ethers'
import type { Chain, Log } from '../../chains/port.ts'
import { demandSize } from '../kit/demands.ts'
import { eventArguments } from '../kit/logs.ts'

/** From IExecutor.sol. */
export const executorAbi = new Interface([
  'event RequestForExecution(address indexed quoter, uint256 amountPaid, uint16 targetChain, bytes32 targetAddress, address refundAddress, bytes signedQuote, bytes request, bytes instructions)',
  'function ourChain() view returns (uint16)',
])
const event = 'RequestForExecution'
export const requestTopic = executorAbi.getEvent(event)?.topicHash ?? ''

/** The event of a request. The Executor's contract checks neither the quote's signature nor the paid amount. */
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

/** Reads a request from its log. Throws MESSAGE_TOO_LARGE for long data, NODE_REFUSED for a log of another event. */
export function readRequest(chain: Pick<Chain, 'name'>, log: Log): RequestForExecution {
  demandSize({ length: (log.data.length - 2) / 2 }, mostLogBytes)
  return requestOf(eventArguments(chain, executorAbi, event, log).toArray())
}

/** `args` are in the event's order, as ethers decodes them. */
export function requestOf(args: readonly unknown[]): RequestForExecution {
  const [quoter = '', amountPaid = '', targetChain, targetAddress = '', refundAddress = '', ...parts] = args.map(String)
  const [signedQuote = '', request = '', instructions = ''] = parts
  return {
    quoter: quoter.toLowerCase(),
    amountPaid: BigInt(amountPaid),
    targetChain: Number(targetChain),
    targetAddress: targetAddress.slice(2),
    refundAddress: refundAddress.toLowerCase(),
    signedQuote: bytesOf(signedQuote),
    request: bytesOf(request),
    instructions: bytesOf(instructions),
  }
}

export function bytesOf(hex: string): Uint8Array {
  return Buffer.from(hex.slice(2), 'hex')
}
