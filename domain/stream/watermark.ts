import { compare, heightBelow } from './gaps.ts'
import { lowestOutside } from './outside-window.ts'
import type { StreamState, StreamView } from './stream.ts'

/** PROCESS_FINISHED_NONCE_HEIGHT: every number up to it is resolved. Computed, so a repeated event adds nothing. */
export function completedNumber(state: StreamState): string | undefined {
  const lowest = BigInt(lowestUnresolved(state)?.number ?? state.next)
  return lowest > BigInt(state.config.first) ? String(lowest - 1n) : undefined
}

/** completed_block_height: no block up to it can hold an unresolved number. MIP-61 counts blocks with transfers. */
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

export function blockedBy(state: StreamState): StreamView['blockedBy'] {
  const lowest = lowestUnresolved(state)
  if (!lowest) return undefined
  const { height: _, ...blocked } = lowest
  return blocked
}

type Unresolved = NonNullable<StreamView['blockedBy']> & { readonly height?: number | undefined }

function lowestUnresolved(state: StreamState): Unresolved | undefined {
  const [[open], [gap], outside] = [state.open, state.gaps, lowestOutside(state)]
  const found: Unresolved[] = []
  if (gap) found.push({ number: gap.from, height: gap.height, why: gap.state, ...(gap.code !== undefined && { code: gap.code }) })
  if (open?.parked !== undefined) found.push({ number: open.number, height: open.height, why: 'parked', code: open.parked })
  else if (open) found.push({ number: open.number, height: open.height, why: 'open' })
  if (outside) found.push({ number: outside.number, why: outside.why.waits ? 'waiting' : 'parked', code: outside.why.code })
  return found.sort((a, b) => compare(a.number, b.number))[0]
}
