import type { Problem } from './problems.ts'

/** Parts of a config before the schema has checked it. */
export type Fields = Record<string, unknown>
export type Chains = readonly (readonly [name: string, chain: Fields])[]

export function checkChain(path: string, name: unknown, chains: readonly string[]): Problem[] {
  if (typeof name !== 'string' || chains.includes(name)) return []
  return [{ path, problem: 'is not a chain of this config', remedy: `Use one of: ${listed(chains)}.` }]
}

export function listed(names: readonly string[]): string {
  return names.join(', ') || '(none is configured)'
}

export function repeated<Key>(
  keys: readonly Key[],
  path: (index: number) => string,
  problem: (key: Key, first: number) => string,
  remedy: string,
): Problem[] {
  return keys.flatMap((key, index) => {
    const first = keys.findIndex((other) => Object.is(other, key))
    return key === undefined || first === index ? [] : [{ path: path(index), problem: problem(key, first), remedy }]
  })
}

export function map(value: unknown): Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Fields) : {}
}

export function maps(value: unknown): readonly Fields[] {
  return Array.isArray(value) ? value.map(map) : []
}
