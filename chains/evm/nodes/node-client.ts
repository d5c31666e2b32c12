import { setMaxListeners } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import type { NodeUse } from '../../../domain/settings/settings.ts'
import type { NodeStatus } from '../../port.ts'
import { createBreaker } from './breaker.ts'
import { toNumber } from '../hex.ts'
import { createLimiter } from './limiter.ts'
import { createNode } from './json-rpc-client.ts'
import { RpcError, TransportError } from './node-errors.ts'

/** Calls of one tick leave together; 5 ms also gathers those that a head event has set off. */
const stallMs = 5
/** chainlink-evm's smallest default (Polygon): every provider takes it. */
const maxBatch = 100
/** Weight of the newest answer in the latency that is shown. */
const latencyWeight = 0.2
/** The least time between a failure and the next probe, also where no other node is left, ms. */
const restMs = 100

/** A node as the config, or an operator, names it. */
export interface NodeSpec {
  readonly name: string
  readonly url: string
  readonly use: NodeUse
  /** Most calls per second; absent: no limit. */
  readonly requestsPerSecond?: number | undefined
}

export interface NodeClientOptions {
  readonly spec: NodeSpec
  /** EIP-155 id, decimal, that the node must serve. */
  readonly networkId: string
  readonly timeoutMs: number
  /** Told of every call that leaves, by method. */
  readonly count: (method: string) => void
}

/** One node of a chain with all that is known of it. Nothing is asked of it before its network was checked, but for the check itself. */
export interface NodeClient {
  readonly spec: NodeSpec
  readonly origin: string
  readonly reads: boolean
  /** Its network was checked, and its circuit is closed. */
  readonly up: boolean
  /** Of another network: never used. */
  readonly foreign: boolean
  /** A probe may go beside the calls. */
  readonly due: boolean
  /** It may be probed where no other node is left: it has not failed just now, and did not ask to be left alone. */
  readonly revivable: boolean
  /** How long its rate limit would make a call wait, ms. */
  readonly waitMs: number
  /** Blocks behind the best node, where it was compared. */
  lag: number | undefined
  disabled: boolean
  /** Throws RpcError or TransportError. Waits for its turn where the rate is limited. */
  ask(method: string, params: readonly unknown[]): Promise<unknown>
  /** Reads its network: the door to `up`, at the start and after each pause. One at a time. Answers with the network found; throws as `ask`. */
  check(): Promise<string>
  /** Forgets that its network was checked: it may be another one by the time it is used again. */
  forget(): void
  status(): NodeStatus
  close(): void
}

export function createNodeClient(options: NodeClientOptions): NodeClient {
  const { spec, networkId, timeoutMs } = options
  const node = createNode({ url: spec.url, timeoutMs, stallMs, maxBatch, count: options.count })
  const now = () => performance.now()
  const breaker = createBreaker(now)
  const limiter = createLimiter(spec.requestsPerSecond, now)
  const closing = new AbortController()
  // As many calls wait for their turn as there are.
  setMaxListeners(0, closing.signal)
  const reads = spec.use === 'all' || spec.use === 'read'
  let network: 'unknown' | 'right' | 'foreign' = 'unknown'
  let checking: Promise<string> | undefined
  let latencyMs: number | undefined
  let failures = 0
  let failedAt = -Infinity

  async function call(method: string, params: readonly unknown[]): Promise<unknown> {
    const turn = limiter.take()
    if (turn > 0) await sleep(turn, undefined, { signal: closing.signal }).catch(() => undefined)
    const started = now()
    try {
      const result = await node.request(method, params)
      answered(now() - started)
      return result
    } catch (error) {
      if (closing.signal.aborted) throw error
      if (error instanceof RpcError && !error.limited) answered(now() - started)
      else failed(error instanceof RpcError || error instanceof TransportError ? error.retryAfterMs : undefined)
      throw error
    }
  }

  function answered(tookMs: number): void {
    latencyMs = latencyMs === undefined ? tookMs : latencyMs + (tookMs - latencyMs) * latencyWeight
    if (breaker.state === 'closed') breaker.succeeded()
  }

  function failed(retryAfterMs: number | undefined): void {
    if (breaker.state !== 'open') failures++
    failedAt = now()
    breaker.failed(retryAfterMs)
  }

  async function readNetwork(): Promise<string> {
    breaker.probing()
    try {
      const found = String(toNumber(await call('eth_chainId', []), 'chain id'))
      network = found === networkId ? 'right' : 'foreign'
      breaker.close()
      return found
    } catch (error) {
      // A relay that only takes transactions need not say its network: theirs is in the signature (EIP-155).
      if (reads || !(error instanceof RpcError) || error.limited) {
        if (breaker.state !== 'open') breaker.failed()
        throw error
      }
      network = 'right'
      breaker.close()
      return networkId
    }
  }

  function state(): NodeStatus['state'] {
    if (member.disabled) return 'disabled'
    if (network === 'foreign') return 'foreign'
    if (breaker.state !== 'closed') return breaker.state
    return network === 'right' ? 'up' : 'unknown'
  }

  const member: NodeClient = {
    spec,
    origin: node.origin,
    reads,
    lag: undefined,
    disabled: false,
    get up() {
      return !member.disabled && network === 'right' && breaker.state === 'closed'
    },
    get foreign() {
      return network === 'foreign'
    },
    get due() {
      if (member.disabled || network === 'foreign' || checking) return false
      return breaker.due || (network === 'unknown' && breaker.state === 'closed')
    },
    get revivable() {
      return !breaker.held && network !== 'foreign' && (checking !== undefined || now() - failedAt >= restMs)
    },
    get waitMs() {
      return limiter.waitMs
    },
    ask: call,
    check() {
      checking ??= readNetwork().finally(() => (checking = undefined))
      return checking
    },
    forget() {
      network = 'unknown'
    },
    status() {
      const { lag } = member
      return {
        name: spec.name,
        origin: node.origin,
        use: spec.use,
        state: state(),
        ...(lag !== undefined && { lag }),
        ...(latencyMs !== undefined && { latencyMs: Math.round(latencyMs) }),
        failures,
      }
    },
    close() {
      closing.abort()
      node.close()
    },
  }
  return member
}
