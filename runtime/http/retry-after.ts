/** Longest pause that a server may ask for, ms: one that wants more is asked again after this. */
const longestPauseMs = 3_600_000

/** How long a server wants to be left alone, ms: Retry-After in seconds or as an HTTP date (RFC 9110 §10.2.3); undefined: none that can be read. */
export function retryAfterMs(value: string | null, now: number): number | undefined {
  const text = value?.trim() ?? ''
  if (/^\d{1,10}$/.test(text)) return Math.min(Number(text) * 1_000, longestPauseMs)
  // Only the date forms that HTTP has: Date.parse takes much more.
  if (!/^[A-Z][a-z]{2,8},? /.test(text)) return undefined
  const at = Date.parse(text)
  return Number.isNaN(at) ? undefined : Math.min(Math.max(0, at - now), longestPauseMs)
}
