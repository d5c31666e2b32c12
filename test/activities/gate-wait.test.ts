import fc from 'fast-check'
import { expect, test } from 'vitest'
import { gateWaitMs } from '../../activities/transfer/choose-lane.ts'

const minutes = 60_000
const budget = (opensAt?: number) => ({
  kind: 'route' as const,
  code: 'BRIDGE_BUDGET' as const,
  reason: 'spent',
  ...(opensAt !== undefined && { opensAt }),
})

test('a transfer waits until its gate opens and a little longer, watched or not', () => {
  const share = fc.double({ min: 0, max: 1, noNaN: true })
  fc.assert(
    fc.property(fc.integer({ min: -90_000, max: 90_000 }), share, fc.boolean(), (seconds, part, watched) => {
      const now = 1_800_000_000
      const left = Math.max(0, seconds) * 1_000
      const waitMs = gateWaitMs(budget(now + seconds), { watched, now, share: part })
      expect(waitMs).toBeGreaterThanOrEqual(left + minutes)
      expect(waitMs).toBeLessThanOrEqual(left + 30 * minutes)
    }),
  )
})

test('thousands of transfers with the same wait check the gate spread over half an hour', () => {
  const looks = Array.from({ length: 5_000 }, (_, index) => gateWaitMs(budget(10), { watched: true, now: 10, share: index / 5_000 }))
  const perSecond = new Map<number, number>()
  for (const ms of looks) perSecond.set(Math.floor(ms / 1_000), (perSecond.get(Math.floor(ms / 1_000)) ?? 0) + 1)
  expect(Math.max(...perSecond.values())).toBeLessThanOrEqual(3)
})

test('a transfer checks a watched gate seldom, and an unwatched gate soon', () => {
  for (const gate of [budget(), { kind: 'lane', code: 'BRIDGE_ROLE_MISSING', reason: 'role' } as const]) {
    expect(gateWaitMs(gate, { watched: true, now: 1, share: 0 })).toBe(15 * minutes)
    expect(gateWaitMs(gate, { watched: true, now: 1, share: 1 })).toBe(30 * minutes)
    expect(gateWaitMs(gate, { watched: false, now: 1, share: 0.5 })).toBe(15_000)
  }
  expect(gateWaitMs(budget(99), { watched: true, now: undefined, share: 0 })).toBe(15 * minutes)
})
