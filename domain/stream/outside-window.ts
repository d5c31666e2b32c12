import { countIn, type Intervals, type IntervalSet, joinIntervals, overlaps, pack, subtractIntervals, toSet, unpack } from './intervals.ts'
import type { OutsideNumbers, StreamState } from './stream.ts'

/** Maximum bytes for the numbers outside the window: about 8,000 intervals of numbers that are close together. */
export const maxOutsideBytes = 24 * 1024
const crowdedBytes = maxOutsideBytes / 2

type Outside = Pick<StreamState, 'outside'>
type Reason = Pick<OutsideNumbers, 'code' | 'waits'>

/** Caches unpacked intervals by their immutable value, since each request needs them several times. */
const unpacked = new WeakMap<OutsideNumbers, Intervals>()

function intervalsOf(numbers: OutsideNumbers): Intervals {
  const known = unpacked.get(numbers) ?? unpack(numbers.packed)
  unpacked.set(numbers, known)
  return known
}

function withIntervals(numbers: OutsideNumbers, intervals: Intervals): OutsideNumbers {
  const changed = { ...numbers, packed: pack(intervals) }
  unpacked.set(changed, intervals)
  return changed
}

export function outsideReason({ outside }: Outside, number: string): OutsideNumbers | undefined {
  return outside.find((one) => overlaps(intervalsOf(one), BigInt(number)))
}

export function isAnyOutside({ outside }: Outside, from: string, to: string): boolean {
  return outside.some((one) => overlaps(intervalsOf(one), BigInt(from), BigInt(to)))
}

/** Moves a number outside the window. The reason replaces any earlier one. Undefined: there is no room. */
export function moveOutside(state: StreamState, number: string, { code, waits }: Reason): StreamState | undefined {
  const others = bringBack(state, number, number).outside
  const isSame = (one: OutsideNumbers) => one.code === code && one.waits === waits
  const before = others.find(isSame) ?? { code, ...(waits && { waits }), packed: '' }
  const after = withIntervals(before, joinIntervals([...intervalsOf(before), [BigInt(number), BigInt(number)]]))
  const outside = [...others.filter((one) => !isSame(one)), after]
  return bytesOf(outside) > maxOutsideBytes ? undefined : { ...state, outside }
}

export function bringBack(state: StreamState, from: string, to: string): StreamState {
  if (!isAnyOutside(state, from, to)) return state
  const left = state.outside.flatMap((one) => {
    const intervals = subtractIntervals(intervalsOf(one), [[BigInt(from), BigInt(to)]])
    return intervals.length > 0 ? [withIntervals(one, intervals)] : []
  })
  return { ...state, outside: left }
}

export function lowestOutside({ outside }: Outside): { readonly number: string; readonly why: OutsideNumbers } | undefined {
  const lowest = outside.map((why) => ({ number: intervalsOf(why)[0]?.[0] ?? 0n, why })).sort((a, b) => (a.number < b.number ? -1 : 1))[0]
  return lowest && { number: String(lowest.number), why: lowest.why }
}

export function countOutside({ outside }: Outside): readonly { readonly why: OutsideNumbers; readonly count: number }[] {
  return outside.map((why) => ({ why, count: Number(countIn(intervalsOf(why))) }))
}

export function intervalsOutside({ outside }: Outside, isWanted: (why: OutsideNumbers) => boolean = () => true): readonly Intervals[] {
  return outside.filter(isWanted).map(intervalsOf)
}

export const setOutside = (numbers: OutsideNumbers): IntervalSet => toSet(intervalsOf(numbers))

export const isCrowded = ({ outside }: Outside): boolean => bytesOf(outside) > crowdedBytes

function bytesOf(outside: readonly OutsideNumbers[]): number {
  return outside.reduce((sum, { packed, code }) => sum + packed.length + code.length + 32, 0)
}
