import { setMaxListeners } from 'node:events'
import { RelayerError } from '../../../domain/catalogue/errors.ts'
import type { NodeUse } from '../../../domain/settings/settings.ts'
import { inSpan } from '../../../observability/tracing.ts'
import { pause } from '../../../runtime/wait.ts'
import type { NodeStatus } from '../../port.ts'
import { toNumber } from '../hex.ts'
import { createJsonRpcClient } from './json-rpc-client.ts'
import { createNodeHealth } from './node-health.ts'
import { MalformedAnswer, NotKnown, type ReadAnswer, RpcError, TransportError } from './node-errors.ts'

export interface NodeSpec {
  readonly name: string
  readonly url: string
  readonly use: NodeUse
  /** Absent: no limit. */
  readonly requestsPerSecond?: number | undefined
}

export type NodeClient = ReturnType<typeof createNodeClient>

/** One node. Its network is checked before any other call. */
export function createNodeClient(spec: NodeSpec, networkId: string, timeoutMs: number, count: (method: string) => void) {
  const closing = new AbortController()
  // One listener per waiting call.
  setMaxListeners(0, closing.signal)
  const client = traced(createJsonRpcClient(spec.url, timeoutMs, closing.signal, count), spec.name, networkId)
  const now = () => performance.now()
  const health = createNodeHealth(now)
  const limiter = createLimiter(spec.requestsPerSecond, now)
  const reads = spec.use === 'all' || spec.use === 'read'
  let checking: Promise<string> | undefined

  async function ask<T>(method: string, params: readonly unknown[], read: ReadAnswer<T>): Promise<T> {
    const turn = limiter.take()
    if (turn > 0) await pause(turn, closing.signal)
    const started = now()
    try {
      const answer = readOrRefuse(client.origin, method, await client.request(method, params), read)
      health.answered(now() - started)
      return answer
    } catch (error) {
      if (closing.signal.aborted) throw error
      if ((error instanceof RpcError && !error.limited) || error instanceof NotKnown) health.answered(now() - started)
      else health.failed(error instanceof RpcError || error instanceof TransportError ? error.retryAfterMs : undefined)
      throw error
    }
  }

  const readNetwork = () => health.probe(networkId, () => ask('eth_chainId', [], readNetworkId), reads)

  const node = {
    spec,
    origin: client.origin,
    reads,
    lag: undefined as number | undefined,
    disabled: false,
    get up(): boolean {
      return !node.disabled && health.state === 'up'
    },
    get isWrongNetwork() {
      return health.state === 'wrong-network'
    },
    get due(): boolean {
      return !node.disabled && !checking && health.due
    },
    /** A node to probe when no other is up: it did not just fail and asked for no pause. */
    get revivable(): boolean {
      return !health.held && health.state !== 'wrong-network' && (checking !== undefined || health.rested)
    },
    get waitMs() {
      return limiter.waitMs
    },
    /** Waits for the rate limit. Throws RpcError, TransportError. */
    ask,
    /** Reads its network, at the start and after each pause. Calls share one check. Throws as `ask`. */
    check() {
      checking ??= readNetwork().finally(() => (checking = undefined))
      return checking
    },
    forget: health.forgetNetwork,
    status: (): NodeStatus => ({
      ...{ name: spec.name, origin: node.origin, use: spec.use, lag: node.lag },
      ...{ state: node.disabled ? 'disabled' : health.state, ...health.figures },
    }),
    close: () => closing.abort(),
  }
  return node
}

type JsonRpcClient = ReturnType<typeof createJsonRpcClient>

/** Calls of several traces may share a request: each span covers its own call and wait. */
function traced({ origin, request }: JsonRpcClient, node: string, network: string): JsonRpcClient {
  const about = { 'rpc.system': 'jsonrpc', 'portage.node': node, 'portage.network': network }
  const attributesOf = (method: string) => ({ ...about, 'rpc.method': method })
  return { origin, request: (method, params) => inSpan(`rpc ${method}`, attributesOf(method), () => request(method, params)) }
}

const readNetworkId = (value: unknown) => String(toNumber(value, 'chain id'))

/** Throws MalformedAnswer, NotKnown. */
function readOrRefuse<T>(node: string, method: string, result: unknown, read: ReadAnswer<T>): T {
  try {
    return read(result)
  } catch (error) {
    if (error instanceof RelayerError) throw new MalformedAnswer(node, method, error)
    throw error instanceof NotKnown ? error : new NotKnown(error instanceof Error ? error.message : String(error))
  }
}

/** A token bucket of one second's calls. `now`: ms, monotonic. */
export function createLimiter(perSecond: number | undefined, now: () => number) {
  if (perSecond === undefined) return { waitMs: 0, take: () => 0 }
  const rate = perSecond / 1000
  const capacity = Math.max(1, perSecond)
  let tokens = capacity
  let filledAt = now()

  function waitMs(): number {
    const at = now()
    tokens = Math.min(capacity, tokens + (at - filledAt) * rate)
    filledAt = at
    return tokens >= 1 ? 0 : Math.ceil((1 - tokens) / rate)
  }

  return {
    get waitMs() {
      return waitMs()
    },
    /** Returns the wait, ms. Calls keep their sequence. */
    take() {
      const wait = waitMs()
      tokens--
      return wait
    },
  }
}
