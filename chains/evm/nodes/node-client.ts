import { setMaxListeners } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import type { NodeUse } from '../../../domain/settings/settings.ts'
import type { NodeStatus } from '../../port.ts'
import { toNumber } from '../hex.ts'
import { createJsonRpcClient } from './json-rpc-client.ts'
import { createLimiter } from './limiter.ts'
import { createNodeHealth, type NodeHealth } from './node-health.ts'
import { RpcError, TransportError } from './node-errors.ts'

/** Calls of one tick leave together; 5 ms also gathers those that a head event has set off. */
const stallMs = 5
/** chainlink-evm's smallest default (Polygon): every provider takes it. */
const maxBatch = 100

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
  /** Called for every call that leaves, with its method. */
  readonly count: (method: string) => void
}

/** One node of a chain. Nothing is asked of it before its network was checked, but for the check itself. */
export interface NodeClient {
  readonly spec: NodeSpec
  readonly origin: string
  readonly reads: boolean
  /** Its network was checked, and its circuit is closed. */
  readonly up: boolean
  /** Of another network: never used. */
  readonly isWrongNetwork: boolean
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
  /** Reads its network, which makes it `up`: at the start and after each pause. One at a time. Returns the network found; throws as `ask`. */
  check(): Promise<string>
  /** Forgets that its network was checked: it may be another one by the time it is used again. */
  forget(): void
  status(): NodeStatus
  close(): void
}

export function createNodeClient(options: NodeClientOptions): NodeClient {
  const { spec, networkId, timeoutMs, count } = options
  const client = createJsonRpcClient({ url: spec.url, timeoutMs, stallMs, maxBatch, count })
  const now = () => performance.now()
  const health = createNodeHealth(now)
  const limiter = createLimiter(spec.requestsPerSecond, now)
  const closing = new AbortController()
  // As many calls wait for their turn as there are.
  setMaxListeners(0, closing.signal)
  let checking: Promise<string> | undefined

  async function ask(method: string, params: readonly unknown[]): Promise<unknown> {
    const turn = limiter.take()
    if (turn > 0) await sleep(turn, undefined, { signal: closing.signal }).catch(() => undefined)
    const started = now()
    try {
      const result = await client.request(method, params)
      health.answered(now() - started)
      return result
    } catch (error) {
      if (closing.signal.aborted) throw error
      if (error instanceof RpcError && !error.limited) health.answered(now() - started)
      else health.failed(error instanceof RpcError || error instanceof TransportError ? error.retryAfterMs : undefined)
      throw error
    }
  }

  const readNetwork = () => health.probe(networkId, async () => String(toNumber(await ask('eth_chainId', []), 'chain id')), reads(spec))
  const node: NodeClient = {
    spec,
    origin: client.origin,
    reads: reads(spec),
    lag: undefined,
    disabled: false,
    get up() {
      return !node.disabled && health.state === 'up'
    },
    get isWrongNetwork() {
      return health.state === 'wrong-network'
    },
    get due() {
      return !node.disabled && !checking && health.due
    },
    get revivable() {
      return !health.held && !node.isWrongNetwork && (checking !== undefined || health.rested)
    },
    get waitMs() {
      return limiter.waitMs
    },
    ask,
    check() {
      checking ??= readNetwork().finally(() => (checking = undefined))
      return checking
    },
    forget: health.forgetNetwork,
    status: () => statusOf(node, health),
    close() {
      closing.abort()
      client.close()
    },
  }
  return node
}

function reads({ use }: NodeSpec): boolean {
  return use === 'all' || use === 'read'
}

function statusOf({ spec, origin, lag, disabled }: NodeClient, { state, latencyMs, failures }: NodeHealth): NodeStatus {
  return {
    name: spec.name,
    origin,
    use: spec.use,
    state: disabled ? 'disabled' : state,
    ...(lag !== undefined && { lag }),
    ...(latencyMs !== undefined && { latencyMs: Math.round(latencyMs) }),
    failures,
  }
}
