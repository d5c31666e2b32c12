/**
 * Which transfers to try together next. A batch is all or nothing, so one bad transfer makes the others fail: a batch that fails is halved until the
 * bad one is alone, and the next new batch is half as large. Plain JSON; all functions are pure.
 *
 * Of n transfers with k bad ones, n / most + O(k log most) tries end with every good one completed and every bad one isolated.
 */
export interface Bisection<T> {
  /** Halves of batches that failed; the first is next. */
  readonly halves: readonly (readonly T[])[]
  /** Not tried yet, in order. */
  readonly waiting: readonly T[]
  /** How many of those the next new batch takes. */
  readonly size: number
  readonly most: number
  /** Failed alone. */
  readonly isolated: readonly T[]
}

/** How many transfers a first batch has: beyond 50 nodes' simulations were seen to time out (Oasys' relayer). */
const firstSize = 20
const defaultMost = 40

/** @param size of the first batch, and `most` of any; whole numbers from 1 */
export function bisection<T>(transfers: readonly T[], { size = firstSize, most = defaultMost } = {}): Bisection<T> {
  return { halves: [], waiting: transfers, size: Math.min(size, most), most, isolated: [] }
}

/** More transfers to try, at the end. */
export function extended<T>(state: Bisection<T>, transfers: readonly T[]): Bisection<T> {
  return { ...state, waiting: [...state.waiting, ...transfers] }
}

/** What to try now; undefined: nothing is left. The same answer until `tried`. */
export function nextBatch<T>({ halves, waiting, size }: Bisection<T>): readonly T[] | undefined {
  const batch = halves[0] ?? waiting.slice(0, size)
  return batch.length > 0 ? batch : undefined
}

/**
 * After a try of the batch that `nextBatch` returned. It failed if it reverted, or is too much for a node or a block. A failure for a reason of the
 * whole route (budget, pause, role) must not be told here: its gate is closed, and the same batch is tried when it opens.
 */
export function tried<T>(state: Bisection<T>, completed: boolean): Bisection<T> {
  const batch = nextBatch(state)
  if (!batch) return state
  const { most, size } = state
  const rest = without(state)
  // Growth only by whole new batches: a half that went well, or a last small one, says nothing about larger ones.
  if (completed) return { ...rest, size: isFull(state, batch) ? Math.min(most, size * 2) : size }
  if (batch.length === 1) return { ...rest, isolated: [...state.isolated, ...batch] }
  const middle = Math.ceil(batch.length / 2)
  return { ...rest, halves: [batch.slice(0, middle), batch.slice(middle), ...rest.halves], size: smallerThan(state, batch) }
}

/** After a try without a result (a node timed out, say): off the list. The next new batch is smaller, in case it was too much for the node. */
export function unanswered<T>(state: Bisection<T>): Bisection<T> {
  const batch = nextBatch(state)
  if (!batch) return state
  return { ...without(state), size: smallerThan(state, batch) }
}

/** Halves of a half that fail say where the bad one is, not that batches are too large. */
function smallerThan<T>({ halves, size }: Bisection<T>, batch: readonly T[]): number {
  return halves.length > 0 ? size : Math.max(1, Math.floor(batch.length / 2))
}

function without<T>(state: Bisection<T>): Bisection<T> {
  const { halves, waiting, size } = state
  return halves.length > 0 ? { ...state, halves: halves.slice(1) } : { ...state, waiting: waiting.slice(size) }
}

function isFull<T>({ halves, size }: Bisection<T>, batch: readonly T[]): boolean {
  return halves.length === 0 && batch.length === size
}
