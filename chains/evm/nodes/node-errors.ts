import { RelayerError } from '../../../domain/catalogue/errors.ts'

/** A JSON-RPC error object of a node. `rpcMessage` and `data` are the node's, without the URL's secrets. */
export class RpcError extends RelayerError {
  readonly rpcCode: number | undefined
  readonly rpcMessage: string
  readonly data: unknown
  /** A rate limit: another node may answer this call. */
  readonly limited: boolean
  readonly retryAfterMs: number | undefined

  constructor(
    node: string,
    method: string,
    error: { code?: number; message: string; data?: unknown },
    gateway: { status?: number; retryAfterMs?: number | undefined } = {},
  ) {
    super('NODE_REFUSED', { detail: `${method}: ${error.message}`, facts: { node, method, rpcCode: error.code } })
    this.name = 'RpcError'
    this.rpcCode = error.code
    this.rpcMessage = error.message
    this.data = error.data
    this.limited = gateway.status === 429 || error.code === 429 || limits.test(error.message)
    this.retryAfterMs = gateway.retryAfterMs
  }
}

/** Rate limits of gateways (Alchemy, Infura, QuickNode and others). −32005 alone may also mean a long range. */
const limits = /rate ?limit|too many requests|request (rate|limit)|requests per second|compute units per second/i

/** Texts for a failed execution, with or without data. */
const failures = /revert|vm execution error|evm error|invalid opcode|stack underflow|stack limit|out of gas|gas required exceeds/i
/** Texts for a sender that cannot pay. */
const unpaid = /insufficient (funds|balance)|outoffunds/i

/** Whether a call ran and failed. For errors of eth_call and eth_estimateGas only. */
export function isExecutionFailure(error: RpcError): boolean {
  // Code 3: execution reverted (go-ethereum); -32015: execution error (OpenEthereum, Nethermind). "EVM error" is
  // anvil's and reth's. Data alone is no proof: gateways put other things there.
  return error.rpcCode === 3 || error.rpcCode === -32015 || failures.test(error.rpcMessage)
}

/** Whether the sender of a simulated call cannot pay. */
export function isUnpaid(error: RpcError): boolean {
  return unpaid.test(error.rpcMessage)
}

/**
 * Whether the error is the result of a call, which every honest node reports. For eth_call and eth_estimateGas only.
 */
export function isVerdict(error: unknown): boolean {
  return error instanceof RpcError && !error.limited && (isExecutionFailure(error) || isUnpaid(error))
}

/** No usable answer of a node. `maybeReceived` is false only if the request cannot have reached it. */
export class TransportError extends Error {
  readonly maybeReceived: boolean
  /** Pause that the node asked for (Retry-After), ms. */
  readonly retryAfterMs: number | undefined

  constructor(node: string, reason: string, maybeReceived: boolean, retryAfterMs?: number) {
    super(`${node}: ${reason}`)
    this.name = 'TransportError'
    this.maybeReceived = maybeReceived
    this.retryAfterMs = retryAfterMs
  }
}

/** The node's answer has a wrong form. `refusal` is the error of the reader. */
export class MalformedAnswer extends TransportError {
  readonly refusal: RelayerError

  constructor(node: string, method: string, refusal: RelayerError) {
    super(node, `${method}: ${refusal.message}`, true)
    this.name = 'MalformedAnswer'
    this.refusal = refusal
  }
}

/**
 * Thrown by a reader if the answer is valid but of another state. The node lags, which is no failure; another may know
 * more.
 */
export class NotKnown extends TransportError {
  constructor(reason: string) {
    super('a node', reason, true)
    this.name = 'NotKnown'
  }
}

/** Reads the result of a call. Throws NODE_REFUSED for a malformed answer, or NotKnown. */
export type ReadAnswer<T> = (result: unknown) => T
