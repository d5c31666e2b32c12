/** `640 ms`, `6.2 s`, `1 min 20 s`, `2 h 5 min` */
export function spanText(ms: number | undefined): string {
  if (ms === undefined) return '–'
  if (ms < 1_000) return `${Math.round(ms)} ms`
  if (ms < 59_950) return `${(ms / 1_000).toFixed(1)} s`
  const seconds = Math.round(ms / 1_000)
  if (seconds < 3_600) return pair(Math.floor(seconds / 60), 'min', seconds % 60, 's')
  const minutes = Math.round(seconds / 60)
  if (minutes < 2_880) return pair(Math.floor(minutes / 60), 'h', minutes % 60, 'min')
  return pair(Math.floor(minutes / 1_440), 'd', Math.floor((minutes % 1_440) / 60), 'h')
}

function pair(large: number, unit: string, small: number, smallUnit: string): string {
  return small === 0 ? `${large} ${unit}` : `${large} ${unit} ${small} ${smallUnit}`
}

/** A time in the reader's time zone, in the form that Sweden uses: `2026-11-22 21:18:05`. */
export function clockText(at: number): string {
  return new Date(at).toLocaleString('sv-SE')
}

/** The times (ms since the epoch) that a `Date` can represent are between this one and its negative. */
const lastTime = 8.64e15

export function timeOf(value: unknown): number | undefined {
  const at = typeof value === 'number' ? value : typeof value === 'string' ? Date.parse(value) : Number.NaN
  return Math.abs(at) <= lastTime ? at : undefined
}
