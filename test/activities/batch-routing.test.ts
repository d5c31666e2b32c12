import fc from 'fast-check'
import { expect, it } from 'vitest'
import { paceOf, waitForBatchMs } from '../../activities/batch/batch-routing.ts'

it('a batch leaves before those who wait for it give up, however long blocks take', () => {
  const longest = fc.integer({ min: 0, max: 3_600_000 })
  fc.assert(
    fc.property(longest, longest, (blockTimeMs, patience) => {
      const { periodMs, patienceMs } = paceOf(blockTimeMs, patience)
      expect(periodMs).toBeGreaterThanOrEqual(1_000)
      expect(patienceMs).toBeGreaterThanOrEqual(periodMs)
      expect(patienceMs).toBeLessThanOrEqual(waitForBatchMs / 2)
    }),
  )
  expect([1_000, 12_000, 60_000].map((blockTimeMs) => paceOf(blockTimeMs))).toEqual([
    { periodMs: 1_000, patienceMs: 3_500 },
    { periodMs: 12_000, patienceMs: 12_000 },
    { periodMs: 15_000, patienceMs: 15_000 },
  ])
})
