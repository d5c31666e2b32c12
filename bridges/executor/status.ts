import { concat, hexlify, toBeHex } from 'ethers'
import type { RequestForExecution } from './event.ts'
import type { RefusedStatus } from './judge.ts'
import { costOf, decodeQuote, type Quote, signatureOf } from './quote.ts'
import { decodeInstructions, decodeRequest, type MessageRequest } from './requests.ts'

/**
 * `submitted`: a transaction has been sent. `failed`: no more tries until an operator retries. `aborted`: no more
 * tries.
 */
export type RelayStatus = 'pending' | 'submitted' | 'failed' | RefusedStatus

/** Chains are Wormhole chain ids. */
export interface KnownRequest {
  readonly request: RequestForExecution
  readonly chain: number
  readonly txHash: string
  readonly logIndex: number
  /** Block time, seconds since the epoch. */
  readonly requestedAt: number
  /** Time at which Portage read the request, ms since the epoch. */
  readonly seenAt: number
  readonly status: RelayStatus
  readonly failureCause?: string | undefined
  readonly deliveries: readonly RelayTransaction[]
}

/** `cost` is in wei of the target, `blockTime` in seconds since the epoch. */
export interface RelayTransaction {
  readonly chain: number
  readonly txHash: string
  readonly blockHeight: number
  readonly blockTime?: number
  readonly cost: bigint
}

/**
 * Maximum number of requests that are shown per transaction. Each request costs a read of Temporal, and strangers
 * choose how many requests a transaction has.
 */
export const mostRequests = 20

/** The first `mostRequests` requests of a source transaction that name this provider. Throws read errors. */
export type RequestsOf = (txHash: string, chain: number | undefined) => Promise<readonly KnownRequest[]>

/** Returns a request in the form that integrators' SDKs read (example-messaging-executor, api-docs/main.tsp). */
export function statusRow(known: KnownRequest) {
  const { request, chain, txHash, logIndex, requestedAt, seenAt, status, failureCause, deliveries } = known
  const quote = decodeQuote(request.signedQuote)
  const [wanted, message] = [decodeInstructions(request.instructions), decodeRequest(request.request)]
  return {
    chainId: chain,
    ...(quote && wanted && { estimatedCost: String(costOf(quote, wanted)) }),
    // An id as in the example relayer: kind of the id (EVM), chain, transaction, position of the log.
    id: concat(['0x00', toBeHex(chain, 2), txHash, toBeHex(logIndex, 32)]),
    indexedAt: new Date(seenAt).toISOString(),
    ...(message && { instruction: { request: messageRow(message) } }),
    requestForExecution: {
      quoterAddress: request.quoter,
      amtPaid: String(request.amountPaid),
      dstChain: request.targetChain,
      dstAddr: `0x${request.targetAddress}`,
      refundAddr: request.refundAddress,
      signedQuoteBytes: hexlify(request.signedQuote),
      requestBytes: hexlify(request.request),
      relayInstructionsBytes: hexlify(request.instructions),
      timestamp: timeText(requestedAt),
    },
    ...(quote && { signedQuote: { quote: quoteRow(quote), signature: hexlify(signatureOf(request.signedQuote)) } }),
    status,
    txHash,
    ...(failureCause !== undefined && { failureCause }),
    txs: deliveries.map((one) => ({
      txHash: one.txHash,
      chainId: one.chain,
      blockNumber: String(one.blockHeight),
      ...(one.blockTime !== undefined && { blockTime: timeText(one.blockTime) }),
      cost: String(one.cost),
    })),
  }
}

function quoteRow({ quoter, payee, sourceChain, targetChain, expiry, baseFee, gasPrice, sourcePrice, targetPrice }: Quote) {
  return {
    prefix: 'EQ01',
    quoterAddress: quoter,
    payeeAddress: `0x${payee}`,
    srcChain: sourceChain,
    dstChain: targetChain,
    expiryTime: timeText(Number(expiry)),
    baseFee: String(baseFee),
    dstGasPrice: String(gasPrice),
    srcPrice: String(sourcePrice),
    dstPrice: String(targetPrice),
  }
}

function messageRow(message: MessageRequest) {
  const { prefix } = message
  switch (prefix) {
    case 'ERV1':
      return { prefix, chain: message.chain, address: `0x${message.emitter}`, sequence: message.sequence }
    case 'ERN1':
      return { prefix, srcChain: message.sourceChain, srcManager: `0x${message.manager}`, messageId: `0x${message.messageId}` }
    case 'ERC1':
      return message
    case 'ERC2':
      return { prefix, cctpV2Request: { cctpV2RequestPrefix: 'auto' } }
  }
}

/** The last second that a Date can hold. A forged quote may contain a later time. */
const lastSecond = 8_640_000_000_000

function timeText(seconds: number): string {
  return new Date(Math.min(seconds, lastSecond) * 1_000).toISOString()
}
