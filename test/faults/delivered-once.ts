import { expect } from 'vitest'
import type { CheckResult } from '../../lab/checker/checker.ts'
import { expectDelivered } from '../helpers/e2e-judge.ts'
import type { Sent, Stage } from '../helpers/e2e.ts'

/**
 * Waits until these transfers end as delivered, without an operator. Checks that the independent checker finds every
 * transfer of the stage redeemed once, no missing nonce, and nothing left in a pool. Returns the checker's result.
 */
export async function deliveredOnce(stage: Stage, sent: readonly Sent[], timeoutMs = 120_000): Promise<CheckResult> {
  const ends = await stage.outcomes(sent, timeoutMs)
  expect(ends.map(({ state }) => state)).toEqual(sent.map(() => 'delivered'))
  return expectDelivered(stage)
}
