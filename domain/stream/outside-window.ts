import { defined } from '../defined.ts'
import {
  countIn,
  type Intervals,
  type IntervalSet,
  joinIntervals,
  overlaps,
  pack,
  parse,
  subtractIntervals,
  toSet,
  unpack,
  withNumber,
  withoutInterval,
} from './intervals.ts'
import { awaitsNewSignatures } from '../catalogue/errors.ts'
import type { OutsideNumbers, StreamState } from './stream.ts'

/** Maximum size of the packed lists: room for about 8,000 intervals that are close to each other. */
export const maxOutsideBytes = 24 * 1024
const crowdedBytes = maxOutsideBytes / 2

type Outside = Pick<StreamState, 'outside'>
type Reason = Pick<OutsideNumbers, 'code' | 'waits'>

interface Unpacked {
  readonly intervals: Intervals
  readonly size: bigint
}

/** A cache: each request needs the intervals several times, and an `OutsideNumbers` object never changes. */
const unpacked = new WeakMap<OutsideNumbers, Unpacked>()

function unpackedOf(numbers: OutsideNumbers): Unpacked {
  const known = unpacked.get(numbers)
  if (known) return known
  const intervals = unpack(numbers.packed)
  const made = { intervals, size: countIn(intervals) }
  unpacked.set(numbers, made)
  return made
}

const intervalsOf = (numbers: OutsideNumbers): Intervals => unpackedOf(numbers).intervals
const sizeOf = (numbers: OutsideNumbers): number => Number(unpackedOf(numbers).size)

/** Sets `counted`, to at most `size`. A `counted` of 0 differs from an absent one (see `OutsideNumbers`). */
export function withCounted<Numbers extends { readonly counted?: number }>(
  numbers: Numbers,
  counted: number | undefined,
  size: bigint,
): Numbers {
  const left = counted === undefined ? numbers.counted : Math.min(counted, Number(size))
  return left === numbers.counted ? numbers : { ...numbers, counted: left }
}

/** Sum of `counted`. Undefined if no part has numbers that `counts` may already include. */
export function sumCounted(...parts: readonly { readonly counted?: number }[]): number | undefined {
  return parts.reduce<number | undefined>((sum, { counted }) => (counted === undefined ? sum : (sum ?? 0) + counted), undefined)
}

function withIntervals(numbers: OutsideNumbers, intervals: Intervals, counted = numbers.counted): OutsideNumbers {
  const size = countIn(intervals)
  const changed = withCounted({ ...numbers, packed: pack(intervals) }, counted, size)
  unpacked.set(changed, { intervals, size })
  return changed
}

export function outsideReason({ outside }: Outside, number: string): OutsideNumbers | undefined {
  return outside.find((one) => overlaps(intervalsOf(one), BigInt(number)))
}

export function isAnyOutside({ outside }: Outside, from: string, to: string): boolean {
  return outside.some((one) => overlaps(intervalsOf(one), BigInt(from), BigInt(to)))
}

export function moveOutside(state: StreamState, number: string, { code, waits }: Reason, counted?: number): StreamState {
  const isSame = (one: OutsideNumbers) => one.code === code && one.waits === waits && !one.condensed
  const now = outsideReason(state, number)
  if (now && isSame(now)) return state
  const others = bringBack(state, number, number).outside
  const before = others.find(isSame) ?? { code, ...defined({ waits }), packed: '' }
  const intervals = withNumber(intervalsOf(before), BigInt(number))
  const after = withIntervals(before, intervals, sumCounted(before, defined({ counted })))
  const outside = [...others.filter((one) => !isSame(one)), after]
  return boundedOutside({ ...state, open: state.open.filter((one) => one.number !== number), outside })
}

/**
 * Limits the size of `outside`, because strangers can cause parked transfers. Intervals that are close to each other
 * are joined. A later audit corrects the joined intervals.
 */
