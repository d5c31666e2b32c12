import { setOf } from '../../domain/stream/interval-set.ts'
import type { RequestOf, StreamView } from '../../domain/stream/stream.ts'

/** What is recorded of a number that was seen: its transfer runs, or it needs none. */
export type NumberStatus = 'started' | 'delivered' | 'ignored'

/** How numbers came: told by the spy, or, of some of them, not told by it though it should have. */
export type HowSeen = { readonly heard: true } | { readonly unheard: readonly string[] }

/** The request that records these numbers; none for none. */
export function seenRequests(batch: readonly (readonly [string, NumberStatus])[], how?: HowSeen): readonly RequestOf<'seen'>[] {
  if (batch.length === 0) return []
  const of = (wanted: NumberStatus) => setOf(batch.flatMap(([number, seen]) => (seen === wanted ? [number] : [])))
  const [delivered, ignored] = [of('delivered'), of('ignored')]
  const numbers = batch.map(([number]) => [number] as const)
  return [{ kind: 'seen', numbers, ...(delivered.length > 0 && { delivered }), ...(ignored.length > 0 && { ignored }), ...fieldsOf(how) }]
}

function fieldsOf(how: HowSeen | undefined): Pick<RequestOf<'seen'>, 'heard' | 'unheard'> {
  if (!how) return {}
  if ('heard' in how) return { heard: true }
  return how.unheard.length > 0 ? { unheard: setOf(how.unheard) } : {}
}

/** Numbers, each with this status. */
export function withStatus(status: NumberStatus, numbers: readonly string[]): readonly (readonly [string, NumberStatus])[] {
  return numbers.map((number) => [number, status])
}

/** How many numbers are in gaps. */
export function missingIn({ gaps }: Pick<StreamView, 'gaps'>): number {
  return Object.values(gaps).reduce((sum, count) => sum + Number(count), 0)
}
