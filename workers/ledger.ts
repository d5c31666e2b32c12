import type { Logger } from '../observability/logger.ts'
import { ledgerQueue } from '../temporal/contracts/names.ts'
import { crashSinks, workflowBundle } from './bundle.ts'
import type { Temporal } from './temporal.ts'
import { commonOptions, type WorkerTuning } from './tuning.ts'
import { Worker } from '@temporalio/worker'

/** Serves the queue `ledger` with a Worker of its own, so that no backlog of transfers delays a grant. */
export async function createLedgerWorker(options: { temporal: Temporal; logger: Logger; tuning: WorkerTuning }): Promise<Worker> {
  const { temporal, logger, tuning } = options
  return Worker.create({
    connection: temporal.connection,
    namespace: temporal.namespace,
    taskQueue: ledgerQueue,
    workflowBundle: await workflowBundle(logger),
    sinks: crashSinks,
    maxCachedWorkflows: tuning.maxCachedWorkflows,
    workflowTaskPollerBehavior: { type: 'simple-maximum', maximum: 4 },
    ...commonOptions(tuning),
  })
}