export function boundedOutside(state: StreamState): StreamState {
  const { outside, open, gaps, exceptions } = state
  if (bytesOf(outside) <= maxOutsideBytes) return state
  const apart = outside.filter(({ code }) => awaitsNewSignatures(code))
  const kept = bytesOf(apart) > crowdedBytes / 2 ? [] : apart
  const merged = outside.filter((one) => !kept.includes(one))
  const code = merged.toSorted((a, b) => b.packed.length - a.packed.length)[0]?.code ?? ''
  const intervals = joinIntervals(merged.flatMap(intervalsOf))
  const counted = sumCounted(...merged)
  const single = [...open, ...exceptions].map(({ number }) => ({ from: number, to: number }))
  const apartFrom = joinIntervals([...single, ...gaps].map(toInterval))
  for (let reach = 2n; ; reach *= 2n) {
    const bridged = bridge(intervals, apartFrom, reach)
    const between = Number(countIn(bridged) - countIn(intervals))
    const one = withIntervals({ code, condensed: true, packed: '' }, bridged, between > 0 ? (counted ?? 0) + between : counted)
    const condensed = [...kept, one]
    if (bytesOf(condensed) <= crowdedBytes || reach > highestDistance) return { ...state, outside: condensed }
  }
}

const highestDistance = 1n << 64n
const toInterval = ({ from, to }: { readonly from: string; readonly to: string }) => [BigInt(from), BigInt(to)] as const

function bridge(intervals: Intervals, between: Intervals, reach: bigint): Intervals {
  const joined: [bigint, bigint][] = []
  for (const [from, to] of intervals) {
    const last = joined.at(-1)
    if (last && from - last[1] <= reach && !overlaps(between, last[1] + 1n, from - 1n)) last[1] = to
    else joined.push([from, to])
  }
  return joined
}

/** @param areCompleted if true, `counted` falls by the count of the removed numbers */
export function bringBack(state: StreamState, from: string, to: string, areCompleted = false): StreamState {
  return bringBackAll(state, parse([[from, to]]), areCompleted)
}

/** Removes the numbers of `all`, which is sorted, from `outside`. */
export function bringBackAll(state: StreamState, all: Intervals, areCompleted = false): StreamState {
  if (!all.some(([from, to]) => state.outside.some((one) => overlaps(intervalsOf(one), from, to)))) return state
  const [[from, to] = [0n, 0n]] = all
  const left = state.outside.flatMap((one) => {
    const known = intervalsOf(one)
    const intervals = all.length === 1 ? withoutInterval(known, from, to) : subtractIntervals(known, all)
    const taken = areCompleted ? sizeOf(one) - Number(countIn(intervals)) : 0
    return intervals.length > 0
      ? [withIntervals(one, intervals, one.counted === undefined ? undefined : Math.max(0, one.counted - taken))]
      : []
  })
  return { ...state, outside: left }
}

export function lowestOutside({ outside }: Outside): { readonly number: string; readonly why: OutsideNumbers } | undefined {
  const lowest = outside.map((why) => ({ number: intervalsOf(why)[0]?.[0] ?? 0n, why })).sort((a, b) => (a.number < b.number ? -1 : 1))[0]
  return lowest && { number: String(lowest.number), why: lowest.why }
}

/**
 * Number of transfers in each item of `outside`. In a placed stream, the `counted` numbers of a condensed item are left
 * out, because most of them are places without a log.
 */
export function countOutside({ outside, config }: Pick<StreamState, 'outside' | 'config'>) {
  const nothing = ({ condensed, counted = 0 }: OutsideNumbers) => (config.placed && condensed ? counted : 0)
  return outside.map((why) => ({ why, count: sizeOf(why) - nothing(why) }))
}

/** Number of started transfers that `counts` cannot include yet. */
export function uncounted({ open, outside }: Pick<StreamState, 'open' | 'outside'>): number {
  const opened = open.filter(({ counted }) => !counted).length
  return outside.reduce((sum, one) => sum + sizeOf(one) - (one.counted ?? 0), opened)
}

export function intervalsOutside({ outside }: Outside, isWanted: (why: OutsideNumbers) => boolean = () => true): readonly Intervals[] {
  return outside.filter(isWanted).map(intervalsOf)
}

export const setOutside = (numbers: OutsideNumbers): IntervalSet => toSet(intervalsOf(numbers))

export const isCrowded = ({ outside }: Outside): boolean => bytesOf(outside) > crowdedBytes || outside.some(({ condensed }) => condensed)

function bytesOf(outside: readonly OutsideNumbers[]): number {
  return outside.reduce((sum, { packed, code }) => sum + packed.length + code.length + 32, 0)
}
