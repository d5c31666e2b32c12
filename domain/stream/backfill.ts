import { orderOf } from '../order.ts'
import { bounded, clip, limits, punch } from './gaps.ts'
import { addInterval, countNumbers, type IntervalSet, without } from './intervals.ts'
import { done, isAnyWanted, learn, present, refused, room, type StreamStep, withPassed } from './numbers.ts'
import { bringBack } from './outside-window.ts'
import type { RequestOf, StreamState } from './stream.ts'

/** BOOTSTRAP: blocks below the live scan, read by any process. Unlike MIP-61's, the list survives a crash. */
export function backfill(state: StreamState, from: number, to: number, by: string): StreamState {
  const end = Math.min(to, state.cursor?.height ?? to)
  if (from > end) return state
  const { left, ordered } = state.backfill
  const more = fewer(addInterval(left, String(from), String(end)))
  const added = Number(countNumbers(more) - countNumbers(left))
  return { ...state, backfill: { left: more, ordered: (left.length === 0 ? 0 : ordered) + added, by: clip(by) } }
}

/** Records one chunk. The agent has started its transfers, or found them delivered, before this request. */
export function backfilled(state: StreamState, request: RequestOf<'backfilled'>, at: number): StreamStep {
  if (state.paused) return { state, answer: { kind: 'paused' } }
  if (isAnyWanted(state, request.passed)) return present(state)
  const learnt = learn(state, withPassed(state, request), at)
  if (!learnt) return { state, answer: { kind: 'full', room: room(state) } }
  const left = fewer(without(learnt.backfill.left, String(request.from), String(request.to)))
  return done({ ...learnt, backfill: { ...learnt.backfill, left } })
}

/** Takes a watermark kept elsewhere. Refused, with an alarm, above known numbers or cursor: it would pass transfers. */
export function trust(state: StreamState, request: RequestOf<'trust'>, at: number): StreamStep {
  const { number, height } = request
  const { by } = orderOf(request)
  const beyond = beyondKnown(state, request)
  if (beyond !== undefined) {
    const distrusted = { number, ...(height !== undefined && { height }), by: clip(by), at }
    return refused({ ...state, distrusted }, beyond)
  }
  const { distrusted: _, ...rest } = state
  return trusted(rest, { number, ...(height !== undefined && { height }), by })
}

function beyondKnown({ next, cursor }: StreamState, { number, height }: RequestOf<'trust'>): string | undefined {
  if (BigInt(number) >= BigInt(next)) return `number: ${number} is not known to exist: the highest number is below ${next}`
  if (height === undefined || (cursor && height <= cursor.height)) return undefined
  return `height: ${cursor ? `above the cursor (${cursor.height})` : 'the stream has read no block yet'}`
}

/** Resolves all numbers up to `number`. Never lowers the watermark. Undone gaps stay: the chain outranks orders. */
export function trusted(
  state: StreamState,
  { number, height, by }: Pick<RequestOf<'trust'>, 'number' | 'height'> & { readonly by: string },
): StreamStep {
  const first = BigInt(number) + 1n
  if (first <= BigInt(state.first)) return present(state)
  const raised = {
    ...bringBack(state, '0', number),
    first: String(first),
    next: BigInt(state.next) > first ? state.next : String(first),
    open: state.open.filter((one) => BigInt(one.number) >= first),
    gaps: state.gaps.flatMap((one) => (one.state === 'undone' ? [one] : punch([one], '0', number))),
    unknownCompletions: without(state.unknownCompletions, '0', number),
  }
  if (height === undefined) return done(bounded(raised))
  const start = state.start === undefined ? undefined : Math.max(state.start, height + 1)
  const left = without(state.backfill.left, '0', String(height))
  return done(bounded({ ...raised, ...(start !== undefined && { start }), backfill: { ...state.backfill, left, by: clip(by) } }))
}

/** Merges the closest ranges until they are within the limit. */
function fewer(ranges: IntervalSet): IntervalSet {
  if (ranges.length <= limits.backfill) return ranges
  const between = ranges.map(([from], index) => Number(BigInt(from) - BigInt(ranges[index - 1]?.[1] ?? 0)))
  const narrow = between.indexOf(Math.min(...between.slice(1)), 1)
  const [low, high] = [ranges[narrow - 1], ranges[narrow]]
  return low && high ? fewer(addInterval(ranges, low[0], high[1])) : ranges
}
