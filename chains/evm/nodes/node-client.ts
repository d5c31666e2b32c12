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

/** A node of the config, or one that an operator added. */
export interface NodeSpec {
  readonly name: string
  readonly url: string
  readonly use: NodeUse
  /** Most calls per second. Absent: no limit. */
  readonly requestsPerSecond?: number | undefined
}

export type NodeClient = ReturnType<typeof createNodeClient>

/** One node of a chain. Before any other call, its network is checked. `count` is called for every call. */
export function createNodeClient(spec: NodeSpec, networkId: string, timeoutMs: number, count: (method: string) => void) {
  const closing = new AbortController()
  // There is one listener per waiting call.
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
    /** The network is checked and the circuit closed. */
    get up(): boolean {
      return !node.disabled && health.state === 'up'
    },
    get isWrongNetwork() {
      return health.state === 'wrong-network'
    },
    get due(): boolean {
      return !node.disabled && !checking && health.due
    },
    /** Whether to probe it when no other node is up: it did not just fail and asked for no pause. */
    get revivable(): boolean {
      return !health.held && health.state !== 'wrong-network' && (checking !== undefined || health.rested)
    },
    get waitMs() {
      return limiter.waitMs
    },
    /** Waits for the rate limit. Throws RpcError, or TransportError, also for a malformed answer. */
    ask,
    /**
     * Reads its network, which makes it `up`, at the start and after each pause. Calls share one check. Returns the
     * network; throws as `ask`.
     */
    check() {
      checking ??= readNetwork().finally(() => (checking = undefined))
      return checking
    },
    /** Requires a new check of the network before the next use. */
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

/** Calls of several traces may leave in one request: each span covers its own call with its wait. */
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

/** A token bucket that holds one second's calls. Without a rate, no limit. `now`: ms, monotonic. No I/O. */
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
    /** How long a call would wait now, ms. */
    get waitMs() {
      return waitMs()
    },
    /** Takes a place and returns its wait, ms. Places are given in the sequence of the calls. */
    take() {
      const wait = waitMs()
      tokens--
      return wait
    },
  }
}
