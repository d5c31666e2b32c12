/** Chooses transfers to try together. A failed batch is halved until its bad transfer is alone. Pure, plain JSON. */
export interface Bisection<T> {
  readonly halves: readonly (readonly T[])[]
  readonly size: number
  readonly most: number
}

/** Size of a first batch. With more than 50 transfers, simulations of nodes time out (Oasys' relayer). */
const firstSize = 20

/** @param size size of the first batch. `most`: largest size of any batch. Whole numbers from 1 */
export function bisection<T>({ size = firstSize, most = 40 } = {}): Bisection<T> {
  return { halves: [], size: Math.min(size, most), most }
}

/** Records a try. An `unanswered` batch is not tried again. Do not record failures of the route, which close a gate. */
export function tried<T>(state: Bisection<T>, batch: readonly T[], result: 'completed' | 'failed' | 'unanswered'): Bisection<T> {
  const { size, most } = state
  const isNew = state.halves.length === 0
  const halves = state.halves.slice(1)
  // Only whole new batches grow. A completed half, or a small last batch, says nothing about larger ones.
  if (result === 'completed') return { halves, most, size: isNew && batch.length === size ? Math.min(most, size * 2) : size }
  if (result === 'failed' && batch.length === 1) return { halves, most, size }
  // A failed half locates the bad transfer. It does not mean that batches are too large.
  const smaller = isNew ? Math.max(1, Math.floor(batch.length / 2)) : size
  const middle = Math.ceil(batch.length / 2)
  const split = result === 'failed' ? [batch.slice(0, middle), batch.slice(middle)] : []
  return { halves: [...split, ...halves], most, size: smaller }
}
