import { setOf } from '../../domain/stream/intervals.ts'
import type { RequestOf, StreamView } from '../../domain/stream/stream.ts'

export type NumberStatus = 'started' | 'delivered' | 'ignored'
export type SeenNumbers = readonly (readonly [number: string, NumberStatus])[]
export type NumberCounts = Record<NumberStatus, number>

export const noNumbers: Readonly<NumberCounts> = { started: 0, delivered: 0, ignored: 0 }

type BySpy = { readonly received: true } | { readonly missedBySpy: readonly string[] }

export function seenRequests(batch: SeenNumbers, bySpy?: BySpy): readonly RequestOf<'seen'>[] {
  if (batch.length === 0) return []
  const of = (wanted: NumberStatus) => setOf(batch.flatMap(([number, status]) => (status === wanted ? [number] : [])))
  const [delivered, ignored] = [of('delivered'), of('ignored')]
  const numbers = batch.map(([number]) => [number] as const)
  return [{ kind: 'seen', numbers, ...(delivered.length > 0 && { delivered }), ...(ignored.length > 0 && { ignored }), ...fieldsOf(bySpy) }]
}

function fieldsOf(bySpy: BySpy | undefined): Pick<RequestOf<'seen'>, 'received' | 'missedBySpy'> {
  if (!bySpy) return {}
  if ('received' in bySpy) return bySpy
  return bySpy.missedBySpy.length > 0 ? { missedBySpy: setOf(bySpy.missedBySpy) } : {}
}

export function withStatus(status: NumberStatus, numbers: readonly string[]): SeenNumbers {
  return numbers.map((number) => [number, status])
}

export function missingIn({ gaps }: Pick<StreamView, 'gaps'>): number {
  return Object.values(gaps).reduce((sum, count) => sum + Number(count), 0)
}
