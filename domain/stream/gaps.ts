import { defined } from '../defined.ts'
import { invisible, utf8Bytes } from '../text/printable.ts'
import { portageItself } from '../order.ts'
import {
  addInterval,
  countNumbers,
  intersection,
  type Intervals,
  type IntervalSet,
  overlapping,
  parse,
  subtractIntervals,
  toSet,
} from './intervals.ts'
import { boundedOutside, bringBack, sumCounted, uncounted, withCounted } from './outside-window.ts'
import { heightOf } from './places.ts'
import type { Gap, StreamState } from './stream.ts'

type Marks = StreamState['marks']

/**
 * Maximum number of items in each list (`text`: of bytes). Without the numbers outside the window, a full state is
 * below 80 KiB.
 */
export const limits = { open: 360, gaps: 80, unknownCompletions: 48, exceptions: 40, marks: 32, backfill: 32, text: 60 } as const

export const gapAt = (gaps: readonly Gap[], number: bigint) => gaps.find(({ from, to }) => BigInt(from) <= number && number <= BigInt(to))
export const hasGap = (gaps: readonly Gap[], number: bigint) => gapAt(gaps, number) !== undefined
export const gapSize = ({ from, to }: Pick<Gap, 'from' | 'to'>) => BigInt(to) - BigInt(from) + 1n
export const byFirst = (a: Gap, b: Gap) => compare(a.from, b.from)

export function newGap(stream: StreamState, from: bigint, to: bigint, state: Gap['state'], at: number): Gap {
  return { from: String(from), to: String(to), state, ...defined({ height: heightAt(stream, from) }), at }
}

const withGapCounted = (gap: Gap, counted = gap.counted) => withCounted(gap, counted, gapSize(gap))

export function withoutCounted(gaps: readonly Gap[], number: bigint): readonly Gap[] {
  const gap = gapAt(gaps, number)
  return gaps.map((one) => (one === gap && one.counted ? withGapCounted(one, one.counted - 1) : one))
}

/** Replaces the part of each gap within `from` … `to` by the result of `into`. Without `into`, removes the part. */
export function punch(gaps: readonly Gap[], from: string, to: string, into?: (part: Gap) => Gap): readonly Gap[] {
  return punchAll(gaps, parse([[from, to]]), into)
}

export function punchAll(gaps: readonly Gap[], all: Intervals, into?: (part: Gap) => Gap): readonly Gap[] {
  return gaps.flatMap((one) => {
    const whole = parse([[one.from, one.to]])
    const inside = whole.flatMap(([from, to]) => overlapping(all, from, to))
    if (inside.length === 0) return [one]
    const partsOf = (some: Intervals) => toSet(some).map(([from, to]) => withGapCounted({ ...one, from, to }))
    const rest = partsOf(subtractIntervals(whole, inside))
    return into ? [...rest, ...partsOf(intersection(whole, inside)).map(into)].sort(byFirst) : rest
  })
}

/**
 * Joins the two closest gaps while there are too many. A placed stream instead reads the blocks of its lowest gap
 * again.
 */
export function bounded(state: StreamState): StreamState {
  let { gaps, open } = { ...state, gaps: joined(state.gaps) }
  let kept = state
  // The distances are kept in a list, because parsing all numbers at each step would take seconds.
  const distances = gaps.map(({ from }, index) => BigInt(from) - BigInt(gaps[index - 1]?.to ?? 0))
  while (gaps.length > limits.gaps) {
    const [lowest] = gaps
    if (state.config.placed && lowest) {
      kept = backfill(kept, heightOf(lowest.from), heightOf(lowest.to), portageItself)
      gaps = gaps.slice(1)
      continue
    }
    const at = narrowest(distances)
    const [low, high] = [gaps[at - 1], gaps[at]]
    if (!low || !high) break
    distances.splice(at, 1)
    const [least, most] = [BigInt(low.from), BigInt(high.to)]
    const left = open.filter(({ number }) => BigInt(number) < least || BigInt(number) > most)
    const unresolved = uncounted({ ...kept, open }) - uncounted({ ...bringBack(kept, low.from, high.to, true), open: left })
    const { code: _, chain: __, ...lower } = low
    const merged: Gap = { ...lower, to: high.to, state: 'unasked' }
    const between = Number(gapSize(merged) - gapSize(low) - gapSize(high))
    const resolved = between - unresolved
    const marked = [...open.filter((one) => !left.includes(one)), ...kept.outside].some(({ counted }) => counted !== undefined)
    const one = withGapCounted(merged, sumCounted(low, high, ...(resolved > 0 || marked ? [{ counted: resolved }] : [])))
    gaps = [...gaps.slice(0, at - 1), one, ...gaps.slice(at + 1)]
    open = left
    kept = bringBack(kept, low.from, high.to)
  }
  return boundedOutside({ ...kept, gaps, open, unknownCompletions: state.unknownCompletions.slice(0, limits.unknownCompletions) })
}

