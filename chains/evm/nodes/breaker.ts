/** First pause after a failure, ms; doubled with each pause that did not help, up to the longest (chainlink-evm: redial 1 s to 30 s). */
const shortestMs = 1_000
const longestMs = 30_000

/** A circuit breaker: closed (in use), open (left alone for a while), half-open (one probe is under way). `now`: ms, monotonic. No I/O. */
export function createBreaker(now: () => number) {
  let state: 'closed' | 'open' | 'half-open' = 'closed'
  /** Pauses in a row that did not help. */
  let pauses = 0
  let until = 0
  let heldUntil = 0
  return {
    get state() {
      return state
    },
    /** Open, and the pause is over: a probe may go beside the calls. */
    get due() {
      return state === 'open' && now() >= until
    },
    /** The node itself asked for this pause (Retry-After): nothing goes to it, not even where no other node is left. */
    get held() {
      return now() < heldUntil
    },
    probing() {
      state = 'half-open'
    },
    close() {
      state = 'closed'
    },
    /** A real call was answered: the next pause is a short one again. */
    succeeded() {
      pauses = 0
    },
    /** A call got no answer. The first one opens, for there are other nodes; calls under way with it count as the same failure. */
    failed(retryAfterMs = 0) {
      // A node that names hours must not be lost for hours.
      heldUntil = Math.max(heldUntil, now() + Math.min(retryAfterMs, longestMs))
      if (state === 'open') {
        until = Math.max(until, heldUntil)
        return
      }
      state = 'open'
      until = Math.max(heldUntil, now() + Math.min(longestMs, shortestMs * 2 ** Math.min(pauses, 10)))
      pauses++
    },
  }
}
