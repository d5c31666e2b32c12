import type { ArchiveProgress } from './transfers.ts'

/** How much of Temporal's retention has passed since the archive's end. */
export interface Freshness {
  /** ISO 8601; absent: nothing is archived. */
  readonly through?: string
  readonly behindHours: number
  readonly retentionHours: number
  /** `late`: half of the retention has passed. `losing`: nine tenths; transfers may soon be lost. */
  readonly state: 'fresh' | 'late' | 'losing'
}

const hourMs = 3_600_000

/** @param progress undefined: nothing is archived; the oldest run may be near its end */
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
