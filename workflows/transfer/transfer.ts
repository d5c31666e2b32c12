import type { TransferInput, TransferStatus } from '../../temporal/contracts/transfer.ts'
import { adoptSignal, cancelSignal, expediteSignal, retrySignal, rolledBackSignal, statusQuery } from '../../temporal/contracts/transfer.ts'
import { TransferRun } from './transfer-run.ts'
import { setHandler } from '@temporalio/workflow'

/**
 * One transfer on its way (docs/LIFECYCLE.md). It ends as delivered, rejected, declined or cancelled, its result saying which and why;
 * everything else waits or is parked here, visible and counted.
 */
export async function transfer(input: TransferInput): Promise<TransferStatus> {
  const way = new TransferRun(input)
  setHandler(statusQuery, () => way.status())
  setHandler(retrySignal, (hint) => way.retry(hint?.gate === true))
  // Signals are typed by hand in a Web UI: what is missing must not fail the workflow's task.
  setHandler(cancelSignal, (by) => way.inbox.cancel({ operator: by?.operator ?? 'unnamed', reason: by?.reason ?? 'no reason given' }))
  setHandler(expediteSignal, () => way.expedite())
  setHandler(adoptSignal, (copy) => way.inbox.adopt(copy?.message))
  setHandler(rolledBackSignal, (fallen) => way.rolledBack(fallen?.intentId))
  while (!way.over) await way.walk()
  return way.status()
}
