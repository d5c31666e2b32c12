/** Decides which transfers to try together: a failed batch is halved until its bad transfer is alone. Plain JSON. */
export interface Bisection<T> {
  readonly halves: readonly (readonly T[])[]
  readonly size: number
  readonly most: number
}

/** Transfers in the first batch. Above 50, nodes time out when they simulate the call (seen in Oasys' relayer). */
const firstSize = 20

/** @param size transfers in the first batch. `most`: maximum transfers in any batch. Whole numbers from 1 up */
export function bisection<T>({ size = firstSize, most = 40 } = {}): Bisection<T> {
  return { halves: [], size: Math.min(size, most), most }
}

/** Records how a batch ended. An `unanswered` batch is dropped. Never record route failures: they close a gate. */
export function tried<T>(state: Bisection<T>, batch: readonly T[], result: 'completed' | 'failed' | 'unanswered'): Bisection<T> {
  const { size, most } = state
  const isNew = state.halves.length === 0
  const halves = state.halves.slice(1)
  // The size grows only after a full new batch. A completed half or small batch does not show that more would fit.
  if (result === 'completed') return { halves, most, size: isNew && batch.length === size ? Math.min(most, size * 2) : size }
  if (result === 'failed' && batch.length === 1) return { halves, most, size }
  // A failed half only locates the bad transfer. It does not show that batches are too large.
  const smaller = isNew ? Math.max(1, Math.floor(batch.length / 2)) : size
  const middle = Math.ceil(batch.length / 2)
  const split = result === 'failed' ? [batch.slice(0, middle), batch.slice(middle)] : []
  return { halves: [...split, ...halves], most, size: smaller }
}
