import { expect } from 'vitest'
import type { CheckResult } from '../../lab/checker/checker.ts'
import { expectDelivered } from '../helpers/e2e-judge.ts'
import type { Sent, Stage } from '../helpers/e2e.ts'

/** Waits until the transfers end as delivered, then checks the whole stage with the independent checker. */
export async function deliveredOnce(stage: Stage, sent: readonly Sent[], timeoutMs = 120_000): Promise<CheckResult> {
  const ends = await stage.outcomes(sent, timeoutMs)
  expect(ends.map(({ state }) => state)).toEqual(sent.map(() => 'delivered'))
  return expectDelivered(stage)
}
