import { codeOf, failureText } from '../failures.ts'
import { backoffMs } from '../../domain/backoff.ts'
import { waitsForNonces } from '../../domain/transfer/held.ts'
import type { LaneNonce } from '../../temporal/contracts/transfer-steps.ts'
import { waits } from '../policies.ts'
import { awaitFinality } from './await-finality.ts'
import { confirm, confirmEnd } from './steps.ts'
import type { Outcome } from './status.ts'
import type { TransferRun } from './transfer-run.ts'
import { ActivityFailure, isCancellation } from '@temporalio/workflow'

/** The transfer was cancelled, or its deadline has passed, and nothing of it is under way. The chain has the last word. */
export async function endUndelivered(run: TransferRun): Promise<Outcome | undefined> {
  const by = run.signals.cancelledBy
  if (by && run.endsByNonces) return endOnceFree(run, { kind: 'cancelled', by })
  const finality = await awaitFinality(run, 0, { requireAgreement: true })
  if (finality.kind === 'delivered') return finality
  const { cancelledBy } = run.signals
  if (cancelledBy) return { kind: 'cancelled', by: cancelledBy }
  const passed = `not delivered by ${new Date(run.deadline ?? 0).toISOString()}`
  const { reason } = run.progress
  run.nextRound()
  return run.park('DEADLINE_PASSED', reason ? `${passed}; ${reason}` : passed)
}

/**
 * Policy has refused the transfer: its outcome, unless a nonce of an earlier round may still deliver it. What only ledgers know of earlier runs was asked by
 * the step that refused it.
 */
export async function endByPolicy(run: TransferRun, outcome: Outcome): Promise<Outcome | undefined> {
  return run.progress.left && run.endsByNonces ? endOnceFree(run, outcome) : outcome
}

/**
 * An outcome that says that nothing is delivered: only once most nodes show every nonce that the transfer ever held as final, and the effect nowhere.
 * Undefined after a wait: it is tried again.
 */
async function endOnceFree(run: TransferRun, outcome: Outcome): Promise<Outcome | undefined> {
  const { progress, intentId, transfer } = run
  const answer = await confirmEnd({ transfer, intentId, nonces: progress.left ?? [] }, run.label)
  if (answer.kind === 'delivered') return answer
  if (answer.kind === 'free') return outcome
  if (answer.kind === 'held') enterHeld(run, outcome, answer.nonces)
  const finalInMs = answer.kind === 'unsettled' ? answer.finalInMs : 0
  const waitMs = Math.max(finalInMs, backoffMs(progress.waits++, waits.firstLookMs, waits.longestLookMs))
  await run.pause(waitMs, `${outcome.kind}, once nothing of it can be mined`)
  return undefined
}

/** Says what it waits for; once, however often it looks. */
function enterHeld(run: TransferRun, outcome: Outcome, nonces: readonly LaneNonce[]): void {
  const what = outcome.kind === 'cancelled' ? `cancelled by ${outcome.by.by}` : outcome.kind
  const reason = waitsForNonces(what, nonces)
  if (run.state === 'waiting' && run.progress.reason === reason) return
  if (run.state === 'parked') run.enter('admitting', what)
  run.enter('waiting', reason, { code: 'NONCE_NOT_FINAL', reason })
}

/** A parked transfer is still watched: once an hour the chain is asked whether someone delivered it. */
export async function watchWhileParked(run: TransferRun): Promise<Outcome | undefined> {
  const { code, reason } = run.progress
  const what = `parked: ${code}: ${reason}. It waits for a person`
  if (await run.pause(waits.continueAsNewMs, what)) return undefined
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
