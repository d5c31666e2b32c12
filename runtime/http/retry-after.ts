const longestPauseMs = 3_600_000

/** A Retry-After header in ms (RFC 9110 §10.2.3), at most one hour. Undefined if absent or malformed. */
export function retryAfterMs(value: string | null, now: number): number | undefined {
  const text = value?.trim() ?? ''
  if (/^\d{1,10}$/.test(text)) return Math.min(Number(text) * 1_000, longestPauseMs)
  // An HTTP date begins with the name of a day. `Date.parse` alone accepts many other forms.
  if (!/^[A-Z][a-z]{2,8},? /.test(text)) return undefined
  const at = Date.parse(text)
  return Number.isNaN(at) ? undefined : Math.min(Math.max(0, at - now), longestPauseMs)
}
