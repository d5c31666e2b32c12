import { RelayerError } from '../domain/errors.ts'
import { intentOf } from '../domain/lane/entries.ts'
import { workflowOf } from '../domain/lane/intent-id.ts'
import type { LaneId } from '../domain/lane/lane-id.ts'
import type { LaneState } from '../domain/lane/lane.ts'
import { batchNoncesOf } from '../temporal/client/batches.ts'
import { type TemporalClient, within } from '../temporal/client/client.ts'
import { ifGone } from '../temporal/client/errors.ts'
import { queryLane } from '../temporal/client/lanes.ts'

/** Longest wait for a ledger's answer, ms: less than the activity has. */
const answerMs = 10_000

/** What the ledger of a lane says of the nonces of one workflow. */
export interface LedgerNonces {
  readonly lane: LaneId
  /** Not final for the ledger: of the workflow's intents, of any round or run, abandoned ones too, and of batches that carry one of them. */
  readonly nonces: readonly number[]
  /** Of those, the intents whose nonces the lane does not fill yet. */
  readonly owners: readonly string[]
  /** Nonces below it are final for the ledger, which has forgotten them. */
  readonly finalized: number
  /** False: the ledger is not there, began anew, or has nonces of an earlier one that are not final: it cannot say what that one had granted. */
  readonly knowsAll: boolean
}

/** Asks the ledgers of a chain for what intents of a workflow hold. `more`: lanes beside the configured ones. Throws LANE_UNREACHABLE. */
export type HeldNonces = (workflowId: string, more: readonly LaneId[]) => Promise<LedgerNonces[]>

/** Works without a key and without a process of the lane. @param batched whether these lanes have batches at all */
export function createHeldNonces(client: TemporalClient, lanes: readonly LaneId[], batched: boolean): HeldNonces {
  const ask = async (lane: LaneId, workflowId: string): Promise<LedgerNonces> => {
    try {
      const state = await within(client, answerMs, () => queryLane(client, lane)).catch(ifGone(undefined))
      if (!state) return { lane, nonces: [], owners: [], finalized: 0, knowsAll: false }
      const inBatches = batched ? await within(client, answerMs, () => batchNoncesOf(client, lane, workflowId)) : []
      return wordOf(lane, state, workflowId, inBatches)
    } catch (error) {
      throw new RelayerError('LANE_UNREACHABLE', { facts: { lane }, cause: error })
    }
  }
  return (workflowId, more) => Promise.all([...new Set([...lanes, ...more])].map((lane) => ask(lane, workflowId)))
}

function wordOf(lane: LaneId, state: LaneState, workflowId: string, inBatches: readonly number[]): LedgerNonces {
  const entries = Object.values(state.entries)
  const own = entries.filter((entry) => {
    const intentId = intentOf(entry)
    return intentId !== undefined && workflowOf(intentId) === workflowId
  })
  return {
    lane,
    nonces: [...own.map(({ nonce }) => nonce), ...inBatches],
    owners: own.flatMap(({ owner, fill }) => (owner && !fill ? [owner.intentId] : [])),
    finalized: state.observed?.finalized ?? 0,
    knowsAll: state.synced && !entries.some(({ owner, fill }) => !owner && fill === 'inherited'),
  }
}
