import type { LaneId } from '../../domain/lane/lane-id.ts'
import type { LaneState } from '../../domain/lane/lane.ts'
import type { ApplyRequest, ApplyResponse } from '../../domain/lane/messages.ts'
import { applyUpdate, type LaneInput, laneStatusQuery } from '../contracts/lane.ts'
import { laneQueue, laneWorkflowId } from '../contracts/names.ts'
import type { TemporalClient } from './client.ts'
import { updateOrStart } from './update-or-start.ts'

/** A worker polls at least once a minute (Temporal's matching.longPollExpirationInterval): one that has not for longer is gone, ms. */
const pollerGoneMs = 75_000
/** temporal.api.enums.v1.TaskQueueType.TASK_QUEUE_TYPE_ACTIVITY */
const activityQueue = 2

/**
 * One update of a lane's ledger. A ledger comes into being only here: with `start`, its first update starts it. Throws what the Temporal client throws:
 * `isGone` if it is not there and is not to be started. Every other error means "ask again".
 */
export function applyToLane(
  client: TemporalClient,
  lane: LaneId,
  request: ApplyRequest,
  { start, updateId }: { readonly start?: LaneInput | undefined; readonly updateId?: string } = {},
): Promise<ApplyResponse> {
  return updateOrStart(client, applyUpdate, [request], {
    workflowType: 'lane',
    workflowId: laneWorkflowId(lane),
    begin: start && (() => start),
    summary: `nonce ledger of ${lane}`,
    updateId,
  })
}

/** The state of a lane's ledger. Costs no history. Throws what the Temporal client throws. */
export function queryLane(client: TemporalClient, lane: LaneId): Promise<LaneState> {
  return client.workflow.getHandle(laneWorkflowId(lane)).query(laneStatusQuery)
}

/** Whether a worker with the lane's key polls its queue. Throws what the Temporal client throws. */
export async function isLanePolled(client: TemporalClient, lane: LaneId): Promise<boolean> {
  const { pollers } = await client.workflowService.describeTaskQueue({
    namespace: client.options.namespace,
    taskQueue: { name: laneQueue(lane) },
    // The enum itself is in a package that is no dependency.
    // oxlint-disable-next-line typescript/no-unsafe-enum-assignment
    taskQueueType: activityQueue,
  })
  return (pollers ?? []).some(({ lastAccessTime }) => Date.now() - Number(lastAccessTime?.seconds ?? 0) * 1_000 < pollerGoneMs)
}
