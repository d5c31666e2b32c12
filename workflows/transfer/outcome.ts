import { codeOf, failureText } from '../failures.ts'
import { waits } from '../policies.ts'
import { awaitFinality } from './await-finality.ts'
import { confirm } from './steps.ts'
import type { Outcome } from './status.ts'
import type { TransferRun } from './transfer-run.ts'
import { ActivityFailure, isCancellation } from '@temporalio/workflow'

/** The transfer was cancelled, or its deadline has passed, and nothing of it is under way. The chain has the last word. */
export async function endUndelivered(run: TransferRun): Promise<Outcome | undefined> {
  const finality = await awaitFinality(run, 0, { requireAgreement: true })
  if (finality.kind === 'delivered') return finality
  const { cancelledBy } = run.signals
  if (cancelledBy) return { kind: 'cancelled', by: cancelledBy }
  const passed = `not delivered by ${new Date(run.deadline ?? 0).toISOString()}`
  const { reason } = run.progress
  run.nextRound()
  return run.park('DEADLINE_PASSED', reason ? `${passed}; ${reason}` : passed)
}

/** A parked transfer is still watched: once an hour the chain is asked whether someone delivered it. */
export async function watchWhileParked(run: TransferRun): Promise<Outcome | undefined> {
  if (await run.pause(waits.continueAsNewMs)) return undefined
  const result = await confirm({ transfer: run.transfer, waitMs: 0 }, run.label)
  return result.kind === 'delivered' ? result : undefined
}

/** Steps are tried until they succeed. One that cannot (the config lacks the bridge, for example) waits for a person. */
export function parkOnFailure(run: TransferRun, error: unknown): undefined {
  if (!(error instanceof ActivityFailure) || isCancellation(error)) throw error
  const { cancelledBy } = run.signals
  delete run.signals.cancelledBy
  const repeat = cancelledBy ? `; the cancel by ${cancelledBy.by} must be repeated` : ''
  return run.park(codeOf(error), failureText(error) + repeat)
}
