import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import type { HeadEvent } from '../../../chains/port.ts'
import { createAuditSchedule } from '../../../intake/streams/signed/audit/audit-schedule.ts'
import { silentLogger } from '../../../observability/logger.ts'

beforeEach(() => void vi.useFakeTimers({ now: 1_000_000 }))
afterEach(() => void vi.useRealTimers())

/** Runs the schedule of audits, one step per second, on a source whose blocks are final immediately. */
function schedule() {
  let audits = 0
  const listeners = new Set<(event: HeadEvent) => void>()
  let height = 1
  const head = () => ({ latest: { height }, finalized: height }) as HeadEvent
  const heads = {
    get current() {
      return head()
    },
    subscribe(listener: (event: HeadEvent) => void) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
  }
  const auditor = { hurry() {}, soonMs: undefined, audit: async () => ({ found: audits++ }), fillGaps: async () => ({}) }
  const parts = { auditor, recorder: { flush: async () => {} }, chain: { heads }, source: { config: { stream: 'a' } } }
  const made = createAuditSchedule({ ...parts, streamClient: { view: undefined }, auditMs: 3_600_000, logger: silentLogger() } as never)
  return {
    made,
    audits: () => audits,
    async seconds(count: number, each: () => void = () => {}) {
      for (let second = 0; second < count; second++) {
        each()
        height++
        for (const listener of listeners) listener(head())
        await made.step()
        vi.advanceTimersByTime(1_000)
      }
    },
  }
}

test('a subscription causes an audit at once, and one when its first head is final', async () => {
  const { made, audits, seconds } = schedule()
  await seconds(5)
  expect(audits()).toBe(1)
  made.subscribed()
  await seconds(5)
  expect(audits()).toBe(3)
})

test('a clock that is set back delays no audit', async () => {
  const { made, audits, seconds } = schedule()
  await seconds(5)
  vi.setSystemTime(Date.now() - 86_400_000)
  await seconds(4_000)
  expect(audits()).toBe(2)
  made.subscribed()
  await seconds(5)
  expect(audits()).toBe(4)
})

test('a spy that ends its subscription every few seconds causes at most two audits a minute', async () => {
  const { made, audits, seconds } = schedule()
  await seconds(5)
  let count = 0
  await seconds(600, () => void (count++ % 5 === 0 && made.subscribed()))
  expect(audits() - 1).toBeGreaterThanOrEqual(10)
  expect(audits() - 1).toBeLessThanOrEqual(22)
  const before = audits()
  made.subscribed()
  await seconds(120)
  expect(audits()).toBeGreaterThan(before)
})
