import type { Problem } from './problems.ts'

/** Parts of a config before the schema has checked it. */
export type Fields = Record<string, unknown>
export type Chains = ReadonlyMap<string, Fields>

export function unless(holds: boolean, path: string, problem: string, remedy: string): Problem[] {
  return holds ? [] : [{ path, problem, remedy }]
}

export function checkChain(path: string, name: unknown, chains: Chains): Problem[] {
  const isKnown = typeof name !== 'string' || chains.has(name)
  return unless(isKnown, path, 'is not a chain of this config', `Use one of: ${listed([...chains.keys()])}.`)
}

export function listed(names: readonly string[]): string {
  return names.join(', ') || '(none is configured)'
}

/** Returns a problem for each key that is equal to an earlier key. Undefined keys are ignored. */
export function repeated<Key>(
  keys: readonly Key[],
  path: (index: number) => string,
  problem: (key: Key, first: number) => string,
  remedy: string,
): Problem[] {
  return keys.flatMap((key, index) => {
    const first = keys.findIndex((other) => Object.is(other, key))
    return unless(key === undefined || first === index, path(index), problem(key, first), remedy)
  })
}

export function map(value: unknown): Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Fields) : {}
}

export function maps(value: unknown): readonly Fields[] {
  return Array.isArray(value) ? value.map(map) : []
}
