import type { NodeStatus } from '../../port.ts'
import { RpcError } from './node-errors.ts'

/** Pauses after failures, ms. Each failed probe doubles the pause (chainlink-evm: redial 1 s to 30 s). */
const shortestMs = 1_000
const longestMs = 30_000
const latencyWeight = 0.2
/** Least time between a failure and the next probe, ms. */
const restMs = 100

/** Network, latency and circuit of a node: closed, open (paused) or half-open (probing). `now`: ms, monotonic. */
export function createNodeHealth(now: () => number) {
  let network: 'unknown' | 'right' | 'wrong' = 'unknown'
  let circuit: 'closed' | 'open' | 'half-open' = 'closed'
  let pauses = 0
  let [openUntil, heldUntil] = [0, 0]
  let latencyMs: number | undefined
  let failures = 0
  let [answeredAt, failedAt] = [-Infinity, -Infinity]

  /** The first failure opens the circuit. Parallel calls count as the same failure. */
  function open(retryAfterMs = 0): void {
    // A node must not disappear for hours.
    heldUntil = Math.max(heldUntil, now() + Math.min(retryAfterMs, longestMs))
    if (circuit !== 'open') {
      openUntil = now() + Math.min(longestMs, shortestMs * 2 ** Math.min(pauses, 10))
      pauses++
    }
    openUntil = Math.max(openUntil, heldUntil)
    circuit = 'open'
  }

  return {
    get state(): Exclude<NodeStatus['state'], 'disabled'> {
      if (network === 'wrong') return 'wrong-network'
      if (circuit !== 'closed') return circuit
      return network === 'right' ? 'up' : 'unknown'
    },
    get due() {
      if (network === 'wrong') return false
      return circuit === 'open' ? now() >= openUntil : circuit === 'closed' && network === 'unknown'
    },
    /** The node asked for this pause (Retry-After): no probe shortens it. */
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
      if (circuit === 'closed') pauses = 0
    },
    failed(retryAfterMs?: number) {
      if (circuit !== 'open') failures++
      failedAt = now()
      open(retryAfterMs)
    },
    /** Closes the circuit. Throws as `read`. A node that only sends may hide its network (EIP-155 protects). */
    async probe(expected: string, read: () => Promise<string>, mustSay: boolean): Promise<string> {
      circuit = 'half-open'
      const found = await read().catch((error: unknown) => {
        if (!mustSay && error instanceof RpcError && !error.limited) return expected
        if (circuit !== 'open') open()
        throw error
      })
      network = found === expected ? 'right' : 'wrong'
      circuit = 'closed'
      return found
    },
    forgetNetwork: () => void (network = 'unknown'),
  }
}

/** @param agoMs by a monotonic clock, so that ages are right when the system clock is set */
function asked(agoMs: number): { askedAt?: number } {
  return Number.isFinite(agoMs) ? { askedAt: Math.round(Date.now() - agoMs) } : {}
}
