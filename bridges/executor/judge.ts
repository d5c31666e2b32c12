import type { ErrorCode } from '../../domain/catalogue/errors.ts'
import { leastGasLimit } from '../../domain/transfer/content.ts'
import type { DeliveredView } from '../kit/plugin.ts'
import type { RequestForExecution } from './event.ts'
import { costOf, decodeQuote, isSignedBy, type Quote } from './quote.ts'
import { decodeInstructions, decodeRequest, type MessageRequest, type RelayInstructions, type RequestPrefix } from './requests.ts'

export interface Caps {
  readonly maxGasLimit: bigint
  /** msg.value and drop-off together, as integrators' SDKs count them. Wei. */
  readonly maxMsgValue: bigint
  readonly maxGasDropOff: bigint
}

export interface ExecutorTerms {
  /** 0x, lower case. */
  readonly quoter: string
  /** If true, a request is delivered even if its quote expires before the delivery begins. */
  readonly honourExpired: boolean
  /** By Wormhole chain id of the target. */
  readonly chains: ReadonlyMap<number, TargetTerms>
}

/** Addresses are 0x, lower case. */
export interface TargetContracts {
  /** Receiving contract → view that shows a delivery. */
  readonly receivers: Readonly<Record<string, DeliveredView>>
  /** Kind of request → contract that delivers and pays the drop-off in one call. */
  readonly dropOffContracts?: Partial<Readonly<Record<RequestPrefix, string>>> | undefined
  /** The delivery record, for contracts outside `receivers`. Absent: requests for such contracts are declined. */
  readonly recordContract?: string | undefined
}

interface TargetTerms extends Omit<TargetContracts, 'receivers'> {
  readonly caps: Caps
  readonly prefixes: readonly RequestPrefix[]
  readonly receivers: Readonly<Record<string, unknown>>
}

export interface Times {
  /** Block time of the request, seconds since the epoch. */
  readonly requestedAt: number
  /** Time at which the delivery begins, seconds since the epoch. */
  readonly now: number
  /**
   * True if the transfer has started. The minimum gas limit does not apply to such a transfer, because an earlier
   * version of Portage may have accepted a lower limit.
   */
  readonly hasStarted?: boolean
  /**
   * True if the caps, the receivers and the drop-off contracts do not matter, because the quoter may have signed the
   * quote under another config.
   */
  readonly isUnderAnyConfig?: boolean
}

/** States of a provider's API that end a request without a delivery. */
export type RefusedStatus = 'unsupported' | 'underpaid' | 'aborted'

export type Judgement =
  | { readonly kind: 'accepted'; readonly wanted: RelayInstructions; readonly quote: Quote }
  | { readonly kind: 'refused'; readonly status: RefusedStatus; readonly code: ErrorCode; readonly reason: string }

/**
 * Decides whether a request meets the provider's terms. The times are checked last, so EXECUTOR_EXPIRED means that all
 * other checks have passed.
 */
export function judge(request: RequestForExecution, sourceChain: number, times: Times, terms: ExecutorTerms): Judgement {
  const quote = decodeQuote(request.signedQuote)
  if (request.quoter !== terms.quoter) return refused('EXECUTOR_QUOTE_UNKNOWN', `another provider signs for ${request.quoter}`)
  if (quote?.quoter !== terms.quoter || !isSignedBy(terms.quoter, request.signedQuote))
    return refused('EXECUTOR_QUOTE_UNKNOWN', 'the quoter did not sign these bytes')
  const problem = problemOfChains(request, quote, sourceChain, terms)
  if (problem !== undefined) return refused('EXECUTOR_UNSUPPORTED', problem)
  const [message, wanted] = [decodeRequest(request.request), decodeInstructions(request.instructions)]
  const target = terms.chains.get(quote.targetChain)
  if (!target || !message || !target.prefixes.includes(message.prefix))
    return refused('EXECUTOR_UNSUPPORTED', `no request of ${target?.prefixes.join(', ')}`)
  if (!wanted) return refused('EXECUTOR_UNSUPPORTED', 'the relay instructions cannot be read')
  const unfit =
    problemOfMessage(request, message, wanted, sourceChain) ??
    tooLittleGas(wanted, times.hasStarted ? 1n : leastGasLimit) ??
    (times.isUnderAnyConfig ? undefined : problemOfTarget(request, message, wanted, target))
  if (unfit !== undefined) return refused('EXECUTOR_UNSUPPORTED', unfit)
  const cost = costOf(quote, wanted)
  const missing = cost - request.amountPaid
  if (missing > 0n) return refused('EXECUTOR_UNDERPAID', `paid ${request.amountPaid} of ${cost} wei, ${missing} are missing`)
  const until = terms.honourExpired ? times.requestedAt : Math.max(times.requestedAt, times.now)
  if (quote.expiry <= BigInt(until)) return refused('EXECUTOR_EXPIRED', `the quote expired at ${quote.expiry}, before ${until}`)
  return { kind: 'accepted', wanted, quote }
}

