import { setMaxListeners } from 'node:events'
import { RelayerError } from '../../../domain/catalogue/errors.ts'
import type { NodeUse } from '../../../domain/settings/settings.ts'
import { inSpan } from '../../../observability/tracing.ts'
import { pause } from '../../../runtime/wait.ts'
import type { NodeStatus } from '../../port.ts'
import { toNumber } from '../hex.ts'
import { createJsonRpcClient, isOfAnyLength, type NodeTarget } from './json-rpc-client.ts'
import { executesContracts, LateAnswer, MalformedAnswer, NotKnown, type ReadAnswer, RpcError, TransportError } from './node-errors.ts'

export interface NodeSpec extends NodeTarget {
  readonly name: string
  readonly use: NodeUse
  readonly requestsPerSecond?: number | undefined
  readonly added?: true
}

export type NodeClient = ReturnType<typeof createNodeClient>

export function createNodeClient(spec: NodeSpec, networkId: string, timeoutMs: number, count: (method: string) => void) {
  const closing = new AbortController()
  // Each waiting call adds a listener. By default, Node warns about more than ten listeners.
  setMaxListeners(0, closing.signal)
  const client = createJsonRpcClient(spec, timeoutMs, closing.signal, count)
  const now = () => performance.now()
  const [health, slowness] = [createNodeHealth(now), createSlowness(now)]
  const limiter = createLimiter(spec.requestsPerSecond, now)
  const reads = spec.use === 'all' || spec.use === 'read'
  let checking: Promise<string> | undefined

  async function ask<T>(method: string, params: readonly unknown[], read: ReadAnswer<T>): Promise<T> {
    const turn = limiter.take()
    if (turn > 0) await pause(turn, closing.signal)
    const started = now()
    // Each call has its own span, because calls of several traces may share a request.
    const attributes = { 'rpc.system': 'jsonrpc', 'rpc.method': method, 'portage.node': spec.name, 'portage.network': networkId }
    try {
      const result = await inSpan(`rpc ${method}`, attributes, () => client.request(method, params))
      const answer = readOrRefuse(client.origin, method, result, read)
      health.answered(now() - started)
      return answer
    } catch (thrown) {
      if (closing.signal.aborted) throw thrown
      const error = asRevert(client.origin, method, thrown)
      if (isAnswer(error, method)) health.answered(now() - started)
      else if (executesContracts(method) && error instanceof LateAnswer) slowness.suspect(node)
      else health.failed(error instanceof RpcError || error instanceof TransportError ? error.retryAfterMs : undefined)
      throw error
    }
  }

  const node = {
    spec,
    origin: client.origin,
    reads,
    lag: undefined as number | undefined,
    disabled: false,
    get up(): boolean {
      return !node.disabled && health.state === 'up'
    },
    isSlow: slowness.isSlow,
    get due(): boolean {
      return !node.disabled && !checking && health.due
    },
    get revivable(): boolean {
      return !health.held && health.state !== 'wrong-network' && (checking !== undefined || health.rested)
    },
    limiter,
    ask,
    check() {
      const read = () => ask('eth_chainId', [], readNetworkId)
      checking ??= health.probe(networkId, read, reads).finally(() => (checking = undefined))
      return checking
    },
    forget: health.forgetNetwork,
    status: (): NodeStatus => ({
      ...{ name: spec.name, origin: node.origin, use: spec.use, lag: node.lag },
      ...{ state: node.disabled ? 'disabled' : health.state, ...health.figures, ...(spec.added && { added: true }) },
    }),
    close: () => closing.abort(),
  }
  return node
}

/** Time (ms) for which other nodes are asked before a node that did not answer a contract call in time. */
const slowMs = 60_000

function createSlowness(now: () => number) {
  let until = -Infinity
  return {
    isSlow: () => now() < until,
    /**
     * Probes a node that is up, because it may be the contract that is slow, not the node. A node that is held or
     * paused stays so.
     */
    suspect(node: { readonly up: boolean; check(): Promise<string> }): void {
      until = now() + slowMs
      // The node's health records an error of the probe.
      if (node.up) void node.check().catch(() => undefined)
    },
  }
}

