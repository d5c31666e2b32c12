import type { LaneState } from '../../domain/lane/lane.ts'

/** The checker's own books, from answers and observations alone. */
export interface Books {
  /** Intent → the nonce that it holds. */
  readonly held: Map<string, number>
  /** Nonce → what its attempts may cost, each. */
  readonly costs: Map<number, bigint[]>
  /** Nonce → wei that its call moves. */
  readonly values: Map<number, bigint>
  readonly withdrawn: Set<string>
  /** Nonce → intents that signed for it. */
  readonly signed: Map<number, Set<string>>
}

export function newBooks(): Books {
  return { held: new Map(), costs: new Map(), values: new Map(), withdrawn: new Set(), signed: new Map() }
}

/** Wei: the most that one attempt of the nonce may cost. */
export function worstOf({ costs }: Books, nonce: number): bigint {
  return (costs.get(nonce) ?? []).reduce((a, b) => (a > b ? a : b), 0n)
}

export function json<T>(value: T): T {
  return JSON.parse(JSON.stringify(value)) as T
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
