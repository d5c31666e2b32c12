import { setOf } from '../domain/stream/interval-set.ts'
import type { StreamRequest } from '../domain/stream/stream.ts'

/** How a number is told: its transfer runs, or it needs none. */
export type NumberStatus = 'started' | 'delivered' | 'ignored'

/** Numbers and what they are, as the stream wants them. */
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
