import type { Gap, OpenNumber, StreamState, StreamView } from './stream.ts'
import { compare, heightBelow } from './gaps.ts'

/**
 * PROCESS_FINISHED_NONCE_HEIGHT: completed_nonce_height, the highest number up to which every number is resolved. MIP-61 counts it up and
 * prunes behind it; here it is computed from what is not resolved, so that a repeated event can neither raise it twice nor bring a pruned
 * entry back. Falls when a resolved number is not so any more: by `undone`, `unskip` and `reread` only.
 */
export function completedNumber(state: StreamState): string | undefined {
  const lowest = BigInt(lowestUnresolved(state)?.number ?? state.next)
  return lowest > BigInt(state.config.first) ? String(lowest - 1n) : undefined
}

/**
 * completed_block_height. MIP-61 counts blocks that have transfers, which is no height. Here: the block before the first one that may hold
 * an unresolved number, else the cursor; never a block that waits for the backfill, or above it.
 */
export function completedHeight(state: StreamState): number | undefined {
  const { cursor, backfill, marks, config } = state
  if (!cursor) return undefined
  const lowest = lowestUnresolved(state)
  const first = lowest && (lowest.height ?? heightBelow(marks, BigInt(lowest.number)) ?? config.start ?? 0)
  const unread = backfill.left[0]?.[0]
  const ends = [cursor.height, ...(first !== undefined ? [first - 1] : []), ...(unread !== undefined ? [Number(unread) - 1] : [])]
  const height = Math.min(...ends)
  return height < 0 ? undefined : height
}

/** What the watermark waits for. */
export function blockedBy(state: StreamState): StreamView['blockedBy'] {
  const lowest = lowestUnresolved(state)
  if (!lowest) return undefined
  const { number, gap, open } = lowest
  if (gap) return { number, why: gap.state }
  return open?.parked === undefined ? { number, why: 'open' } : { number, why: 'parked', code: open.parked }
}

interface Lowest {
  readonly number: string
  readonly height?: number
  readonly gap?: Gap
  readonly open?: OpenNumber
}

function lowestUnresolved({ open: [open], gaps: [gap] }: StreamState): Lowest | undefined {
  if (gap && (!open || compare(gap.from, open.number) < 0)) return { number: gap.from, gap, ...height(gap) }
  return open && { number: open.number, open, ...height(open) }
}

const height = (one: { readonly height?: number }) => (one.height === undefined ? {} : { height: one.height })
