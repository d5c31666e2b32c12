/** A token bucket: a second's worth of calls at once, then as many as the rate gives; without a rate, no limit. `now`: ms, monotonic. No I/O. */
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
    /** How long a call would wait now, ms; 0 if it may go at once. */
    get waitMs() {
      return waitMs()
    },
    /** Takes a place: the caller goes after so many ms. Places are given in the order they are asked for. */
    take() {
      const wait = waitMs()
      tokens--
      return wait
    },
  }
}
