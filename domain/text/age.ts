export function ageText(ms: number): string {
  const seconds = Math.max(0, Math.round(ms / 1_000))
  if (seconds < 120) return `${seconds} s`
  if (seconds < 7_200) return `${Math.round(seconds / 60)} min`
  return seconds < 172_800 ? `${Math.round(seconds / 3_600)} h` : `${Math.round(seconds / 86_400)} days`
}

export function agoText(ms: number): string {
  return ms < 1_000 ? 'now' : `${ageText(ms)} ago`
}

const units = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const

export const agePattern = /^([1-9][0-9]{0,5})([smhd])$/

/** Maximum age: 100 years, because Temporal's queries refuse a much earlier start time. */
const longestAgeMs = 36_525 * units.d

export function parseAge(text: string): number | undefined {
  const [, amount, unit] = agePattern.exec(text) ?? []
  const ms = Number(amount) * units[unit as keyof typeof units]
  return ms <= longestAgeMs ? ms : undefined
}
