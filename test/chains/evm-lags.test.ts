import { describe, expect, test } from 'vitest'
import { comparedHeight, lagOf, medianOf } from '../../chains/heads.ts'

const lagsOf = (heights: readonly (number | undefined)[], readers: number, known?: number) =>
  heights.map((height) => lagOf(height, comparedHeight(heights, readers, known)))

test('the middle of two values is the lower, and one of three cannot choose it', () => {
  expect(
    [
      [100, 90],
      [90, 100],
      [100, 90, 95],
      [10n ** 20n, 7n],
      [5, 1, 9, 3],
    ].map((values) => medianOf<number | bigint>(values)),
  ).toEqual([90, 90, 95, 7n, 3])
  expect(medianOf([])).toBeUndefined()
})

describe('how far nodes lag', () => {
  test('nodes lag behind the head that more than half of them have reached', () => {
    expect(lagsOf([100, 98, 90], 3)).toEqual([0, 0, 8])
    expect(lagsOf([100, undefined, 90], 3)).toEqual([0, undefined, 0])
    expect(lagsOf([undefined, undefined], 2)).toEqual([undefined, undefined])
  })

  test("one node's high head makes no other node lag, and far above the others it counts as far away", () => {
    const absurd = 1_000_000
    expect(lagsOf([absurd, 100, 98], 3)).toEqual([absurd - 100, 0, 2])
    expect(lagsOf([absurd, 100, undefined], 3)).toEqual([absurd - 100, 0, undefined])
    expect(lagsOf([absurd, 100], 2, 99)).toEqual([absurd - 100, 0])
    expect(lagsOf([950 + 49, 950, 950], 3)).toEqual([0, 0, 0])
  })

  test('after a sleep, most nodes are far above the cached head, and are believed', () => {
    expect(lagsOf([90_000, 90_001, 100], 3)).toEqual([0, 0, 89_900])
  })

  test('without a cached head, the higher of two nodes counts, because the other may be syncing', () => {
    expect(lagsOf([90_000, 100], 2)).toEqual([0, 89_900])
  })
})
