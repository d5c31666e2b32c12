import type { TransferState } from '../../../domain/transfer/transfer.ts'

/** A copy of the states, because the module that has them would add all error texts to the page. */
export const shownStates: readonly (TransferState | 'open' | 'undone')[] = [
  ...(['open', 'parked', 'waiting', 'admitting', 'broadcasting', 'pending', 'included'] as const),
  ...(['delivered', 'rejected', 'declined', 'cancelled', 'undone'] as const),
]

const names = ['state', 'chain', 'lane', 'olderThan', 'newerThan', 'code', 'bridge', 'sourceChain', 'targetChain'] as const

export type ShownFilter = Readonly<Partial<Record<(typeof names)[number], string | undefined>>>

export function transfersHref(filter: ShownFilter): string {
  const query = new URLSearchParams(given(filter)).toString()
  return query === '' ? '#/transfers' : `#/transfers?${query}`
}

export function filterIn(hash: string): ShownFilter | undefined {
  const match = /^#\/transfers(?:\?(.*))?$/s.exec(hash)
  if (!match) return undefined
  const values = new URLSearchParams(match[1])
  return Object.fromEntries(given(Object.fromEntries(names.map((name) => [name, values.get(name) ?? undefined]))))
}

export function transfersPath({ state, ...filter }: ShownFilter, limit: number, cursor?: string): string {
  const ofState = state === 'open' || state === 'undone' ? { execution: state } : { state }
  const query = Object.entries({ ...ofState, ...filter, limit: String(limit), cursor })
  return `v1/transfers?${new URLSearchParams(query.flatMap(([name, value]) => (value ? [[name, value]] : []))).toString()}`
}

function given(filter: ShownFilter): [string, string][] {
  return names.flatMap((name): [string, string][] => (filter[name] ? [[name, filter[name]]] : []))
}
