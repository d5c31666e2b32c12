import { type Order, unnamed } from '../domain/order.ts'
import { CancellationScope } from '@temporalio/workflow'

/** Temporal's own cancel does not say who ordered it. */
const byTemporal: Order = { by: unnamed, reason: 'cancelled through Temporal' }

/** Turns Temporal's cancel into the signal `cancel`, which interrupts no step: the nonces' fate decides the end. */
export function obeyingTemporalCancel<Result>(
  run: (onCancel: (cancel: (order: Order) => void) => void) => Promise<Result>,
): Promise<Result> {
  const { cancelRequested } = CancellationScope.current()
  return CancellationScope.nonCancellable(() => run((cancel) => void cancelRequested.catch(() => cancel(byTemporal))))
}