function problemOfChains(
  { targetChain }: RequestForExecution,
  quote: Quote,
  sourceChain: number,
  terms: ExecutorTerms,
): string | undefined {
  if (quote.sourceChain !== sourceChain) return `the quote is for requests on chain ${quote.sourceChain}, not ${sourceChain}`
  if (quote.targetChain !== targetChain) return `the quote is for chain ${quote.targetChain}, not ${targetChain}`
  return targetChain === sourceChain || !terms.chains.has(targetChain) ? `chain ${targetChain} is not a target` : undefined
}

function problemOfMessage(
  { targetAddress }: RequestForExecution,
  message: MessageRequest,
  { msgValue }: RelayInstructions,
  sourceChain: number,
): string | undefined {
  if (message.prefix === 'ERV1')
    return addressOf(targetAddress) === undefined ? `${targetAddress} is not the address of a contract on an EVM chain` : undefined
  if (message.prefix === 'ERN1' && message.sourceChain !== sourceChain) return `the transfer starts on chain ${message.sourceChain}`
  return msgValue > 0n ? `a delivery of ${message.prefix} carries no msg.value` : undefined
}

function problemOfTarget(
  { targetAddress }: RequestForExecution,
  { prefix }: MessageRequest,
  wanted: RelayInstructions,
  { receivers, recordContract, dropOffContracts, caps }: TargetTerms,
): string | undefined {
  const contract = addressOf(targetAddress) ?? ''
  if (prefix === 'ERV1' && !Object.hasOwn(receivers, contract) && recordContract === undefined)
    return `no view of ${contract} is configured that shows a delivery`
  if (prefix !== 'ERV1' && wanted.dropOff > 0n && dropOffContracts?.[prefix] === undefined)
    return `no contract is configured that pays a drop-off of ${prefix}`
  return aboveCaps(wanted, caps)
}

/** Returns the reason why a target refuses these instructions. Undefined if the target accepts them. */
export function exceeded(wanted: RelayInstructions, caps: Caps): string | undefined {
  return tooLittleGas(wanted, leastGasLimit) ?? aboveCaps(wanted, caps)
}

function tooLittleGas({ gasLimit }: RelayInstructions, least: bigint): string | undefined {
  if (gasLimit === 0n) return 'the relay instructions have no gas limit'
  return gasLimit < least ? `the gas limit ${gasLimit} is below ${least}` : undefined
}

function aboveCaps({ gasLimit, msgValue, dropOff }: RelayInstructions, caps: Caps): string | undefined {
  const above = (what: string, wanted: bigint, cap: bigint) => (wanted > cap ? `${what} ${wanted} is above ${cap}` : undefined)
  return (
    above('the gas limit', gasLimit, caps.maxGasLimit) ??
    above('the drop-off', dropOff, caps.maxGasDropOff) ??
    above('msg.value with the drop-off', msgValue + dropOff, caps.maxMsgValue)
  )
}

/**
 * Returns the address in the last 20 of 32 bytes, 0x. Undefined if the first 12 bytes are not zero, or if the address
 * is zero.
 */
export function addressOf(universal: string): string | undefined {
  const address = /^0{24}([0-9a-f]{40})$/.exec(universal)?.[1]
  return address === undefined || /^0+$/.test(address) ? undefined : `0x${address}`
}

const statuses = {
  EXECUTOR_QUOTE_UNKNOWN: 'unsupported',
  EXECUTOR_UNSUPPORTED: 'unsupported',
  EXECUTOR_UNDERPAID: 'underpaid',
  EXECUTOR_EXPIRED: 'aborted',
} as const satisfies Partial<Record<ErrorCode, RefusedStatus>>

function refused(code: keyof typeof statuses, reason: string): Extract<Judgement, { kind: 'refused' }> {
  return { kind: 'refused', status: statuses[code], code, reason }
}
