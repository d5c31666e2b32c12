import { expect } from 'vitest'
import type { CheckResult } from '../../lab/checker/checker.ts'
import { expectDelivered } from '../helpers/e2e-judge.ts'
import type { Sent, Stage } from '../helpers/e2e.ts'

/**
 * Waits until the transfers end as delivered, without an operator. Checks by the independent checker that every
 * transfer of the stage is redeemed once, no nonce is missing, and the pools are empty. Returns the checker's result.
 */
export async function deliveredOnce(stage: Stage, sent: readonly Sent[], timeoutMs = 120_000): Promise<CheckResult> {
  const ends = await stage.outcomes(sent, timeoutMs)
  expect(ends.map(({ state }) => state)).toEqual(sent.map(() => 'delivered'))
  return expectDelivered(stage)
}
