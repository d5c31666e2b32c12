import { defined } from '../defined.ts'
import { bounded, byFirst, clip, compare, gapAt, hasGap, limits, mark, newGap, punch, sortedSet, withoutCounted } from './gaps.ts'
import {
  hasNumber,
  intersection,
  type Intervals,
  type IntervalSet,
  joinIntervals,
  missingBetween,
  overlapping,
  overlaps,
  parse,
  subtractIntervals,
  union,
  without,
} from './intervals.ts'
import { bringBack, bringBackAll, intervalsOutside, isAnyOutside, outsideReason } from './outside-window.ts'
import { firstIn, heightOf } from './places.ts'
import type { Finding, GapState, OpenNumber, Reading, StreamAnswer, StreamCount, StreamException, StreamState } from './stream.ts'

export interface StreamStep {
  readonly state: StreamState
  readonly answer: StreamAnswer
}

export const done = (state: StreamState): StreamStep => ({ state, answer: { kind: 'done' } })
export const present = (state: StreamState): StreamStep => ({ state, answer: { kind: 'present' } })
export const refused = (state: StreamState, detail: string): StreamStep => ({ state, answer: { kind: 'refused', detail } })

/**
 * Number of transfers that may be opened now. Parked numbers in `open` count only against `limits.open`. Numbers
 * outside the window do not count.
 */
export function room({ open, maxOpen }: StreamState): number {
  const active = open.filter(({ parked }) => parked === undefined).length
  return Math.max(0, Math.min(maxOpen - active, limits.open - open.length))
}

const isExcepted = ({ exceptions }: StreamState, number: string) => exceptions.some((one) => one.number === number)

export function isUnresolved(state: StreamState, number: string): boolean {
  return hasGap(state.gaps, BigInt(number)) || isStarted(state, number)
}

export function isStarted(state: StreamState, number: string): boolean {
  return state.open.some((one) => one.number === number) || outsideReason(state, number) !== undefined
}

const highest = String(2n ** 64n - 1n)
const mostBlocks = heightOf(highest)

/** Numbers whose transfers may be unknown: all from `next` on or, in a placed stream, those of unread blocks. */
export function unread({ config, first, next, cursor, backfill: { left } }: StreamState): IntervalSet {
  if (!config.placed) return [[next, highest]]
  const blocks = cursor ? [...left, [cursor.height + 1, mostBlocks] as const] : [[0, mostBlocks] as const]
  const numbers = blocks.map(([from, to]) => [later(String(firstIn(from)), first), String(firstIn(to) + firstIn(1) - 1n)] as const)
  const possible = numbers.filter(([from, to]) => compare(from, to) <= 0)
  return union([], possible)
}

/** Whether the number's transfer must be started when the source shows the number. */
export function isWanted(state: StreamState, number: string): boolean {
  return isUnresolved(state, number) || (hasNumber(unread(state), number) && !isExcepted(state, number))
}

export function isResolved(state: StreamState, number: string): boolean {
  const isKnown = BigInt(number) >= BigInt(state.config.first) && !hasNumber(unread(state), number)
  return isKnown && !isUnresolved(state, number) && !isExcepted(state, number)
}

export function countedOf({ open, gaps, outside }: StreamState, number: string): OpenNumber['counted'] {
  const holder = open.find((one) => one.number === number) ?? gapAt(gaps, BigInt(number)) ?? outsideReason({ outside }, number)
  return holder?.counted === undefined ? undefined : holder.counted > 0 ? 1 : 0
}

export function isAnyWanted(state: StreamState, numbers: IntervalSet): boolean {
  const { gaps, open, exceptions } = state
  const excepted = sortedSet(exceptions.map(({ number }) => [number, number]))
  return numbers.some(([from, to]) => {
    const isWithin = (low: string, high: string) => compare(low, to) <= 0 && compare(from, high) <= 0
    if (gaps.some((one) => isWithin(one.from, one.to)) || open.some(({ number }) => isWithin(number, number))) return true
    if (isAnyOutside(state, from, to)) return true
    const isNew = (low: string, high: string) => missingBetween(excepted, later(from, low), earlier(to, high)).length > 0
    return unread(state).some(([low, high]) => isNew(low, high))
  })
}

export const later = (a: string, b: string) => (compare(a, b) > 0 ? a : b)
export const earlier = (a: string, b: string) => (compare(a, b) < 0 ? a : b)

interface Draft {
  state: StreamState
  readonly delivered: Intervals
  readonly ignored: Intervals
  readonly open: Map<string, OpenNumber>
}

/** The state with the finding. Undefined if the stream has no room. */
export function learn(state: StreamState, finding: Finding, at: number): StreamState | undefined {
  const [delivered, ignored] = [parse(finding.delivered ?? []), parse(finding.ignored ?? [])]
  const draft: Draft = { state, delivered, ignored, open: new Map(state.open.map((one) => [one.number, one])) }
  for (const [number, height] of [...finding.numbers].sort(([a], [b]) => compare(a, b))) learnOne(draft, number, height, at)
  const opened = [...draft.open.values()].sort((a, b) => compare(a.number, b.number))
  const added = opened.length - state.open.filter(({ number }) => draft.open.has(number)).length
  return added > room(state) ? undefined : bounded({ ...draft.state, open: opened })
}

