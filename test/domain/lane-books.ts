import type { LaneState } from '../../domain/lane/lane.ts'
import assert from 'node:assert/strict'

/** The checker's own records. Only answers and observations change them, never the ledger's state. */
export interface Books {
  readonly held: Map<string, number>
  readonly costs: Map<number, bigint[]>
  /** Wei that the call of each nonce moves. */
  readonly values: Map<number, bigint>
  readonly withdrawn: Set<string>
  readonly signed: Map<number, Set<string>>
}

export function newBooks(): Books {
  return { held: new Map(), costs: new Map(), values: new Map(), withdrawn: new Set(), signed: new Map() }
}

export function worstOf({ costs }: Books, nonce: number): bigint {
  return (costs.get(nonce) ?? []).reduce((a, b) => (a > b ? a : b), 0n)
}

export function json<T>(value: T): T {
  return JSON.parse(JSON.stringify(value)) as T
}

/** Compares the JSON first, because Node's own comparison would take most of a property test's time. */
export function assertSame(a: unknown, b: unknown, message?: string): void {
  if (!isSameJson(a, b)) assert.deepEqual(a, b, message)
}

function isSameJson(a: unknown, b: unknown): boolean {
  if (Object.is(a, b)) return true
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false
  const prototype = Object.getPrototypeOf(a) as unknown
  if ((prototype !== Object.prototype && prototype !== Array.prototype) || prototype !== Object.getPrototypeOf(b)) return false
  const [left, right] = [a as Record<string, unknown>, b as Record<string, unknown>]
  const keys = Object.keys(left)
  if (keys.length !== Object.keys(right).length) return false
  for (const key of keys) if (!Object.hasOwn(right, key) || !isSameJson(left[key], right[key])) return false
  return true
}

export function freeze<T>(value: T): T {
  if (typeof value === 'object' && value !== null && !Object.isFrozen(value)) {
    Object.freeze(value)
    Object.values(value).forEach(freeze)
  }
  return value
}

export function hasInherited({ entries, observed }: LaneState): boolean {
  return Object.values(entries).some(({ owner, fill, nonce }) => !owner && fill === 'inherited' && nonce >= (observed?.latest ?? 0))
}
