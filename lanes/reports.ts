import type { LaneState, LaneId } from '../domain/lane/lane.ts'
import type { LaneStatus, LaneView } from '../domain/lane/messages.ts'
import { view } from '../domain/lane/view.ts'
import type { ChainName } from '../domain/transfer/transfer.ts'
import { limited } from '../temporal/client/connection/answer-limits.ts'
import type { TemporalClient } from '../temporal/client/connection/client.ts'
import { readLane, runningLanes } from '../temporal/client/lanes/lanes.ts'
import { rowOf } from '../temporal/client/visibility/rows.ts'
import { statusOf } from './ledger/open-lanes.ts'
import { laneReportSchema } from './report-schema.ts'

export interface LaneReport extends Partial<Pick<LaneView, 'next' | 'latest' | 'finalized' | 'inFlight' | 'window'>> {
  readonly lane: LaneId
  /** Absent if the ledger of the lane runs, but the config has no such lane. */
  readonly chain: string | undefined
  readonly status: string
  /** Decimal wei. */
  readonly balance?: string
  readonly observedAt?: string
  readonly reason?: string
  readonly by?: string
}

export async function listLanes(client: TemporalClient, chains: ReadonlyMap<LaneId, ChainName>): Promise<LaneReport[]> {
  const running = await runningLanes(client, [...chains.keys()])
  const [ofOwn, ofOthers] = [limited(client, 'own'), limited(client, 'others')]
  const report = async (lane: LaneId) => {
    const chain = chains.get(lane)
    if (!running.has(lane)) return toRow(lane, chain, false)
    const read = async () => {
      const state = await readLane(chain === undefined ? ofOthers : ofOwn, lane)
      return toRow(lane, chain, true, state, await statusOf(client, lane, state).catch(() => undefined))
    }
    return rowOf(laneReportSchema, read, () => toRow(lane, chain, true))
  }
  return Promise.all([...new Set([...chains.keys(), ...running])].map(report))
}

export function toRow(lane: LaneId, chain: string | undefined, running: boolean, state?: LaneState, status?: LaneStatus): LaneReport {
  if (!state) return { lane, chain, status: running ? 'no answer' : 'no ledger yet' }
  const { next, latest, finalized, inFlight, window, closed } = view(state)
  const why = closed ?? (status?.why && { why: status.why, detail: status.detail ?? '' })
  return {
    lane,
    chain,
    status: why ? (words[why.why] ?? why.why) : state.synced ? 'active' : 'syncing',
    next,
    latest,
    finalized,
    inFlight,
    window,
    balance: state.observed?.balance,
    ...(state.observed && { observedAt: new Date(state.observed.at).toISOString() }),
    ...(why ? { reason: why.detail, ...(closed?.by !== undefined && { by: closed.by }) } : window === 0 && { reason: noWindow }),
  }
}

/** A lane with a window of 0 is not closed but grants nothing, so its report gives this reason. */
const noWindow = 'its window is 0: it grants no nonces until portage lane set-window'

const words: Readonly<Record<string, string>> = { funds: 'broke', replaced: 'chain replaced' }
