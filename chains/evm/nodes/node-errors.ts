import { RelayerError } from '../../../domain/catalogue/errors.ts'

/** A node's own word: a JSON-RPC error object. `rpcMessage` and `data` are as the node gave them, free of the URL's secrets. */
export class RpcError extends RelayerError {
  readonly rpcCode: number | undefined
  readonly rpcMessage: string
  readonly data: unknown
  /** The node asks for fewer calls: another may answer this one. */
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

/** How gateways refuse for the number of calls (Alchemy, Infura, QuickNode and others); −32005 alone also means a range that is too long. */
const limits = /rate ?limit|too many requests|request (rate|limit)|requests per second|compute units per second/i

/** What nodes call an execution that failed, with or without data. */
const failures = /revert|vm execution error|evm error|invalid opcode|stack underflow|stack limit|out of gas|gas required exceeds/i
/** What they say where the sender cannot pay for it. */
const unpaid = /insufficient (funds|balance)|outoffunds/i

/** Does the error tell how the execution of a call ended? Only in answers to eth_call and eth_estimateGas. */
export function isExecutionFailure(error: RpcError): boolean {
  // Code 3: execution reverted (go-ethereum); -32015: execution error (OpenEthereum, Nethermind). "EVM error" is anvil's and reth's. Data alone
  // is no proof: gateways put other things there.
  return error.rpcCode === 3 || error.rpcCode === -32015 || failures.test(error.rpcMessage)
}

/** The sender of the simulated call cannot pay for it. */
export function isUnpaid(error: RpcError): boolean {
  return unpaid.test(error.rpcMessage)
}

/** How a call ended, by one node that ran it: the same everywhere, unless the node lies. Only in answers to eth_call and eth_estimateGas. */
export function isVerdict(error: unknown): boolean {
  return error instanceof RpcError && !error.limited && (isExecutionFailure(error) || isUnpaid(error))
}

/** A node said nothing that we understand. `maybeReceived` is false only where the request surely never reached it. */
export class TransportError extends Error {
  readonly maybeReceived: boolean
  /** How long the node wants to be left alone, ms, where it said so (Retry-After). */
  readonly retryAfterMs: number | undefined

  constructor(node: string, reason: string, maybeReceived: boolean, retryAfterMs?: number) {
    super(`${node}: ${reason}`)
    this.name = 'TransportError'
    this.maybeReceived = maybeReceived
    this.retryAfterMs = retryAfterMs
  }
}

/** The node's answer is not of the form that was asked for: its failure. `refusal` is what the reader of the answer threw. */
export class MalformedAnswer extends TransportError {
  readonly refusal: RelayerError

  constructor(node: string, method: string, refusal: RelayerError) {
    super(node, `${method}: ${refusal.message}`, true)
    this.name = 'MalformedAnswer'
    this.refusal = refusal
  }
}

/** Thrown by the reader of an answer: it is well formed, but of another state than was asked for. The node lags, which is no failure; another may know more. */
export class NotKnown extends TransportError {
  constructor(reason: string) {
    super('a node', reason, true)
    this.name = 'NotKnown'
  }
}

/** Reads the result of a call. Throws NODE_REFUSED (the answer is malformed, the node's failure) or NotKnown. */
export type ReadAnswer<T> = (result: unknown) => T
