/** A search for the bad transfers of failed batches. Each failed batch is halved until a bad transfer is alone. */
export interface Bisection<T> {
  readonly halves: readonly (readonly T[])[]
  readonly size: number
  readonly most: number
}

/** Size of the first batch. A node may time out when it simulates more than 50 transfers (seen in Oasys' relayer). */
const firstSize = 20

export function bisection<T>({ size = firstSize, most = 40 } = {}): Bisection<T> {
  return { halves: [], size: Math.min(size, most), most }
}

/**
 * The search after `batch` has ended with `result`. Do not call this after a failure of the whole route: a gate handles
 * such a failure.
 */
export function tried<T>(state: Bisection<T>, batch: readonly T[], result: 'completed' | 'failed' | 'unanswered'): Bisection<T> {
  const { size, most } = state
  const isNew = state.halves.length === 0
  const halves = state.halves.slice(1)
  if (result === 'completed') return { halves, most, size: isNew && batch.length === size ? Math.min(most, size * 2) : size }
  if (result === 'failed' && batch.length === 1) return { halves, most, size }
  // A failed new batch may have been too large, so later batches are smaller. A failed half only shows where a bad
  // transfer is.
  const smaller = isNew ? Math.max(1, Math.floor(batch.length / 2)) : size
  const middle = Math.ceil(batch.length / 2)
  const split = result === 'failed' ? [batch.slice(0, middle), batch.slice(middle)] : []
  return { halves: [...split, ...halves], most, size: smaller }
}
