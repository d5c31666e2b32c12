import { byTemporal, orderOf } from '../../domain/order.ts'
import { expeditedPriority } from '../policies.ts'
import type { Transfer } from '../../domain/transfer/transfer.ts'
import * as steps from './steps.ts'
import { CancellationScope, isCancellation, setHandler } from '@temporalio/workflow'
import * as contract from '../../temporal/contracts/transfer.ts'
import type { Admission, Ready } from '../../temporal/contracts/transfer-steps.ts'
import { broadcast, failRound, LaneIntent } from './broadcast.ts'
import { awaitFinality, endByPolicy, endUndelivered, parkOnFailure, watchWhileParked } from './outcome.ts'
import { TransferRun, type Outcome, wait } from './transfer-run.ts'

/** Tries one transfer until it has an outcome (docs/concepts/lifecycle.md). Between tries it waits or is parked. */
export function transfer(input: contract.TransferInput): Promise<contract.TransferStatus> {
  const { cancelRequested } = CancellationScope.current()
  // A cancel by Temporal becomes an order, and does not interrupt a step: the use of the nonces decides how the
  // transfer ends.
  return CancellationScope.nonCancellable(() => {
    const run = new TransferRun(input)
    cancelRequested.catch(() => run.cancel(byTemporal))
    return tryUntilDone(run)
  })
}

async function tryUntilDone(run: TransferRun): Promise<contract.TransferStatus> {
  receiveSignals(run)
  for (;;) {
    try {
      const outcome = await tryToDeliver(run)
      if (outcome) return run.end(outcome)
    } catch (error) {
      parkOnFailure(run, error)
    }
  }
}

/** Undefined if the try brought no outcome: the next try continues from `run.progress`. */
async function tryToDeliver(run: TransferRun): Promise<Outcome | undefined> {
  if (run.isDue) await run.continueAsNew()
  if (run.state === 'parked' && !run.called) return watchWhileParked(run)
  run.signals.woken = false
  const { underway } = run.progress
  if (run.ending && !underway) return endUndelivered(run)

  if (run.state === 'parked' || (run.state !== 'admitting' && !underway)) run.enter('admitting', `round ${run.progress.round}`)
  const ready = underway?.ready ?? (await admit(run))
  if (ready?.kind === 'rejected' || ready?.kind === 'declined') return endByPolicy(run, ready)
  if (ready?.kind !== 'ready') return ready

  const lane = new LaneIntent(run, ready)
  const included = await broadcast(run, lane, underway !== undefined)
  if (included?.kind !== 'included') return included

  const finality = await awaitFinality(run, included.finalInMs, { lane })
  if (finality.kind === 'reverted') return failRound(run, 'reverted', { reason: finality.reason, failedCall: 'reverted' })
  if (finality.kind === 'passed') return run.passStage(ready.stage, finality.delivery)
  if (finality.kind !== 'gone') return finality
  run.rollBack()
  return undefined
}

/** Steps 1 to 3: `validate`, `checkDelivered`, `prepare`. Undefined if the transfer has waited or is parked. */
async function admit(run: TransferRun): Promise<Ready | Outcome | undefined> {
  const { adopted } = run.signals
  if (adopted !== undefined) return admitCopy(run, { ...run.transfer, message: adopted })
  const admission = await askAdmission(run, run.transfer)
  return admission.kind === 'ready' ? admission : act(run, admission)
}

/**
 * Admits a copy of the message with other signatures. Once these are verified, the copy replaces the transfer's
 * message.
 */
async function admitCopy(run: TransferRun, copy: Transfer): Promise<Ready | Outcome | undefined> {
  delete run.signals.adopted
  const admission = await askAdmission(run, copy).catch((error: unknown) => {
    if (isCancellation(error)) throw error
  })
  if (!admission) return undefined
  if (admission.kind === 'waiting' && admission.code === 'HALTED') {
    run.signals.adopted ??= copy.message
    return wait(run, admission)
  }
  if (admission.kind === 'rejected' || (admission.kind === 'waiting' && admission.unverified)) return undefined
  run.transfer = copy
  return act(run, admission)
}

function askAdmission({ progress, label, retriedAt, freshSince }: TransferRun, transfer: Transfer): Promise<Admission> {
  const { turnedAway, disputed, failures, failedGas, quarantined } = progress
  const wrapped = quarantined || failures > 0 || undefined
  // A run of an older version did not count the gas of its failures.
  const reverted = failures > 0 && failedGas === undefined ? undefined : { calls: failures, gas: failedGas ?? 0 }
  return steps.admit({ transfer, avoid: turnedAway?.lanes ?? [], disputed, retriedAt, wrapped, reverted, startedAt: freshSince }, label)
}

async function act(run: TransferRun, admission: Admission): Promise<Ready | Outcome | undefined> {
  switch (admission.kind) {
    case 'ready':
    case 'delivered':
      return admission
    case 'unsettled': {
      run.enter('included', 'by someone else; not final yet')
      const finality = await awaitFinality(run, admission.finalInMs)
      if (finality.kind === 'delivered') return finality
      run.progress.disputed = true
      return undefined
    }
    case 'attested':
      run.transfer = { ...run.transfer, message: admission.message }
      return undefined
    case 'waiting':
      return wait(run, admission)
    case 'impossible':
      return run.park(admission.code, admission.reason, admission.failedCall)
    case 'rejected':
    case 'declined':
      if (!admission.awaitNewSignatures) return admission
      return run.park(admission.code, admission.reason)
  }
}

/** Handles signals and queries. People may type signals, so a missing field must not fail the task. */
function receiveSignals(run: TransferRun): void {
  const { signals } = run
  setHandler(contract.statusQuery, () => run.status())
  setHandler(contract.retrySignal, (given) => {
    const isGate = (given as { gate?: unknown } | null | undefined)?.gate === true
    if (!isGate) run.note('retry', orderOf(given))
    run.retry(isGate)
  })
  setHandler(contract.wakeSignal, () => run.retry(true))
  setHandler(contract.cancelSignal, (given) => run.cancel(orderOf(given)))
  setHandler(contract.expediteSignal, (given) => {
    run.note('expedite', orderOf(given))
    signals.priority = expeditedPriority
    const { lane } = run.progress
    // A failure does no harm, because the lane raises the fees of stuck transactions anyway.
    if (lane && (run.state === 'broadcasting' || run.state === 'pending')) steps.expedite(lane, run.intentId).catch(() => {})
  })
  setHandler(contract.adoptSignal, (copy) => {
    if (typeof copy?.message !== 'string') return
    run.note('adopt', orderOf(copy))
    signals.adopted = copy.message
    signals.woken = true
  })
  setHandler(contract.rolledBackSignal, (fallen) => {
    if (fallen?.intentId === run.intentId) signals.woken = true
  })
}
