import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { fitting, gateOf, type InboundLimits } from '../../bridges/native-bridge/inbound-limits.ts'

const daySeconds = 86_400
const sums = fc.bigInt(0n, 2_000n)
const amounts = fc.bigInt(1n, 2_000n)
const limits: fc.Arbitrary<InboundLimits> = fc.record({
  day: fc.integer({ min: 20_000, max: 20_003 }),
  used: sums,
  cap: sums,
  paused: fc.boolean(),
  mayComplete: fc.boolean(),
})
const now = fc.integer({ min: 20_000 * daySeconds, max: 20_005 * daySeconds })

/** Whether role, pause and budget allow the amount. `used` counts only if `day` is today. */
function fits({ day, used, cap, ...others }: InboundLimits, amount: bigint, at: number): boolean {
  const usedToday = Math.floor(at / daySeconds) > day ? 0n : used
  return others.mayComplete && !others.paused && usedToday + amount < cap
}

describe('the gate of a native transfer', () => {
  test('the gate of a native transfer is open exactly if role, pause and budget allow the transfer', () => {
    fc.assert(
      fc.property(limits, amounts, now, (these, amount, at) => {
        expect(gateOf(these, amount, at).kind === 'open').toBe(fits(these, amount, at))
      }),
    )
  })

  test('the gate of a native transfer counts the amounts of other transfers that it let through', () => {
    fc.assert(
      fc.property(limits, amounts, sums, now, (these, amount, aside, at) => {
        const gate = gateOf(these, amount, at, aside)
        expect(gate.kind === 'open').toBe(fits(these, amount + aside, at))
        // A transfer is never parked because of reservations, because the reservations of other transfers end.
        expect(gate.kind === 'transfer').toBe(gateOf(these, amount, at).kind === 'transfer')
      }),
    )
  })

  test('the gate of a native transfer opens when it says so', () => {
    const willing = limits.map((these) => ({ ...these, paused: false, mayComplete: true }))
    const closed = fc.tuple(willing, amounts, now).filter(([these, amount, at]) => 'opensAt' in gateOf(these, amount, at))
    fc.assert(
      fc.property(closed, ([these, amount, at]) => {
        const gate = gateOf(these, amount, at)
        const opensAt = gate.kind === 'route' ? (gate.opensAt ?? 0) : 0
        expect(opensAt).toBeGreaterThan(at)
        expect(opensAt - at).toBeLessThanOrEqual(daySeconds)
        // `opensAt` is exact only if the limits are not from an earlier day.
        if (these.day < Math.floor(at / daySeconds)) return
        expect(gateOf({ ...these, day: Math.floor(at / daySeconds) }, amount, opensAt).kind).toBe('open')
        expect(gateOf(these, amount, opensAt - 1)).toEqual(gate)
      }),
    )
  })

  test('the gate of a native transfer parks only amounts that are not below the daily cap', () => {
    fc.assert(
      fc.property(limits, amounts, now, (these, amount, at) => {
        const free = { ...these, used: 0n, mayComplete: true, paused: false }
        const gate = gateOf({ ...free, used: these.used }, amount, at)
        expect(gate.kind === 'transfer').toBe(these.cap > 1n && amount >= these.cap)
        expect(gate.kind === 'transfer' && gateOf(free, amount, at + daySeconds).kind === 'open').toBe(false)
      }),
    )
  })

  test.each([
    [
      { mayComplete: false, paused: true, cap: 0n },
      { kind: 'lane', code: 'BRIDGE_ROLE_MISSING' },
    ],
    [
      { paused: true, cap: 5n },
      { kind: 'route', code: 'BRIDGE_PAUSED' },
    ],
    [{ cap: 0n }, { kind: 'route', code: 'BRIDGE_BUDGET', reason: 'the insurance fund is empty, so no transfer can complete' }],
    [{ cap: 10n }, { kind: 'transfer', code: 'BRIDGE_CAP', reason: 'the amount 10 is not below the daily cap 10' }],
    [
      { used: 90n, day: 1 },
      { kind: 'route', code: 'BRIDGE_BUDGET', opensAt: 2 * daySeconds, reason: expect.stringContaining('1970-01-03T00:00:00Z') },
    ],
    [{ used: 89n, day: 1 }, { kind: 'open' }],
    [{ used: 90n, day: 0 }, { kind: 'open' }],
  ])('%o: %o', (changes, expected) => {
    const usual = { day: 1, used: 0n, cap: 100n, paused: false, mayComplete: true }
    expect(gateOf({ ...usual, ...changes }, 10n, daySeconds + 5)).toMatchObject(expected)
  })
})

describe('the amounts that fit into the rest of a day', () => {
  test('a batch is let in together, in sequence, and no skipped transfer would fit in addition', () => {
    fc.assert(
      fc.property(limits, fc.array(fc.bigInt(1n, 500n), { maxLength: 30 }), now, (these, list, at) => {
        const open = { ...these, mayComplete: true, paused: false }
        const transfers = list.map((amount, place) => ({ amount, place }))
        const chosen = fitting(open, transfers, at)
        const sum = chosen.reduce((total, { amount }) => total + amount, 0n)
        expect(chosen.length === 0 || fits(open, sum, at)).toBe(true)
        expect(chosen.map(({ place }) => place)).toEqual(chosen.map(({ place }) => place).sort((a, b) => a - b))
        for (const left of transfers.filter((one) => !chosen.includes(one))) expect(fits(open, sum + left.amount, at)).toBe(false)
      }),
    )
  })
})
