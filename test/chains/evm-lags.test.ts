import { describe, expect, test } from 'vitest'
import { lagsOf } from '../../chains/evm/nodes/head-lags.ts'

describe('how far nodes lag', () => {
  test('behind the best of them', () => {
    expect(lagsOf([100, 98, 90], 3)).toEqual([0, 2, 10])
    expect(lagsOf([100, undefined, 90], 3, 99)).toEqual([0, undefined, 10])
    expect(lagsOf([undefined, undefined], 2)).toEqual([undefined, undefined])
  })

  test('a head that neither ours nor most of them have come near is not the best', () => {
    const absurd = 1_000_000
    expect(lagsOf([absurd, 100, 98], 3)).toEqual([absurd - 100, 0, 2])
    expect(lagsOf([absurd, 100, undefined], 3, 99)).toEqual([absurd - 100, 0, undefined])
    expect(lagsOf([absurd, 100], 2, 99)).toEqual([absurd - 100, 0])
  })

  test('after a sleep most of them are far above our head, and right', () => {
    expect(lagsOf([90_000, 90_001, 100], 3, 100)).toEqual([1, 0, 89_901])
  })

  test('of two without a head of ours the higher one: the other may be syncing', () => {
    expect(lagsOf([90_000, 100], 2)).toEqual([0, 89_900])
  })
})
