import { RelayerError } from '../../domain/errors.ts'
import type { LaneState } from '../../domain/lane/lane.ts'
import type { LaneOrder, LaneRequest, LaneView } from '../../domain/lane/messages.ts'
import type { LaneId } from '../../domain/lane/lane-id.ts'
import { activateSignal, drainSignal, forbidSignal, pauseSignal, resumeSignal } from '../contracts/lane.ts'
import { laneWorkflowId } from '../contracts/names.ts'
import type { TemporalClient } from './client.ts'
import { fromTemporal } from './errors.ts'
import { applyToLane, queryLane } from './lanes.ts'

const queryTimeoutMs = 5_000
const orderTimeoutMs = 10_000

/** An order to a lane by a signal: it is kept even when no worker serves the ledger at the moment. `reason`: required by all but resume and activate. */
export type LaneMode = 'pause' | 'resume' | 'drain' | 'forbid' | 'activate'

type WithoutId<T> = T extends unknown ? Omit<T, 'id'> : never
/** What an operator orders of a ledger by an update, which has an answer. */
export type OperatorOrder = WithoutId<LaneOrder | Extract<LaneRequest, { kind: 'fill' }>>

/** The lanes whose ledgers run. Throws TEMPORAL_UNAVAILABLE. */
export async function runningLanes(client: TemporalClient): Promise<Set<LaneId>> {
  const lanes = new Set<LaneId>()
  try {
    for await (const { workflowId } of client.workflow.list({ query: "WorkflowType = 'lane' AND ExecutionStatus = 'Running'" })) {
      lanes.add(workflowId.slice(laneWorkflowId('').length))
    }
  } catch (error) {
    throw fromTemporal(error, {})
  }
  return lanes
}

/** The ledger of a lane. Throws LANE_NOT_FOUND, LANE_UNREACHABLE. */
export async function readLane(client: TemporalClient, lane: LaneId): Promise<LaneState> {
  try {
    await client.workflow.getHandle(laneWorkflowId(lane)).describe()
  } catch (cause) {
    throw new RelayerError('LANE_NOT_FOUND', { detail: 'It has no ledger: no lane worker has served it yet.', facts: { lane }, cause })
  }
  try {
    return await client.withDeadline(Date.now() + queryTimeoutMs, () => queryLane(client, lane))
  } catch (cause) {
    throw new RelayerError('LANE_UNREACHABLE', { facts: { lane }, cause })
  }
}

/** Sends the signal of a mode to a lane. Throws LANE_NOT_FOUND, TEMPORAL_UNAVAILABLE. */
export async function setLaneMode(client: TemporalClient, lane: LaneId, mode: LaneMode, reason = ''): Promise<void> {
  const handle = client.workflow.getHandle(laneWorkflowId(lane))
  try {
    if (mode === 'resume' || mode === 'activate') await handle.signal(mode === 'resume' ? resumeSignal : activateSignal)
    else await handle.signal({ pause: pauseSignal, drain: drainSignal, forbid: forbidSignal }[mode], { reason })
  } catch (error) {
    throw fromTemporal(error, { gone: 'LANE_NOT_FOUND' }, { lane })
  }
}

/** Gives a ledger an order. Throws INPUT_INVALID with what the ledger says against it, LANE_NOT_FOUND, TEMPORAL_UNAVAILABLE. */
export async function orderOfLane(client: TemporalClient, lane: LaneId, order: OperatorOrder): Promise<LaneView> {
  const requests = [{ ...order, id: 'operator' } as LaneRequest]
  try {
    const { answers, view } = await client.withDeadline(Date.now() + orderTimeoutMs, () => applyToLane(client, lane, { requests }))
    const [answer] = answers
    if (answer?.kind === 'refused') throw new RelayerError('INPUT_INVALID', { detail: answer.detail, facts: { lane } })
    return view
  } catch (error) {
    throw fromTemporal(error, { gone: 'LANE_NOT_FOUND' }, { lane })
  }
}
