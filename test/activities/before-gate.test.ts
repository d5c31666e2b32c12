import fc from 'fast-check'
import { expect, it } from 'vitest'
import { patienceMs } from '../../activities/transfer/before-gate.ts'

const minutes = 60_000
const budget = (opensAt?: number) => ({
  kind: 'route' as const,
  code: 'BRIDGE_BUDGET' as const,
  reason: 'spent',
  ...(opensAt !== undefined && { opensAt }),
})

it('who knows when a gate opens waits until then and a little longer, kept or not', () => {
  const share = fc.double({ min: 0, max: 1, noNaN: true })
  fc.assert(
    fc.property(fc.integer({ min: -90_000, max: 90_000 }), share, fc.boolean(), (seconds, part, kept) => {
      const now = 1_800_000_000
      const left = Math.max(0, seconds) * 1_000
      const patience = patienceMs(budget(now + seconds), { kept, now, share: part })
      expect(patience).toBeGreaterThanOrEqual(left + minutes)
      expect(patience).toBeLessThanOrEqual(left + 30 * minutes)
    }),
  )
})

it('thousands that wait for one moment look by themselves over half an hour', () => {
  const looks = Array.from({ length: 5_000 }, (_, index) => patienceMs(budget(10), { kept: true, now: 10, share: index / 5_000 }))
  const perSecond = new Map<number, number>()
  for (const ms of looks) perSecond.set(Math.floor(ms / 1_000), (perSecond.get(Math.floor(ms / 1_000)) ?? 0) + 1)
  expect(Math.max(...perSecond.values())).toBeLessThanOrEqual(3)
})

it('who is woken by a keeper looks seldom, and who is not, soon', () => {
  for (const gate of [budget(), { kind: 'lane', code: 'BRIDGE_ROLE_MISSING', reason: 'role' } as const]) {
    expect(patienceMs(gate, { kept: true, now: 1, share: 0 })).toBe(15 * minutes)
    expect(patienceMs(gate, { kept: true, now: 1, share: 1 })).toBe(30 * minutes)
    expect(patienceMs(gate, { kept: false, now: 1, share: 0.5 })).toBe(15_000)
  }
  expect(patienceMs(budget(99), { kept: true, now: undefined, share: 0 })).toBe(15 * minutes)
})