function learnOne(draft: Draft, number: string, height: number | undefined, at: number): void {
  const { open } = draft
  const known = open.get(number)
  const isOutside = outsideReason(draft.state, number) !== undefined
  const isNew = hasNumber(unread(draft.state), number) || hasGap(draft.state.gaps, BigInt(number))
  if (!isNew && !known && !isOutside) return
  const { placed } = draft.state.config
  // The stream may have counted this number's outcome when it read the block before.
  const isAgain = placed && isNew && compare(number, draft.state.next) < 0
  const end = endOf(draft, number)
  const counted = known ? known.counted : countedOf(draft.state, number)
  const isCounted = end === 'completed' ? counted === 1 : counted !== undefined
  if (isNew) draft.state = withoutGap(draft.state, BigInt(number), at, end === 'completed' || isExcepted(draft.state, number))
  const { unknownCompletions, marks } = draft.state
  const early = hasNumber(unknownCompletions, number)
  draft.state = { ...draft.state, unknownCompletions: without(unknownCompletions, number, number) }
  if (end) {
    open.delete(number)
    draft.state = count(bringBack(draft.state, number, number, end === 'completed'), end, isCounted || isAgain ? 0 : 1)
  } else if (isNew && isExcepted(draft.state, number)) {
    // The number stays an exception. It is new here because a checkpoint listed it, or because a merged gap includes
    // it.
    open.delete(number)
  } else if (known) {
    if (height !== undefined) open.set(number, { ...known, height: known.height ?? height })
  } else if (!isOutside) open.set(number, { number, ...defined({ height, early: early || undefined, counted }) })
  if (height !== undefined && !placed) draft.state = { ...draft.state, marks: mark(marks, number, height) }
}

function withoutGap(state: StreamState, number: bigint, at: number, isCountedOne: boolean): StreamState {
  const next = BigInt(state.next)
  const gaps = isCountedOne ? withoutCounted(state.gaps, number) : state.gaps
  if (number < next) return { ...state, gaps: punch(gaps, String(number), String(number)) }
  const gap = number > next && !state.config.placed ? [newGap(state, next, number - 1n, 'unasked', at)] : []
  return { ...state, gaps: [...state.gaps, ...gap], next: String(number + 1n) }
}

export function withPassed(state: StreamState, reading: Reading): Finding {
  const above = state.exceptions.filter(({ number }) => compare(number, state.next) >= 0 && hasNumber(reading.passed, number))
  return { ...reading, numbers: [...reading.numbers, ...above.map(({ number }) => [number] as const)] }
}

function endOf({ delivered, ignored }: Draft, number: string): 'completed' | 'ignored' | undefined {
  if (overlaps(delivered, BigInt(number))) return 'completed'
  return overlaps(ignored, BigInt(number)) ? 'ignored' : undefined
}

/**
 * Turns resolved numbers into gaps, even below a trusted watermark. Call `bounded` afterwards, because the result may
 * exceed limits.
 */
export function reopen(state: StreamState, numbers: IntervalSet, at: number, why: GapState = 'undone'): StreamState {
  const known = missingBetween([], state.config.first, String(BigInt(state.next) - 1n))
  const wanted = intersection(parse(numbers), parse(known))
  const [first, last] = [wanted[0], wanted.at(-1)]
  if (!first || !last) return state
  const single = [...state.open, ...state.exceptions].map(({ number }) => [number, number] as const)
  const gaps = state.gaps.map((one) => [one.from, one.to] as const)
  const outside = intervalsOutside(state, ({ condensed }) => !condensed).flatMap((one) => overlapping(one, first[0], last[1]))
  const missing = subtractIntervals(wanted, joinIntervals([...parse([...gaps, ...single]), ...outside]))
  const reopened = missing.map(([from, to]) => newGap(state, from, to, why, at))
  return reopened.length === 0 ? state : { ...bringBackAll(state, missing), gaps: [...state.gaps, ...reopened].sort(byFirst) }
}

export function except(state: StreamState, exception: StreamException): StreamState {
  const { number, outcome } = exception
  const open = state.open.filter((one) => one.number !== number)
  const unknownCompletions = without(state.unknownCompletions, number, number)
  const resolved = bounded({ ...bringBack(state, number, number), open, gaps: punch(state.gaps, number, number), unknownCompletions })
  const listed = { ...exception, reason: clip(exception.reason), ...(exception.by !== undefined && { by: clip(exception.by) }) }
  const exceptions = [...state.exceptions.filter((one) => one.number !== number), listed]
  const firstOther = exceptions.findIndex((one) => !isOrdered(one))
  const kept = exceptions.length > limits.exceptions ? exceptions.toSpliced(Math.max(0, firstOther), 1) : exceptions
  return count({ ...resolved, exceptions: kept }, outcome, countedOf(state, number) === undefined ? 1 : 0)
}

const isOrdered = ({ outcome }: StreamException) => outcome === 'cancelled' || outcome === 'skipped'

/** Whether `exceptions` still lists every cancelled and every skipped number. Other exceptions are dropped first. */
export function listsAllOrders({ exceptions, counts }: Pick<StreamState, 'exceptions' | 'counts'>): boolean {
  const listed = exceptions.filter(isOrdered).length
  return listed < limits.exceptions && counts.cancelled + counts.skipped <= listed
}

export function count(state: StreamState, what: StreamCount, by = 1): StreamState {
  return { ...state, counts: { ...state.counts, [what]: state.counts[what] + by } }
}
