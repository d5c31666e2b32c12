import type { NodeStatus } from '../../port.ts'
import { RpcError } from './node-errors.ts'

/** First pause after a failure, ms; doubled with each pause that did not help, up to the longest (chainlink-evm: redial 1 s to 30 s). */
const shortestMs = 1_000
const longestMs = 30_000
/** Weight of the newest answer in the latency that is shown. */
const latencyWeight = 0.2
/** The least time between a failure and the next probe, also where no other node is left, ms. */
const restMs = 100

/** A node's network, latency and circuit: closed (in use), open (left alone for a while), half-open (a probe is under way). `now`: ms, monotonic. No I/O. */
export function createNodeHealth(now: () => number) {
  let network: 'unknown' | 'right' | 'wrong' = 'unknown'
  let circuit: 'closed' | 'open' | 'half-open' = 'closed'
  /** Pauses in a row that did not help. */
  let pauses = 0
  let [openUntil, heldUntil] = [0, 0]
  let latencyMs: number | undefined
  let failures = 0
  let [answeredAt, failedAt] = [-Infinity, -Infinity]

  /** The first failure opens, for there are other nodes; calls under way with it count as the same failure. */
  function open(retryAfterMs = 0): void {
    // A node that names hours must not be lost for hours.
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
    /** Its pause is over, or its network is to be read: a probe may go beside the calls. */
    get due() {
      if (network === 'wrong') return false
      return circuit === 'open' ? now() >= openUntil : circuit === 'closed' && network === 'unknown'
    },
    /** The node itself asked for this pause (Retry-After): nothing goes to it, not even where no other node is left. */
    get held() {
      return now() < heldUntil
    },
    get rested() {
      return now() - failedAt >= restMs
    },
    get figures() {
      return { latencyMs: latencyMs && Math.round(latencyMs), failures, ...asked(now() - Math.max(answeredAt, failedAt)) }
    },
    /** A real answer makes the next pause a short one again. */
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
    /** Reads the network and closes the circuit; throws as `read`. A node that only takes transactions need not say it: theirs is in the signature (EIP-155). */
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
    /** The network is read again before the node is used. */
    forgetNetwork: () => void (network = 'unknown'),
  }
}

/** @param agoMs by a monotonic clock: ages are right, whatever is done to that of the machine */
function asked(agoMs: number): { askedAt?: number } {
  return Number.isFinite(agoMs) ? { askedAt: Math.round(Date.now() - agoMs) } : {}
}
