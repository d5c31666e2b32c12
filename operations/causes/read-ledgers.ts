import { lanesOf } from '../../config/chains.ts'
import type { Config } from '../../config/schema/schema.ts'
import { RelayerError } from '../../domain/catalogue/errors.ts'
import type { LaneId } from '../../domain/lane/lane-id.ts'
import type { LaneState } from '../../domain/lane/lane.ts'
import { mapLimited } from '../../runtime/map-limited.ts'
import { type TemporalClient, within } from '../../temporal/client/connection/client.ts'
import { readLane } from '../../temporal/client/lanes/lanes.ts'
import { describePendingWork } from '../../temporal/client/visibility/pending-work.ts'
import { listRuns, type RunId } from '../../temporal/client/visibility/runs.ts'
import { listStreamNames, queryStream } from '../../temporal/client/streams/streams.ts'
import { ledgerWorkflows } from '../../temporal/contracts/names.ts'
import type { FailingWorkflow, LaneFacts, StreamFacts } from './facts.ts'
import { limits, read } from './read.ts'
import { triesUntilFailing } from './read-transfers.ts'

const most = { lanes: 100, streams: 100, workflows: 100, atOnce: 20 } as const

/** Two calls for each lane. Never throws. */
export function readLanes(
  client: TemporalClient,
  config: Pick<Config, 'chains'>,
  queueOf: (lane: LaneId) => Promise<LaneFacts['queue']>,
): Promise<LaneFacts[]> {
  return mapLimited(lanesOf(config).slice(0, most.lanes), most.atOnce, async ({ id: lane, chain }): Promise<LaneFacts> => {
    const [ledger, queue] = await Promise.all([read(limits.temporalMs + 500, () => ledgerOf(client, lane)), queueOf(lane)])
    return { lane, chain, ledger, queue }
  })
}

/** Undefined: no ledger yet. Throws as `readLane`. */
function ledgerOf(client: TemporalClient, lane: LaneId): Promise<LaneState | undefined> {
  return readLane(client, lane).catch((error: unknown) => {
    if (error instanceof RelayerError && error.code === 'LANE_NOT_FOUND') return undefined
    throw error
  })
}

/** One visibility query, one call for each stream. Throws as the client. */
export async function readStreams(client: TemporalClient): Promise<StreamFacts[]> {
  const names = await within(client, limits.temporalMs, () => listStreamNames(client))
  const facts = await mapLimited(names.toSorted().slice(0, most.streams), most.atOnce, async (stream): Promise<StreamFacts[]> => {
    const state = await read(limits.temporalMs, () => within(client, limits.temporalMs, () => queryStream(client, stream)))
    if ('error' in state) {
      // A timeout here means a worker that did not answer.
      const error = state.error.code === 'INTERNAL' ? new RelayerError('STREAM_UNREACHABLE', { facts: { stream } }) : state.error
      return [{ stream, state: { asOf: state.asOf, error } }]
    }
    // Undefined: it has ended since.
    return state.value ? [{ stream, state: { asOf: state.asOf, value: state.value } }] : []
  })
  return facts.flat()
}

/** Of the queue `ledger`: one visibility query, one call for each. Throws as the client. */
export async function readFailing(client: TemporalClient): Promise<FailingWorkflow[]> {
  const runs: RunId[] = []
  const types = `(${ledgerWorkflows.map((type) => `'${type}'`).join(', ')})`
  await within(client, limits.temporalMs, async () => {
    for await (const run of listRuns(client, `WorkflowType IN ${types} AND ExecutionStatus = 'Running'`)) {
      if (runs.push(run) >= most.workflows) break
    }
  })
  const found = await mapLimited(runs, most.atOnce, async (run): Promise<FailingWorkflow[]> => {
    const work = await within(client, limits.temporalMs, () => describePendingWork(client, run)).catch(() => undefined)
    if (!work || work.taskTries < triesUntilFailing) return []
    return [{ workflow: run.workflowId, tries: work.taskTries, ...(work.taskSince !== undefined && { since: work.taskSince }) }]
  })
  return found.flat()
}
