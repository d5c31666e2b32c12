import { expect, test } from 'vitest'
import { closesPerSecond, ratesOf, spread } from '../../../lab/bench/statistics.ts'

test('a spread is the least, the middle and the greatest, whatever the order', () => {
  expect(spread([3, 1, 2])).toEqual({ min: 1, median: 2, max: 3 })
  expect(spread([4, 1, 3, 2])).toEqual({ min: 1, median: 2, max: 4 })
  expect(spread([1.2345])).toEqual({ min: 1.23, median: 1.23, max: 1.23 })
  expect(() => spread([])).toThrow('no values')
})

test('a steady 10 per second is 10 per second, whole and sustained', () => {
  const closes = Array.from({ length: 100 }, (_, index) => 1_000 + (index + 1) * 100)
  const { perSecond, sustainedPerSecond } = ratesOf(closes.toReversed(), 1_000)
  expect(perSecond).toBe(10)
  expect(sustainedPerSecond).toBe(10)
})

test('ramp and tail count in the whole rate and not in the sustained one', () => {
  const steady = Array.from({ length: 100 }, (_, index) => 5_000 + index * 10)
  const closes = [...steady.slice(0, 95), ...[1, 2, 3, 4, 5].map((late) => 6_000 + late * 1_000)]
  const { perSecond, sustainedPerSecond } = ratesOf(closes, 0)
  expect(perSecond).toBeCloseTo(100 / 11)
  expect(sustainedPerSecond).toBe(100)
})

test('a value that was not measured is no rate', () => {
  expect(() => ratesOf([1, 2, 3], 0)).toThrow('3 closes are too few')
  expect(() =>
    ratesOf(
      Array.from({ length: 20 }, () => 7),
      0,
    ),
  ).toThrow('at the same time')
})

test('closes are counted per second, and those before the begin in the first', () => {
  expect(closesPerSecond([900, 1_000, 1_999, 4_000], 1_000)).toEqual([3, 0, 0, 1])
  expect(closesPerSecond([], 0)).toEqual([])
})
