import { setOf } from '../domain/stream/interval-set.ts'
import type { StreamRequest } from '../domain/stream/stream.ts'

/** What is recorded of a number that was seen: its transfer runs, or it needs none. */
export type NumberStatus = 'started' | 'delivered' | 'ignored'

/** The request that records these numbers. */
export function seenRequest(batch: readonly (readonly [string, NumberStatus])[]): Extract<StreamRequest, { kind: 'seen' }> {
  const of = (wanted: NumberStatus) => setOf(batch.flatMap(([number, seen]) => (seen === wanted ? [number] : [])))
  const [delivered, ignored] = [of('delivered'), of('ignored')]
  return {
    kind: 'seen',
    numbers: batch.map(([number]) => [number] as const),
    ...(delivered.length > 0 && { delivered }),
    ...(ignored.length > 0 && { ignored }),
  }
}
