import { RelayerError } from '../../../domain/errors.ts'

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
