/** Longest pause that a server may ask for, ms. A longer pause is cut to this one. */
const longestPauseMs = 3_600_000

/** The pause of a Retry-After header, ms (RFC 9110 §10.2.3). Undefined if absent or malformed. */
export function retryAfterMs(value: string | null, now: number): number | undefined {
  const text = value?.trim() ?? ''
  if (/^\d{1,10}$/.test(text)) return Math.min(Number(text) * 1_000, longestPauseMs)
  // Only HTTP's date forms are valid, but Date.parse accepts many others.
  if (!/^[A-Z][a-z]{2,8},? /.test(text)) return undefined
  const at = Date.parse(text)
  return Number.isNaN(at) ? undefined : Math.min(Math.max(0, at - now), longestPauseMs)
}
