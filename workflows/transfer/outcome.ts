import type { LaneIntent } from './broadcast.ts'
import { backoffMs } from '../../domain/backoff.ts'
import { waitsForNonces } from '../../domain/transfer/attempts.ts'
import type { Confirmation, LaneNonce } from '../../temporal/contracts/transfer-steps.ts'
import { codeOf, failureText, waits } from '../policies.ts'
import { confirm, confirmEnd } from './steps.ts'
import type { Outcome, TransferRun } from './transfer-run.ts'
import { ActivityFailure, isCancellation } from '@temporalio/workflow'

export async function endUndelivered(run: TransferRun): Promise<Outcome | undefined> {
  const by = run.signals.cancelledBy
  if (by) return endOnceFree(run, { kind: 'cancelled', by })
  const finality = await awaitFinality(run, 0, { requireAgreement: true })
  if (finality.kind === 'delivered') return finality
  // A cancel was ordered during the wait, so the next try ends the transfer.
  if (run.signals.cancelledBy) return undefined
  const passed = `not delivered by ${new Date(run.deadline ?? 0).toISOString()}`
  const { reason } = run.progress
  run.nextRound()
  return run.park('DEADLINE_PASSED', reason ? `${passed}; ${reason}` : passed)
}

export async function endByPolicy(run: TransferRun, outcome: Outcome): Promise<Outcome | undefined> {
  return run.progress.left ? endOnceFree(run, outcome) : outcome
}

/** Ends the transfer once most nodes show all its nonces final without its effect. Undefined: try again. */
async function endOnceFree(run: TransferRun, outcome: Outcome): Promise<Outcome | undefined> {
  const { progress, intentId, transfer } = run
  const answer = await confirmEnd({ transfer, intentId, nonces: progress.left ?? [], cancelledAt: run.cancelledAt }, run.label)
  if (answer.kind === 'delivered') return answer
  if (answer.kind === 'free') return outcome
  if (answer.kind === 'held') enterHeld(run, outcome, answer.nonces)
  const finalInMs = answer.kind === 'unsettled' ? answer.finalInMs : 0
  const waitMs = Math.max(finalInMs, backoffMs(progress.waits++, waits.firstCheckMs, waits.longestCheckMs))
  await run.pause(waitMs, `${outcome.kind}, once none of its nonces can be mined`)
  return undefined
}

function enterHeld(run: TransferRun, outcome: Outcome, nonces: readonly LaneNonce[]): void {
  const what = outcome.kind === 'cancelled' ? `cancelled by ${outcome.by.by}` : outcome.kind
  const reason = waitsForNonces(what, nonces)
  if (run.state === 'waiting' && run.progress.reason === reason) return
  if (run.state === 'parked') run.enter('admitting', what)
  run.enter('waiting', reason, { code: 'NONCE_NOT_FINAL', reason })
}

export async function watchWhileParked(run: TransferRun): Promise<Outcome | undefined> {
  const { code, reason } = run.progress
  if (await run.pause(waits.continueAsNewMs, `parked: ${code}: ${reason}. It waits for a person`)) return undefined
  const result = await confirm({ transfer: run.transfer, waitMs: 0 }, run.label)
  return result.kind === 'delivered' ? result : undefined
}

/** Parks a transfer after a failure that no retry can cure, such as a bridge that the config lacks. */
export function parkOnFailure(run: TransferRun, error: unknown): undefined {
  if (!(error instanceof ActivityFailure) || isCancellation(error)) throw error
  const { cancelledBy } = run.signals
  delete run.signals.cancelledBy
  const repeat = cancelledBy ? `; repeat the cancel by ${cancelledBy.by}` : ''
  return run.park(codeOf(error), failureText(error) + repeat)
}

/** Step 5, `confirm`: waits until the effect is final or gone. With `requireAgreement`, `gone` needs most nodes. */
export async function awaitFinality(
  run: TransferRun,
  finalInMs: number,
  { lane, requireAgreement }: { lane?: LaneIntent; requireAgreement?: true } = {},
): Promise<Exclude<Confirmation, { kind: 'unsettled' }>> {
  let waitMs = finalInMs
  for (let checks = 0; ; checks++) {
    if (waitMs > 0) await run.pause(waitMs, checks === 0 ? 'in a block that is not final' : 'the nodes do not agree that it is final')
    if (run.ending) lane?.startWithdrawal()
    const { underway } = run.progress
    const of = { landed: underway?.landed, stage: underway?.ready.stage, requireAgreement, seenAt: run.seenAt }
    const result = await confirm({ transfer: run.transfer, waitMs: waits.confirmMs, ...of }, run.label)
    if (result.kind === 'delivered') return result
    if (result.kind !== 'unsettled') {
      if (underway) delete underway.landed
      return result
    }
    if (run.isDue) await run.continueAsNew()
    // Checks become rarer, because all transfers of a chain may wait here for a long time, for example while one of two
    // nodes is down.
    waitMs = Math.max(result.finalInMs, backoffMs(checks, waits.firstCheckMs, waits.longestCheckMs))
  }
}
