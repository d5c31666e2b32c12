import { setOf } from '../../domain/stream/intervals.ts'
import type { RequestOf, StreamView } from '../../domain/stream/stream.ts'

export type NumberStatus = 'started' | 'delivered' | 'ignored'
export type SeenNumbers = readonly (readonly [number: string, NumberStatus])[]
export type NumberCounts = Record<NumberStatus, number>

export const noNumbers: Readonly<NumberCounts> = { started: 0, delivered: 0, ignored: 0 }

/** `missedBySpy`: numbers that the spy should have sent, but did not. */
export function seenRequests(
  batch: SeenNumbers,
  { received, missedBySpy: missed = [] }: { readonly received?: true; readonly missedBySpy?: readonly string[] } = {},
): readonly RequestOf<'seen'>[] {
  if (batch.length === 0) return []
  const of = (wanted: NumberStatus) => setOf(batch.flatMap(([number, status]) => (status === wanted ? [number] : [])))
  const [delivered, ignored] = [of('delivered'), of('ignored')]
  const numbers = batch.map(([number]) => [number] as const)
  const statuses = { ...(delivered.length > 0 && { delivered }), ...(ignored.length > 0 && { ignored }) }
  const bySpy = { ...(received && { received }), ...(missed.length > 0 && { missedBySpy: setOf(missed) }) }
  return [{ kind: 'seen', numbers, ...statuses, ...bySpy }]
}

export function withStatus(status: NumberStatus, numbers: readonly string[]): SeenNumbers {
  return numbers.map((number) => [number, status])
}

export function missingIn({ gaps }: Pick<StreamView, 'gaps'>): number {
  return Object.values(gaps).reduce((sum, count) => sum + Number(count), 0)
}
