import type { FixtureName, RecordedHistory } from './fixtures.ts'

export interface ReleasedHistory {
  readonly release: string
  readonly name: FixtureName
  readonly history: RecordedHistory
}

export function patchesOf({ events }: RecordedHistory): string[] {
  return events.flatMap(({ markerRecordedEventAttributes: marker }) => {
    if (marker?.markerName !== 'core_patch') return []
    const data = marker.details?.['patch-data']?.payloads[0]?.data
    return data === undefined ? [] : ((JSON.parse(Buffer.from(data, 'base64').toString()) as { id?: string }).id ?? [])
  })
}

/** A patch needs a history with its marker, and an earlier release's history of the same name without it. */
export function patchesWithoutHistories(ids: readonly string[], histories: readonly ReleasedHistory[]): string[] {
  const releases = [...new Set(histories.map(({ release }) => release))]
  const isShown = (id: string) =>
    histories.some(
      ({ release, name, history }) =>
        patchesOf(history).includes(id) &&
        histories.some(
          (before) =>
            before.name === name && releases.indexOf(before.release) < releases.indexOf(release) && !patchesOf(before.history).includes(id),
        ),
    )
  return ids.filter((id) => !isShown(id))
}
