import type { Problem } from './problems.ts'
import { map } from './tree.ts'

/** Known chains, two different ones, and every contract with one counterpart. */
export function checkRoutes(path: string, routes: readonly unknown[], chains: readonly string[]): Problem[] {
  const all = routes.map(map)
  return [
    ...all.flatMap((route, index) => checkEnds(`${path}[${index}]`, route, chains)),
    ...twice(
      path,
      all,
      'target',
      ['source', 'target'],
      'goes the same way as',
      'One direction between two chains is one route: remove one of them.',
    ),
    ...twice(path, all, 'sourceContract', ['source', 'sourceContract'], 'is the source contract of', counterpart),
    ...twice(path, all, 'targetContract', ['target', 'targetContract'], 'is the target contract of', counterpart),
  ]
}

/** An id names no chain: of two equal transfers from two sources, a contract would take the second one for a copy of the first. */
const counterpart = 'A contract has one counterpart: correct one of the two addresses.'

function checkEnds(path: string, { source, target }: Record<string, unknown>, chains: readonly string[]): Problem[] {
  const unknown = Object.entries({ source, target }).flatMap(([field, name]) =>
    typeof name !== 'string' || chains.includes(name)
      ? []
      : [
          {
            path: `${path}.${field}`,
            problem: 'is not a chain of this config',
            remedy: `Use one of: ${chains.join(', ') || '(none is configured)'}.`,
          },
        ],
  )
  if (typeof source !== 'string' || source !== target) return unknown
  return [
    ...unknown,
    { path: `${path}.target`, problem: 'is the source too', remedy: 'A route leads to another chain: correct one of them.' },
  ]
}

/** Routes that agree in all of these fields, named at the last of them. */
function twice(
  path: string,
  routes: readonly Record<string, unknown>[],
  field: string,
  same: readonly string[],
  problem: string,
  remedy: string,
): Problem[] {
  const first = new Map<string, number>()
  return routes.flatMap((route, index) => {
    const values = same.map((one) => route[one])
    if (!values.every((value): value is string => typeof value === 'string')) return []
    const key = values.join('/').toLowerCase()
    const other = first.get(key)
    if (other === undefined) first.set(key, index)
    return other === undefined ? [] : [{ path: `${path}[${index}].${field}`, problem: `${problem} routes[${other}]`, remedy }]
  })
}
