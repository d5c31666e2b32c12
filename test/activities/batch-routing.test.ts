import fc from 'fast-check'
import { expect, test } from 'vitest'
import { batchWaits, waitForBatchMs } from '../../activities/batch/batch-routing.ts'

test('a batch leaves before its candidates give up, however long blocks take', () => {
  const longest = fc.integer({ min: 0, max: 3_600_000 })
  fc.assert(
    fc.property(longest, longest, (blockTimeMs, fullBatch) => {
      const { periodMs, fullBatchMs } = batchWaits(blockTimeMs, fullBatch)
      expect(periodMs).toBeGreaterThanOrEqual(1_000)
      expect(fullBatchMs).toBeGreaterThanOrEqual(periodMs)
      expect(fullBatchMs).toBeLessThanOrEqual(waitForBatchMs / 2)
    }),
  )
  expect([1_000, 12_000, 60_000].map((blockTimeMs) => batchWaits(blockTimeMs))).toEqual([
    { periodMs: 1_000, fullBatchMs: 3_500 },
    { periodMs: 12_000, fullBatchMs: 12_000 },
    { periodMs: 15_000, fullBatchMs: 15_000 },
  ])
})
