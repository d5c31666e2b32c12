import { byTemporal, orderOf } from '../../domain/order.ts'
import { expeditedPriority } from '../policies.ts'
import { expedite } from './steps.ts'
import { CancellationScope, setHandler } from '@temporalio/workflow'
import * as contract from '../../temporal/contracts/transfer.ts'
import { admit } from './admit.ts'
import { broadcast, failRound, LaneIntent } from './broadcast.ts'
import { awaitFinality, endByPolicy, endUndelivered, parkOnFailure, watchWhileParked } from './outcome.ts'
import { TransferRun, type Outcome } from './transfer-run.ts'

/** Tries one transfer until it has an outcome (docs/concepts/lifecycle.md). Between tries it waits or is parked. */
export function transfer(input: contract.TransferInput): Promise<contract.TransferStatus> {
  const { cancelRequested } = CancellationScope.current()
  // A cancel by Temporal is recorded as an order and interrupts no step, because the fate of the nonces decides how the
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

/** Returns undefined if there is no outcome yet. The next try continues from `run.progress`. */
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
  if (finality.kind === 'reverted') return failRound(run, 'reverted', finality.reason)
  if (finality.kind === 'passed') return run.passStage(ready.stage, finality.delivery)
  if (finality.kind !== 'gone') return finality
  run.rollBack()
  return undefined
}

/** People may type signals, so a missing field must not fail the task. */
function receiveSignals(run: TransferRun): void {
  const { signals } = run
  setHandler(contract.statusQuery, () => run.status())
  setHandler(contract.retrySignal, (given) => {
    const isGate = (given as { gate?: unknown } | null | undefined)?.gate === true
    if (!isGate) run.note('retry', orderOf(given))
    run.retry(isGate)
  })
  setHandler(contract.cancelSignal, (given) => run.cancel(orderOf(given)))
  setHandler(contract.expediteSignal, (given) => {
    run.note('expedite', orderOf(given))
    signals.priority = expeditedPriority
    const { lane } = run.progress
    // A failure does no harm, because the lane raises the fees of stuck transactions by itself.
    if (lane && (run.state === 'broadcasting' || run.state === 'pending')) expedite(lane, run.intentId).catch(() => {})
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
