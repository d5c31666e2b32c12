import { type Order, unnamed } from '../domain/order.ts'
import { CancellationScope, patched } from '@temporalio/workflow'

/** Who ends it, where Temporal itself was asked: that names nobody. */
const byTemporal: Order = { by: unnamed, reason: 'cancelled through Temporal' }

/**
 * Runs a workflow in which a cancel of Temporal's own (`temporal workflow cancel`, "Request Cancellation" in the Web UI) interrupts nothing and is an order like
 * the signal `cancel`: what is under way is ended in order, by its nonces. Runs that were cancelled before there was the patch end at once, as they did.
 */
export function obeyingTemporalCancel<Result>(cancel: (order: Order) => void, run: () => Promise<Result>): Promise<Result> {
  const { cancelRequested } = CancellationScope.current()
  return CancellationScope.nonCancellable(() => {
    const scope = new CancellationScope()
    cancelRequested.catch(() => (patched('cancel-by-temporal') ? cancel(byTemporal) : scope.cancel()))
    return scope.run(run)
  })
}
