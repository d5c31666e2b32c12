import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { trendOf } from '../../../lab/soak/slope.ts'

const limit = { part: 0.1, least: 5 }
const readings = (value: (at: number) => number, count = 120) =>
  Array.from({ length: count }, (_, index) => ({ at: index * 60, value: value(index * 60) }))
/** Memory with a garbage collector: it rises for ten minutes, then falls. */
const sawtooth = (at: number) => 200 + (at % 600) / 20

describe('the trend of readings', () => {
  test('readings that rise and fall are flat', () => {
    expect(trendOf(readings(sawtooth), 1_800, limit)).toMatchObject({ isFlat: true, samples: 90 })
  })

  test('a leak of a third below the saw of a garbage collector grows', () => {
    const leak = trendOf(
      readings((at) => sawtooth(at) + at / 100),
      1_800,
      limit,
    )
    expect(leak).toMatchObject({ isFlat: false })
    expect(leak?.growth).toBeGreaterThan(40)
  })

  test('growth in the warm-up does not count', () => {
    expect(
      trendOf(
        readings((at) => Math.min(at, 1_800)),
        1_800,
        limit,
      ),
    ).toMatchObject({ isFlat: true, growth: 0 })
  })

  test('too few readings show no trend', () => {
    expect(
      trendOf(
        readings(() => 1, 7),
        0,
        limit,
      ),
    ).toBeUndefined()
    expect(
      trendOf(
        readings(() => 1, 8),
        0,
        limit,
      ),
    ).toMatchObject({ isFlat: true })
  })

  test('a quarter of readings that are far too high changes no trend', () => {
    fc.assert(
      fc.property(fc.uniqueArray(fc.nat(119), { maxLength: 30 }), fc.integer({ min: 1_000, max: 1_000_000 }), (high, more) => {
        const noisy = readings((at) => 1_000 + at / 10_000).map((one, index) => (high.includes(index) ? { ...one, value: more } : one))
        expect(Math.abs(trendOf(noisy, 0, limit)?.growth ?? NaN)).toBeLessThan(100)
      }),
    )
  })
})