/**
 * Turns an answer that is too long into a revert if the method executes contracts, because a contract chooses how many
 * bytes its revert has.
 */
function asRevert(node: string, method: string, error: unknown): unknown {
  if (!executesContracts(method) || !(error instanceof MalformedAnswer) || !error.isTooLong) return error
  return new RpcError(node, method, { code: 3, message: `execution reverted: ${error.refusal.about}` })
}

/** Whether the node works, although the call failed. */
function isAnswer(error: unknown, method: string): boolean {
  if (error instanceof MalformedAnswer) return error.isOfOthers || (error.isTooLong && isOfAnyLength(method))
  return (error instanceof RpcError && !error.limited) || error instanceof NotKnown
}

const readNetworkId = (value: unknown) => String(toNumber(value, 'chain id'))

function readOrRefuse<T>(node: string, method: string, result: unknown, read: ReadAnswer<T>): T {
  try {
    return read(result)
  } catch (error) {
    if (error instanceof RelayerError) throw new MalformedAnswer(node, method, error)
    throw error instanceof NotKnown ? error : new NotKnown(error instanceof Error ? error.message : String(error))
  }
}

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
    /** Returns the time (ms) to wait before the request is sent. */
    take() {
      const wait = waitMs()
      tokens--
      return wait
    },
  }
}

/** Pause (ms) after a first failed call or probe. Further failures double the pause (chainlink-evm: 1 s to 30 s). */
const shortestMs = 1_000
const longestMs = 30_000
const latencyWeight = 0.2
const restMs = 100

const asked = (agoMs: number) => Number.isFinite(agoMs) && { askedAt: Math.round(Date.now() - agoMs) }

export function createNodeHealth(now: () => number) {
  let network: 'unknown' | 'right' | 'wrong' = 'unknown'
  let phase: 'well' | 'failing' | 'probing' = 'well'
  let pauses = 0
  let [pausedUntil, heldUntil] = [0, 0]
  let [answeredAt, failedAt] = [-Infinity, -Infinity]
  let failures = 0
  let latencyMs: number | undefined

  function pauseNode(retryAfterMs = 0): void {
    // The pause is limited, because a node may ask for a pause of hours.
    heldUntil = Math.max(heldUntil, now() + Math.min(retryAfterMs, longestMs))
    if (phase !== 'failing') {
      pausedUntil = now() + Math.min(longestMs, shortestMs * 2 ** Math.min(pauses, 10))
      pauses++
    }
    pausedUntil = Math.max(pausedUntil, heldUntil)
    phase = 'failing'
  }

  return {
    get state(): Exclude<NodeStatus['state'], 'disabled'> {
      if (network === 'wrong') return 'wrong-network'
      if (phase !== 'well') return phase
      return network === 'right' ? 'up' : 'unknown'
    },
    get due() {
      if (network === 'wrong') return false
      return phase === 'failing' ? now() >= pausedUntil : phase === 'well' && network === 'unknown'
    },
    get held() {
      return now() < heldUntil
    },
    get rested() {
      return now() - failedAt >= restMs
    },
    get figures() {
      return { latencyMs: latencyMs && Math.round(latencyMs), failures, ...asked(now() - Math.max(answeredAt, failedAt)) }
    },
    answered(tookMs: number) {
      answeredAt = now()
      latencyMs = latencyMs === undefined ? tookMs : latencyMs + (tookMs - latencyMs) * latencyWeight
      if (phase === 'well') pauses = 0
    },
    failed(retryAfterMs?: number) {
      if (phase !== 'failing') failures++
      failedAt = now()
      pauseNode(retryAfterMs)
    },
    /**
     * A node that only takes transactions need not name its network (`mustSay` is false), because an EIP-155 signature
     * is valid on only one network.
     */
    async probe(expected: string, read: () => Promise<string>, mustSay: boolean): Promise<string> {
      phase = 'probing'
      const found = await read().catch((error: unknown) => {
        if (!mustSay && error instanceof RpcError && !error.limited) return expected
        if (phase !== 'failing') pauseNode()
        throw error
      })
      network = found === expected ? 'right' : 'wrong'
      phase = now() < heldUntil ? 'failing' : 'well'
      return found
    },
    forgetNetwork: () => void (network = 'unknown'),
  }
}
