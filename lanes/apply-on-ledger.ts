import type { ApplyRequest, ApplyResponse, LaneConfig } from '../domain/lane/lane.ts'
import { applyUpdate } from '../temporal/contracts/lane.ts'
import type { LaneInput } from '../temporal/contracts/lane.ts'
import { ledgerQueue, laneWorkflowId } from '../temporal/contracts/names.ts'
import type { Client } from '@temporalio/client'
import { WithStartWorkflowOperation } from '@temporalio/client'

/**
 * One update of a lane's ledger. A lane comes into being only here: its first update starts it. Throws what the client throws; every error
 * means "ask again".
 * @param updatesPerRun when the lane is started by this: continue as new after so many updates; for tests
 */
export function applyOnLedger(
  client: Client,
  config: LaneConfig,
  request: ApplyRequest,
  options: { updateId?: string; updatesPerRun?: number } = {},
): Promise<ApplyResponse> {
  const { updateId, updatesPerRun } = options
  const input: LaneInput = { config, ...(updatesPerRun && { updatesPerRun }) }
  const startWorkflowOperation = new WithStartWorkflowOperation('lane', {
    workflowId: laneWorkflowId(config.lane),
    taskQueue: ledgerQueue,
    workflowIdConflictPolicy: 'USE_EXISTING',
    args: [input],
    staticSummary: `nonce ledger of ${config.lane}`,
  })
  return client.workflow.executeUpdateWithStart(applyUpdate, { args: [request], startWorkflowOperation, ...(updateId && { updateId }) })
}
