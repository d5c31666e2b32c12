import { expect } from 'vitest'
import type { CheckResult } from '../../lab/checker/checker.ts'
import { until } from '../../lab/devnet/until.ts'
import type { Sent, Stage } from './e2e.ts'

/**
 * Checks with the independent checker, once the pools have no transaction of the lanes, because a lane's no-op may be
 * pending before that. Repeats the check, because a reorg between two reads of the checker looks like a missing nonce.
 */
export async function expectDelivered(stage: Stage, transfers: readonly Sent[] = stage.sent): Promise<CheckResult> {
  const result = await drained(stage, transfers)
  expect(verdict(result)).toEqual({ transfers: transfers.length, delivered: transfers.length, lost: 0, duplicates: 0, wrongBalances: 0 })
  expectNoHoles(result)
  return result
}

export async function expectNotDelivered(stage: Stage, transfers: readonly Sent[]): Promise<CheckResult> {
  const result = await drained(stage, transfers)
  expect(verdict(result)).toEqual({ transfers: transfers.length, delivered: 0, lost: transfers.length, duplicates: 0, wrongBalances: 0 })
  expectNoHoles(result)
  return result
}

async function drained(stage: Stage, transfers: readonly Sent[]): Promise<CheckResult> {
  const look = async () => {
    const result = await stage.devnet.check(transfers)
    return result.lanes.every(({ waiting, holes }) => waiting === 0 && holes === 0) && result
  }
  return until(look, { timeoutMs: 60_000, everyMs: 500, what: 'the pools to have nothing of our lanes, whose nonces have no hole' })
}

function verdict({ transfers, delivered, lost, duplicates, wrongBalances }: CheckResult) {
  return { transfers, delivered, lost, duplicates, wrongBalances }
}

function expectNoHoles({ lanes }: CheckResult): void {
  expect(lanes.filter(({ holes, waiting }) => holes > 0 || waiting > 0)).toEqual([])
}
