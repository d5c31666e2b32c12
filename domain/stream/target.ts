import { defined } from '../defined.ts'
import { orderOf } from '../order.ts'
import { bounded, compare, gapSize, limits } from './gaps.ts'
import {
  countNumbers,
  hasNumber,
  type IntervalSet,
  missingBetween,
  overlaps,
  parse,
  subtractIntervals,
  toSet,
  union,
  without,
} from './intervals.ts'
import { count, countedOf, done, except, isUnresolved, present, refused, reopen, type StreamStep } from './numbers.ts'
import { bringBack, bringBackAll, moveOutside, outsideReason, uncounted } from './outside-window.ts'
import type { OpenNumber, RequestOf, StreamState } from './stream.ts'

/** Resolves numbers that the target has completed, by any account (MIP-61's COMPLETE_EVENT_PROCESSING). */
export function completed(state: StreamState, { numbers, from, to }: RequestOf<'completed'>): StreamStep {
  const all = parse(numbers)
  const isLeft = ({ number }: { readonly number: string }) => !overlaps(all, BigInt(number))
  const [open, exceptions] = [state.open.filter(isLeft), state.exceptions.filter(isLeft)]
  const unknownCompletions = union(state.unknownCompletions, unseen(state, numbers)).slice(0, limits.unknownCompletions)
  const more = unknownCompletions.flatMap(([low, high]) => missingBetween(state.unknownCompletions, low, high))
  // Several agents report the same blocks. A number that the limited list has dropped must not be counted again.
  const isFirst = state.target === undefined || from === state.target + 1
  const follows = state.target === undefined || from <= state.target + 1
  const target = follows ? Math.max(to, state.target ?? 0) : state.target
  const left = bringBackAll(state, all, true)
  const delivered = uncounted(state) - uncounted({ ...left, open })
  const after = { ...left, open, exceptions, unknownCompletions, ...defined({ target }) }
  return done(bounded(count(count(after, 'completed', delivered), 'unknown', isFirst ? Number(countNumbers(more)) : 0)))
}

function unseen({ gaps, next }: StreamState, numbers: IntervalSet): IntervalSet {
  const missing = gaps.map(({ from, to }) => [from, to] as const)
  const known = missingBetween(missing, '0', String(BigInt(next) - 1n))
  return toSet(subtractIntervals(parse(numbers), parse(known)))
}

/** Reopens numbers whose completions a reorg of the target's final blocks has removed. The watermark may fall. */
export function undone(state: StreamState, { numbers }: RequestOf<'undone'>, at: number): StreamStep {
  const unknownCompletions = numbers.reduce((set, [from, to]) => without(set, from, to), state.unknownCompletions)
  const reopened = reopen({ ...state, unknownCompletions }, numbers, at)
  return done(bounded(count(reopened, 'undone', Number(inGaps(reopened) - inGaps(state)))))
}

const inGaps = ({ gaps }: StreamState) => gaps.reduce((sum, gap) => sum + gapSize(gap), 0n)

/** Makes a number an exception. An `undone` number cannot become one before the source shows it again. */
export function closed(state: StreamState, { number, outcome, by, reason }: RequestOf<'closed'>, at: number): StreamStep {
  const undone = state.gaps.some((gap) => gap.state === 'undone' && hasNumber([[gap.from, gap.to]], number))
  if (undone || !isUnresolved(state, number)) return present(state)
  return done(except(state, { number, outcome, ...defined({ by }), reason, at }))
}

/**
 * Moves the number of a parked transfer out of the window. An `early` number stays in `open`, because its delivery must
 * be checked.
 */
export function park(state: StreamState, { number, code, waits }: Omit<RequestOf<'parked'>, 'kind'>): StreamStep {
  const known = state.open.find((one) => one.number === number)
  const outside = outsideReason(state, number)
  if (!known && (!outside || outside.condensed)) return present(state)
  if (!known?.early) return done(moveOutside(state, number, { code, ...defined({ waits }) }, countedOf(state, number)))
  if (waits) return present(state)
  return done({ ...state, open: state.open.map((one) => (one === known ? { ...one, parked: code } : one)) })
}

export function unpark(state: StreamState, number: string): StreamStep {
  if (outsideReason(state, number)) {
    if (state.open.length >= limits.open) return present(state)
    const known = { number, ...defined({ counted: countedOf(state, number) }) }
    const open = [...state.open, known].sort((a, b) => compare(a.number, b.number))
    return done({ ...bringBack(state, number, number), open })
  }
  if (!state.open.some((one) => one.number === number)) return present(state)
  const running = ({ parked: _, ...rest }: OpenNumber) => rest
  return done({ ...state, open: state.open.map((one) => (one.number === number ? running(one) : one)) })
}

export function skip(state: StreamState, request: RequestOf<'skip' | 'unskip'>, at: number): StreamStep {
  const { number } = request
  const { by, reason } = orderOf(request, 'update')
  if (compare(number, state.next) >= 0) return refused(state, `${number} is not known to exist: the highest number is below ${state.next}`)
  if (!isUnresolved(state, number)) return present(state)
  return done(except(state, { number, outcome: 'skipped', by, reason, at }))
}

export function unskip(state: StreamState, number: string, at: number): StreamStep {
  const exceptions = state.exceptions.filter((one) => one.number !== number)
  return done(bounded(reopen({ ...state, exceptions }, [[number, number]], at)))
}
