import type { QueryDefinition, WorkflowExecutionInfo } from '@temporalio/client'
import { RelayerError } from '../../../domain/catalogue/errors.ts'
import type { Order } from '../../../domain/order.ts'
import { laneAddress, type LaneId, type LaneState } from '../../../domain/lane/lane.ts'
import { bytesToUnpack } from '../../../domain/lane/storage/pack.ts'
import { unpaged } from '../../../domain/lane/storage/pages.ts'
import type { ApplyRequest, ApplyResponse, Ask, LaneView, OperatorAsk } from '../../../domain/lane/messages.ts'
import { applyUpdate, type LaneInput, type LaneMode, laneStatusQuery } from '../../contracts/lane.ts'
import { laneWorkflowId } from '../../contracts/names.ts'
import { assertUnpackable } from '../connection/answer-limits.ts'
import { listWorkflows, newestFirst, type TemporalClient, within } from '../connection/client.ts'
import { fromTemporal, isGone, rethrowAs } from '../connection/errors.ts'
import { checkedOrder, orderTimeoutMs, queryOrWake, updateOrStart } from '../calls/workflow-calls.ts'
import { running } from '../transfers/transfer-queries.ts'
import { type RunningNames, runningNames } from '../visibility/runs.ts'

const queryTimeoutMs = 5_000

/** Starts a missing ledger with `start`. Without `start`, throws WorkflowNotFoundError. */
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

export async function queryLane(client: TemporalClient, lane: LaneId): Promise<LaneState> {
  return unpaged(await queryPagedLane(client, lane))
}

export async function queryPagedLane(client: TemporalClient, lane: LaneId): Promise<LaneState> {
  const state = await queryOrWake(client, laneWorkflowId(lane), laneStatusQuery)
  const bytes = (state.pages ?? []).reduce((sum, page) => sum + bytesToUnpack(page), 0)
  assertUnpackable(client, bytes)
  return state
}

/** Start of the ledger's current run, ms since the epoch. */
export async function laneStartedAt(client: TemporalClient, lane: LaneId): Promise<number> {
  const { startTime } = await client.workflow.getHandle(laneWorkflowId(lane)).describe()
  return startTime.getTime()
}

/** Throws LANE_NOT_FOUND, LANE_UNREACHABLE and TEMPORAL_UNAVAILABLE. */
export function readLane(client: TemporalClient, lane: LaneId): Promise<LaneState> {
  return within(client, queryTimeoutMs, () => queryLane(client, lane)).catch((error: unknown) => {
    if (!isGone(error)) throw fromTemporal(error, { unserved: 'LANE_UNREACHABLE' }, { lane })
    const detail = 'It has no ledger: no lane worker has served it yet.'
    throw new RelayerError('LANE_NOT_FOUND', { detail, facts: { lane }, cause: error })
  })
}

/** See `runningNames`. */
export function findLanes(client: TemporalClient, configured: readonly LaneId[]): Promise<RunningNames> {
  return runningNames(client, 'lane', laneWorkflowId(''), configured).catch(rethrowAs({}))
}

export async function runningLanes(client: TemporalClient, configured: readonly LaneId[]): Promise<Set<LaneId>> {
  const { own, others } = await findLanes(client, configured)
  return new Set([...own, ...others])
}

export async function lanesOfFilter(
  client: TemporalClient,
  configured: readonly LaneId[],
  { lane, sender }: { readonly lane: LaneId | undefined; readonly sender: string | undefined },
): Promise<readonly LaneId[] | undefined> {
  const named = lane === undefined ? undefined : [lane]
  if (sender === undefined) return named
  const known = named ?? [...new Set([...configured, ...(await runningLanes(client, configured))])]
  return known.filter((one) => laneAddress(one) === sender)
}

export async function setLaneMode(client: TemporalClient, lane: LaneId, mode: LaneMode, order: Order): Promise<void> {
  const handle = client.workflow.getHandle(laneWorkflowId(lane))
  await handle.signal(mode, { order: checkedOrder(order) }).catch(rethrowAs({ gone: 'LANE_NOT_FOUND' }, { lane }))
}

export type LedgerOrder = Extract<Ask, { kind: OperatorAsk['kind'] | 'fill' }>

/** Throws INPUT_INVALID if the ledger refuses the order, LANE_NOT_FOUND and TEMPORAL_UNAVAILABLE. */
export async function orderOfLane(client: TemporalClient, lane: LaneId, ask: LedgerOrder, order: Order): Promise<LaneView> {
  const requests = [{ ...ask, order: checkedOrder(order), id: 'operator' }]
  const applied = within(client, orderTimeoutMs, () => applyToLane(client, lane, { requests }))
  const { answers, view } = await applied.catch(rethrowAs({ gone: 'LANE_NOT_FOUND' }, { lane }))
  const [answer] = answers
  if (answer?.kind === 'refused') throw new RelayerError('INPUT_INVALID', { detail: answer.detail, facts: { lane } })
  return view
}

/**
 * `closed`: number of closed workflows. `status` is undefined if the workflow did not answer. Throws
 * TEMPORAL_UNAVAILABLE.
 */
export function listLaneWorkflows<Status>(
  client: TemporalClient,
  lane: LaneId,
  type: 'batch' | 'operatorTransaction',
  closed: number,
  statusQuery: QueryDefinition<Status>,
) {
  const isWanted = ({ workflowId }: WorkflowExecutionInfo) => workflowId.includes(`:${lane}:`)
  const list = (condition: string, most?: number) => listWorkflows(client, `WorkflowType = '${type}' AND ${condition}`, { most, isWanted })
  const read = async ({ workflowId: id, runId, status: execution, startTime, memo }: WorkflowExecutionInfo) => {
    const handle = client.workflow.getHandle(id, runId)
    const ask = () => (execution.name === 'COMPLETED' ? (handle.result() as Promise<Status>) : handle.query(statusQuery))
    const status = await within(client, queryTimeoutMs, ask).catch(() => undefined)
    return { id, execution: execution.name, startedAt: startTime.toISOString(), memo, status }
  }
  return within(client, orderTimeoutMs, async () => {
    const ended = closed > 0 ? await list(`ExecutionStatus != 'Running' AND ExecutionStatus != 'ContinuedAsNew'`, closed) : []
    return Promise.all([...(await list(running)), ...ended].toSorted(newestFirst).map(read))
  }).catch(rethrowAs({}, { lane }))
}
