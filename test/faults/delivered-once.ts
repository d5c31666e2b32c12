import { expect } from 'vitest'
import type { CheckResult } from '../../lab/checker/checker.ts'
import { expectDelivered } from '../helpers/e2e-judge.ts'
import type { Sent, Stage } from '../helpers/e2e.ts'

/**
 * These transfers end as delivered, without an operator. The independent checker finds every transfer of the stage
 * redeemed once, and neither a hole nor anything left in a pool. Returns what it found.
 */
export async function deliveredOnce(stage: Stage, sent: readonly Sent[], timeoutMs = 120_000): Promise<CheckResult> {
  const ends = await stage.outcomes(sent, timeoutMs)
  expect(ends.map(({ state }) => state)).toEqual(sent.map(() => 'delivered'))
  return expectDelivered(stage)
}