function joined(gaps: readonly Gap[]): readonly Gap[] {
  return gaps.reduce<Gap[]>((list, one) => {
    const last = list.at(-1)
    const isAlike = last && last.state === one.state && last.code === one.code && last.chain === one.chain
    if (!isAlike || BigInt(last.to) + 1n !== BigInt(one.from)) return [...list, one]
    const both = { ...last, to: one.to, at: Math.min(last.at, one.at) }
    return [...list.slice(0, -1), withGapCounted(both, sumCounted(last, one))]
  }, [])
}

/**
 * Index of the shortest distance, or of the last one if several are equal. The first distance does not count, because
 * it is not between two gaps.
 */
function narrowest(distances: readonly bigint[]): number {
  let [best, least] = [1, distances[1] ?? 0n]
  distances.forEach((distance, index) => {
    if (index > 0 && distance <= least) [best, least] = [index, distance]
  })
  return best
}

/** Adds a mark. A height keeps its first and last mark. A full list drops every other mark of its older half. */
export function mark(marks: Marks, number: string, height: number): Marks {
  const [before, last] = marks.slice(-2)
  const isHigher = !last || compare(last[0], number) < 0
  if (isHigher && before?.[1] === height && last?.[1] === height) return [...marks.slice(0, -1), [number, height]]
  if (!isHigher && marks.some(([known]) => known === number)) return marks
  const all = [...marks, [number, height] as const]
  if (!isHigher) all.sort(([a], [b]) => compare(a, b))
  const half = limits.marks / 2
  return all.length <= limits.marks ? all : [...all.slice(0, half).filter((_, index) => index % 2 === 0), ...all.slice(half)]
}

/** The lowest block that can contain the number. */
export function heightAt({ marks, config }: Pick<StreamState, 'marks' | 'config'>, number: bigint): number | undefined {
  if (config.placed) return heightOf(number)
  return marks.findLast(([known]) => BigInt(known) < number)?.[1] ?? config.start
}

/** Adds blocks below the live scan to the backfill. Any process may read them (MIP-61's BOOTSTRAP). */
export function backfill(state: StreamState, from: number, to: number, by: string): StreamState {
  const end = Math.min(to, state.cursor?.height ?? to)
  if (from > end) return state
  const { left, ordered } = state.backfill
  const more = fewer(addInterval(left, String(from), String(end)))
  const added = Number(countNumbers(more) - countNumbers(left))
  return { ...state, backfill: { left: more, ordered: (left.length === 0 ? 0 : ordered) + added, by: clip(by) } }
}

export function fewer(ranges: IntervalSet): IntervalSet {
  if (ranges.length <= limits.backfill) return ranges
  const between = ranges.map(([from], index) => Number(BigInt(from) - BigInt(ranges[index - 1]?.[1] ?? 0)))
  const narrow = between.indexOf(Math.min(...between.slice(1)), 1)
  const [low, high] = [ranges[narrow - 1], ranges[narrow]]
  return low && high ? fewer(addInterval(ranges, low[0], high[1])) : ranges
}

export function clip(text: string): string {
  let [kept, bytes] = ['', 0]
  for (const sign of text.replaceAll(invisible(), ' ')) {
    bytes += sign === '"' || sign === '\\' ? 2 : utf8Bytes(sign)
    if (bytes > limits.text) break
    kept += sign
  }
  return kept
}

export const compare = (a: string, b: string): number => (BigInt(a) < BigInt(b) ? -1 : BigInt(a) > BigInt(b) ? 1 : 0)
export const max = (a: bigint, b: bigint): bigint => (a > b ? a : b)
export const min = (a: bigint, b: bigint): bigint => (a < b ? a : b)
export const sortedSet = (items: readonly (readonly [from: string, to: string])[]): IntervalSet =>
  items.toSorted(([a], [b]) => compare(a, b))
