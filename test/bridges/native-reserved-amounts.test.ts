import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { createReservedAmounts } from '../../bridges/native-bridge/inbound.ts'

describe('amounts that were let through and are not on the chain', () => {
  test('the reserved amount is the sum of the amounts that passed, less those released or lapsed', () => {
    const step = fc.oneof(
      fc.record({ kind: fc.constant('take' as const), id: fc.constantFrom('a', 'b', 'c', 'd'), amount: fc.bigInt(1n, 99n) }),
      fc.record({ kind: fc.constant('drop' as const), id: fc.constantFrom('a', 'b', 'c', 'd') }),
      fc.record({ kind: fc.constant('pass' as const), ms: fc.integer({ min: 0, max: 7 }) }),
    )
    fc.assert(
      fc.property(fc.array(step), fc.subarray(['a', 'b', 'c', 'd']), (steps, without) => {
        let now = 0
        const reserved = createReservedAmounts({ lastsMs: 10, clock: () => now })
        const model = new Map<string, { amount: bigint; until: number }>()
        for (const one of steps) {
          if (one.kind === 'pass') now += one.ms
          else if (one.kind === 'drop') {
            reserved.drop(one.id)
            model.delete(one.id)
          } else {
            reserved.take(one.id, one.amount)
            model.set(one.id, { amount: one.amount, until: now + 10 })
          }
          const live = [...model].filter(([, { until }]) => until > now)
          const sum = live.filter(([id]) => !without.includes(id)).reduce((total, [, { amount }]) => total + amount, 0n)
          expect([reserved.others([...without, ...without], 0), reserved.size]).toEqual([sum, live.length])
        }
      }),
    )
  })

  test('a reservation stays with limits that were read before the block of its completion', () => {
    const reserved = createReservedAmounts()
    for (const id of ['a', 'b', 'c']) reserved.take(id, 10n)
    reserved.complete(['a', 'unknown'], 7)
    reserved.complete(['b'], 8)
    reserved.complete([], 9)
    expect([6, 7, 8, 9].map((height) => reserved.others([], height))).toEqual([30n, 20n, 10n, 10n])
    expect([reserved.others(['c'], 6), reserved.size]).toEqual([20n, 1])
  })
})
