/**
 * Which transfers to try together next: the first half, else a new batch of `size`. A batch is all or nothing, so one bad transfer makes the others fail:
 * a batch that fails is halved until the bad one is alone, and the next new batch is half as large. Of n transfers with k bad ones,
 * n / most + O(k log most) tries end with every good one completed and every bad one tried alone. Plain JSON; all functions are pure.
 */
export interface Bisection<T> {
  /** Halves of batches that failed. */
  readonly halves: readonly (readonly T[])[]
  /** Of the next new batch. */
  readonly size: number
  readonly most: number
}

/** How many transfers a first batch has: beyond 50 nodes' simulations were seen to time out (Oasys' relayer). */
const firstSize = 20

/** @param size of the first batch, and `most` of any; whole numbers from 1 */
export function bisection<T>({ size = firstSize, most = 40 } = {}): Bisection<T> {
  return { halves: [], size: Math.min(size, most), most }
}

/**
 * After a try of the first half, or of a new batch. `failed`: it reverted, or is too much for a node or a block. `unanswered` (a node timed out, say): it is
 * not tried again. A failure for a reason of the whole route (budget, pause, role) must not be told here: its gate is closed, and the same batch is tried
 * when it opens.
 */
export function tried<T>(state: Bisection<T>, batch: readonly T[], result: 'completed' | 'failed' | 'unanswered'): Bisection<T> {
  const { size, most } = state
  const isNew = state.halves.length === 0
  const halves = state.halves.slice(1)
  // Growth only by whole new batches: a half that went well, or a last small one, says nothing about larger ones.
  if (result === 'completed') return { halves, most, size: isNew && batch.length === size ? Math.min(most, size * 2) : size }
  if (result === 'failed' && batch.length === 1) return { halves, most, size }
  // Halves of a half that fail say where the bad one is, not that batches are too large.
  const smaller = isNew ? Math.max(1, Math.floor(batch.length / 2)) : size
  const middle = Math.ceil(batch.length / 2)
  const split = result === 'failed' ? [batch.slice(0, middle), batch.slice(middle)] : []
  return { halves: [...split, ...halves], most, size: smaller }
}
