import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  addInterval,
  countIn,
  countNumbers,
  hasNumber,
  type Interval,
  type Intervals,
  type IntervalSet,
  joinIntervals,
  missingBetween,
  overlaps,
  pack,
  setOf,
  subtractIntervals,
  subtractNumbers,
  takeNumbers,
  union,
  unpack,
  withNumber,
  without,
  withoutInterval,
} from '../../domain/stream/intervals.ts'

/** A number above 2^53, where JavaScript's numbers are not exact. */
const base = 2n ** 63n
const size = 70
const text = (offset: number) => String(base + BigInt(offset))
const spans = fc.array(
  fc.tuple(fc.nat(60), fc.nat(6)).map(([from, length]) => [from, from + length] as const),
  { maxLength: 30 },
)
type Spans = readonly (readonly [number, number])[]

function model(list: Spans): Set<number> {
  return new Set(list.flatMap(([from, to]) => Array.from({ length: to - from + 1 }, (_, index) => from + index)))
}

const bigs = (list: Spans): readonly Interval[] => list.map(([from, to]) => [base + BigInt(from), base + BigInt(to)])
const joined = (list: Spans) => joinIntervals(bigs(list))
const setBuilt = (list: Spans): IntervalSet => list.reduce<IntervalSet>((set, [from, to]) => addInterval(set, text(from), text(to)), [])

function expectIntervals(intervals: Intervals, isWanted: (offset: number) => boolean): void {
  for (let offset = 0; offset < size; offset++) expect(overlaps(intervals, base + BigInt(offset))).toBe(isWanted(offset))
  expect(intervals.every(([from, to]) => from <= to)).toBe(true)
  expect(intervals.every(([from], index) => index === 0 || from > (intervals[index - 1]?.[1] ?? 0n) + 1n)).toBe(true)
}

function expectSet(set: IntervalSet, isWanted: (offset: number) => boolean): void {
  for (let offset = 0; offset < size; offset++) expect(hasNumber(set, text(offset))).toBe(isWanted(offset))
}

describe('intervals', () => {
  test('one number is added, and one interval taken, as many would be', () => {
    fc.assert(
      fc.property(spans, fc.nat(60), fc.nat(6), (list, from, length) => {
        const [all, low, high] = [joined(list), base + BigInt(from), base + BigInt(from + length)]
        expect(withNumber(all, low)).toEqual(joinIntervals([...all, [low, low]]))
        expect(withoutInterval(all, low, high)).toEqual(subtractIntervals(all, [[low, high]]))
      }),
    )
  })

  test('joined intervals have exactly the numbers of all of them, ascending and apart', () => {
    fc.assert(
      fc.property(spans, (list) => {
        const wanted = model(list)
        expectIntervals(joined(list), (offset) => wanted.has(offset))
        expect(countIn(joined(list))).toBe(BigInt(wanted.size))
      }),
    )
  })

  test('subtraction leaves the numbers that are in none of the others, which may overlap', () => {
    fc.assert(
      fc.property(spans, spans, (list, others) => {
        const [wanted, cut] = [model(list), model(others)]
        const sorted = bigs(others).toSorted(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0))
        const isLeft = (offset: number) => wanted.has(offset) && !cut.has(offset)
        expectIntervals(subtractIntervals(joined(list), sorted), isLeft)
        const numbers = [...cut].map((offset) => base + BigInt(offset))
        expectIntervals(subtractNumbers(joined(list), numbers), isLeft)
      }),
    )
  })

  test('an interval overlaps a set if they share a number', () => {
    fc.assert(
      fc.property(spans, fc.nat(60), fc.nat(6), (list, from, length) => {
        const wanted = model(list)
        const isShared = [...model([[from, from + length]])].some((offset) => wanted.has(offset))
        expect(overlaps(joined(list), base + BigInt(from), base + BigInt(from + length))).toBe(isShared)
      }),
    )
  })

  test('numbers are taken from one on and then from the lowest, each once', () => {
    fc.assert(
      fc.property(spans, fc.nat(size), fc.nat(40), (list, from, most) => {
        const all = [...model(list)].toSorted((a, b) => a - b)
        const wanted = [...all.filter((one) => one >= from), ...all.filter((one) => one < from)].slice(0, most)
        expect(takeNumbers(joined(list), base + BigInt(from), most)).toEqual(wanted.map((offset) => base + BigInt(offset)))
      }),
    )
  })

  test('packed intervals are unpacked as they were', () => {
    fc.assert(
      fc.property(spans, (list) => {
        expect(unpack(pack(joined(list)))).toEqual(joined(list))
      }),
    )
    expect(
      pack([
        [5n, 9n],
        [13n, 13n],
      ]),
    ).toBe('5x4,4')
    expect(unpack('')).toEqual([])
  })
})

describe('interval sets in JSON', () => {
  test('a set has the numbers that were added in any order, in as few intervals as possible', () => {
    fc.assert(
      fc.property(spans, (list) => {
        const [set, wanted] = [setBuilt(list), model(list)]
        expectSet(set, (offset) => wanted.has(offset))
        expect(countNumbers(set)).toBe(BigInt(wanted.size))
        expect(set).toEqual(joined(list).map(([from, to]) => [String(from), String(to)]))
        expect(setOf([...wanted].map(text))).toEqual(set)
      }),
    )
  })

  test('union, removal and the missing numbers agree with plain sets', () => {
    fc.assert(
      fc.property(spans, spans, fc.nat(60), fc.nat(size), (list, more, first, last) => {
        const [wanted, added] = [model(list), model(more)]
        const isWithin = (offset: number) => offset >= first && offset <= last
        expectSet(union(setBuilt(list), setBuilt(more)), (offset) => wanted.has(offset) || added.has(offset))
        expectSet(missingBetween(setBuilt(list), text(first), text(last)), (offset) => isWithin(offset) && !wanted.has(offset))
        if (first <= last) expectSet(without(setBuilt(list), text(first), text(last)), (offset) => wanted.has(offset) && !isWithin(offset))
      }),
    )
  })

  test('a set survives JSON', () => {
    const set = setBuilt([
      [1, 4],
      [9, 9],
    ])
    expect(JSON.parse(JSON.stringify(set))).toEqual(set)
  })

  test('packed intervals with a number of more than 20 digits, or with 24,600 intervals, are refused', () => {
    const largest = 2n ** 64n - 1n
    const [from, to] = [largest - 1n, largest]
    expect(unpack(pack([[0n, from]]))).toEqual([[0n, from]])
    expect(unpack(pack([[from, to]]))).toEqual([[from, to]])
    expect(() => unpack(`${'9'.repeat(42)},1`)).toThrow(RangeError)
    expect(unpack('2,'.repeat(10_000).slice(0, -1))).toHaveLength(10_000)
    expect(() => unpack('2,'.repeat(24_600).slice(0, -1))).toThrow(RangeError)
  })

  test('a value that is no interval is refused', () => {
    expect(() => addInterval([], '5', '4')).toThrow(new RangeError('5 is above 4'))
    for (const bad of ['', '-1', '1.5', '0x1', '1x', ' 1']) {
      const pairs = [
        [bad, bad],
        [bad, '9'],
        ['0', bad],
      ] as const
      for (const [from, to] of pairs)
        expect(() => addInterval([], from, to)).toThrow(new RangeError(`${from} or ${to} is not a whole number`))
    }
  })
})
