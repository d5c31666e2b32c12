import { type Order, unnamed } from '../domain/order.ts'
import { CancellationScope } from '@temporalio/workflow'

/** Temporal's own cancel names nobody. */
const byTemporal: Order = { by: unnamed, reason: 'cancelled through Temporal' }

/**
 * Runs a workflow in which Temporal's own cancel (`temporal workflow cancel`, "Request Cancellation" in the Web UI)
 * interrupts nothing, and acts as the signal `cancel` does: the workflow ends by its nonces.
 */
export function obeyingTemporalCancel<Result>(cancel: (order: Order) => void, run: () => Promise<Result>): Promise<Result> {
  const { cancelRequested } = CancellationScope.current()
  return CancellationScope.nonCancellable(() => {
    cancelRequested.catch(() => cancel(byTemporal))
    return run()
  })
}
