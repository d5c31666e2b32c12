import type { NodeStatus } from '../../port.ts'
import { createBreaker } from './breaker.ts'
import { RpcError } from './node-errors.ts'

/** Weight of the newest answer in the latency that is shown. */
const latencyWeight = 0.2
/** The least time between a failure and the next probe, also where no other node is left, ms. */
const restMs = 100

/** What is known of a node from its answers: its network, its circuit, its latency. `now`: ms, monotonic. No I/O. */
export function createNodeHealth(now: () => number) {
  const breaker = createBreaker(now)
  let network: 'unknown' | 'right' | 'wrong' = 'unknown'
  let latencyMs: number | undefined
  let failures = 0
  let failedAt = -Infinity

  return {
    get state(): Exclude<NodeStatus['state'], 'disabled'> {
      if (network === 'wrong') return 'wrong-network'
      if (breaker.state !== 'closed') return breaker.state
      return network === 'right' ? 'up' : 'unknown'
    },
    get due() {
      return network !== 'wrong' && (breaker.due || (network === 'unknown' && breaker.state === 'closed'))
    },
    get held() {
      return breaker.held
    },
    get rested() {
      return now() - failedAt >= restMs
    },
    get latencyMs() {
      return latencyMs && Math.round(latencyMs)
    },
    get failures() {
      return failures
    },
    answered(tookMs: number) {
      latencyMs = latencyMs === undefined ? tookMs : latencyMs + (tookMs - latencyMs) * latencyWeight
      if (breaker.state === 'closed') breaker.succeeded()
    },
    failed(retryAfterMs: number | undefined) {
      if (breaker.state !== 'open') failures++
      failedAt = now()
      breaker.failed(retryAfterMs)
    },
    /** Reads the network and closes the circuit; throws as `read`. A node that only takes transactions need not say it: theirs is in the signature (EIP-155). */
    async probe(expected: string, read: () => Promise<string>, mustSay: boolean): Promise<string> {
      breaker.probing()
      let found = expected
      try {
        found = await read()
      } catch (error) {
        if (mustSay || !(error instanceof RpcError) || error.limited) {
          if (breaker.state !== 'open') breaker.failed()
          throw error
        }
      }
      network = found === expected ? 'right' : 'wrong'
      breaker.close()
      return found
    },
    /** The network is read again before the node is used. */
    forgetNetwork() {
      network = 'unknown'
    },
  }
}
