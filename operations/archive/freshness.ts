import type { ArchiveProgress } from './transfers.ts'

/** The share of Temporal's retention that has passed since the end of the archive. */
export interface Freshness {
  /** ISO 8601; absent: nothing is archived yet. */
  readonly through?: string
  readonly behindHours: number
  readonly retentionHours: number
  /** `late`: half of the retention has passed. `losing`: nine tenths have, and closed transfers may soon be lost. */
  readonly state: 'fresh' | 'late' | 'losing'
}

const hourMs = 3_600_000

/** @param progress undefined: nothing is archived, so the oldest closed run may be near the end of its retention */
export function freshnessOf(progress: ArchiveProgress | undefined, retentionHours: number, now: number): Freshness {
  const behindHours = progress ? Math.max(0, now - Date.parse(progress.through)) / hourMs : retentionHours
  const share = behindHours / retentionHours
  return {
    ...(progress && { through: progress.through }),
    behindHours: Math.round(behindHours * 100) / 100,
    retentionHours,
    state: share >= 0.9 ? 'losing' : share >= 0.5 ? 'late' : 'fresh',
  }
}
