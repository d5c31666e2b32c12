import type { Worker } from '@temporalio/worker'
import type { Logger } from '../../observability/logger.ts'
import { ledgerQueue } from '../../temporal/contracts/names.ts'
import { crashSinks, workflowBundle } from '../process/bundle.ts'
import { createWorker } from '../process/create-worker.ts'
import { type Hosting, pollers } from '../process/tuning.ts'

/** Serves the queue `ledger` with a Worker of its own, so that no backlog of transfers delays a grant. */
export async function createLedgerWorker({ logger, ...hosting }: Hosting & { logger: Logger }): Promise<Worker> {
  return createWorker(hosting, 'AUTO_UPGRADE', {
    taskQueue: ledgerQueue,
    workflowBundle: await workflowBundle(logger, hosting.tracing !== undefined),
    sinks: { ...crashSinks, ...hosting.tracing?.sinks },
    maxCachedWorkflows: hosting.tuning.maxCachedWorkflows,
    workflowTaskPollerBehavior: pollers(4),
  })
}
