import { RelayerError } from '../../../domain/catalogue/errors.ts'

/** `rpcMessage` and `data` contain no secrets of the node's URL. */
export class RpcError extends RelayerError {
  readonly rpcCode: number | undefined
  readonly rpcMessage: string
  readonly data: unknown
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
    const isQuote = quotesContracts(method) && isExecutionFailure(this)
    this.limited = gateway.status === 429 || error.code === 429 || (!isQuote && limits.test(error.message))
    this.retryAfterMs = gateway.retryAfterMs
  }
}

/** Methods whose error text may come from a contract. */
const quoting = new Set(['eth_call', 'eth_estimateGas', 'eth_sendRawTransaction'])

export const quotesContracts = (method: string) => quoting.has(method)

const executing = new Set(['eth_call', 'eth_estimateGas'])

export const executesContracts = (method: string) => executing.has(method)

/** Texts of rate limits. The code −32005 is not enough, because it may also mean that a block range is too long. */
const limits = /rate ?limit|too many requests|request (rate|limit)|requests per second|compute units per second/i

/**
 * Texts of failed executions, from core/vm/errors.go (go-ethereum and Erigon), EvmExceptionType (Nethermind) and
 * ExceptionalHaltReason (Besu).
 */
const failures =
  /revert|vm execution error|evm error|invalid opcode|(bad|invalid) ?instruction|stack underflow|stack limit|invalid ?jump|return ?data out of bounds|access ?violation|write protection|static ?call ?violation|gas uint64 overflow|max call depth|execution fails/i
export const outOfGas = /out ?of ?gas|gas required exceeds|gas spent exceeded|floor data gas|intrinsic gas/i
const unpaid = /insufficient (funds|balance)|outoffunds/i

/**
 * Whether the execution of a call failed. Use only for errors of methods for which `quotesContracts` is true. A
 * contract may have written parts of the error's text.
 */
export function isExecutionFailure(error: Pick<RpcError, 'rpcCode' | 'rpcMessage'>): boolean {
  // Code 3: go-ethereum. -32015: OpenEthereum, Nethermind. Error data proves nothing, because gateways send data too.
  return error.rpcCode === 3 || error.rpcCode === -32015 || [failures, outOfGas].some((words) => words.test(error.rpcMessage))
}

export function isUnpaid(error: RpcError): boolean {
  return unpaid.test(error.rpcMessage)
}

/** Whether every honest node would report this error. Use only for eth_call and eth_estimateGas. */
export function isVerdict(error: unknown): boolean {
  return error instanceof RpcError && !error.limited && (isExecutionFailure(error) || isUnpaid(error))
}

export class TransportError extends Error {
  readonly maybeReceived: boolean
  readonly retryAfterMs: number | undefined

  constructor(node: string, reason: string, maybeReceived: boolean, retryAfterMs?: number) {
    super(`${node}: ${reason}`)
    this.name = 'TransportError'
    this.maybeReceived = maybeReceived
    this.retryAfterMs = retryAfterMs
  }
}

export class LateAnswer extends TransportError {}

export class MalformedAnswer extends TransportError {
  readonly refusal: RelayerError
  /**
   * Whether the answer was too long. The node may be honest nevertheless, because strangers choose the length of some
   * answers.
   */
  readonly isTooLong: boolean
  /** Whether the answer was dropped only because too many other answers of the node were being read. */
  readonly isOfOthers: boolean

  constructor(node: string, method: string, refusal: RelayerError, why?: 'long' | 'others') {
    super(node, `${method}: ${refusal.message}`, true)
    this.name = 'MalformedAnswer'
    this.refusal = refusal
    this.isTooLong = why === 'long'
    this.isOfOthers = why === 'others'
  }
}

/**
 * The node does not have the requested block or receipt, or answered for another block or receipt, so the node may lag.
 */
export class NotKnown extends TransportError {
  constructor(reason: string) {
    super('a node', reason, true)
    this.name = 'NotKnown'
  }
}

/** Throws NODE_REFUSED for a malformed answer, and NotKnown if the node may lag. */
export type ReadAnswer<T> = (result: unknown) => T
