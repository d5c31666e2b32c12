import { adoptSignal, cancelSignal, expediteSignal, retrySignal, rolledBackSignal, statusQuery } from '../../temporal/contracts/transfer.ts'
import { orderOf } from '../../domain/order.ts'
import { expeditedPriority } from '../policies.ts'
import { expedite } from './steps.ts'
import type { TransferRun } from './transfer-run.ts'
import { setHandler } from '@temporalio/workflow'

/** People type signals too: a missing field must not fail the task. */
export function receiveSignals(run: TransferRun): void {
  const { signals } = run
  setHandler(statusQuery, () => run.status())
  setHandler(retrySignal, (given) => {
    const isGate = (given as { gate?: unknown } | null | undefined)?.gate === true
    if (!isGate) run.note('retry', orderOf(given))
    run.retry(isGate)
  })
  setHandler(cancelSignal, (given) => run.cancel(orderOf(given)))
  setHandler(expediteSignal, (given) => {
    run.note('expedite', orderOf(given))
    signals.priority = expeditedPriority
    const { lane } = run.progress
    // A failed raise does no harm: the lane raises fees of stuck transactions by itself.
    if (lane && (run.state === 'broadcasting' || run.state === 'pending')) expedite(lane, run.intentId).catch(() => {})
  })
  setHandler(adoptSignal, (copy) => {
    if (typeof copy?.message !== 'string') return
    run.note('adopt', orderOf(copy))
    signals.adopted = copy.message
    signals.woken = true
  })
  setHandler(rolledBackSignal, (fallen) => {
    if (fallen?.intentId === run.intentId) signals.woken = true
  })
}
