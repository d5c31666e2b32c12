import type { FixtureName, RecordedHistory } from './fixtures.ts'

/**
 * Of each `patched` id a history that was recorded with it, and one without it that comes to the place where it is asked for: the first was made by the
 * release that has the patch, the second by those before.
 */
export const patches: Readonly<Record<string, { readonly with: FixtureName; readonly without: FixtureName }>> = {
  'stream-aside': { with: 'stream-aside', without: 'stream-first-run' },
  'ends-by-nonces': { with: 'cancelled-by-nonces', without: 'cancelled-with-noop' },
  'refused-after-sent': { with: 'operator-transaction-refused-later', without: 'operator-transaction-refused' },
}

/** The patch ids that a run has recorded. */
export function patchesOf({ events }: RecordedHistory): string[] {
  return events.flatMap(({ markerRecordedEventAttributes: marker }) => {
    const data = marker?.markerName === 'core_patch' && marker.details?.['patch-data']?.payloads[0]?.data
    return data ? [(JSON.parse(Buffer.from(data, 'base64').toString()) as { id: string }).id] : []
  })
}
