import { RelayerError } from '../../domain/catalogue/errors.ts'
import { intentOf } from '../../domain/lane/entries.ts'
import { workflowOf } from '../../domain/lane/intent-id.ts'
import type { LaneId } from '../../domain/lane/lane-id.ts'
import type { LaneState } from '../../domain/lane/lane.ts'
import { type CarriedWorkflows, carriedByBatches } from '../../temporal/client/transfers/batches.ts'
import { type TemporalClient, within } from '../../temporal/client/connection/client.ts'
import { ifGone } from '../../temporal/client/connection/errors.ts'
import { queryLane } from '../../temporal/client/lanes/lanes.ts'
import { sharedRead } from '../../runtime/shared-read.ts'

/** Longest wait for a ledger's answer, ms: less than the activity has. */
const answerMs = 10_000
/** Between the starts of two shared readings of a ledger, ms. */
const sharedEveryMs = 200

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
export type HeldNonces = (workflowId: string, more?: readonly LaneId[]) => Promise<LedgerNonces[]>

/** What a ledger has, whoever asks; undefined: it is not there. */
interface LedgerReading {
  readonly state: LaneState
  readonly batches: readonly CarriedWorkflows[]
}

/** Works without a key and without a process of the lane. @param batched whether these lanes have batches at all */
export function createHeldNonces(client: TemporalClient, lanes: readonly LaneId[], batched: boolean): HeldNonces {
  return async (workflowId, more = []) => {
    const asked = [...new Set([...lanes, ...more])]
    return Promise.all(asked.map(async (lane) => wordOf(lane, await readLedger(client, lane, batched), workflowId)))
  }
}

/**
 * The same for many workflows at a time: a ledger is asked at most every 200 ms, whoever sends how much. Each answer is of a reading that began after it was
 * asked for. `more` is not asked, and neither is a lane that has left the config.
 */
export function createSharedHeldNonces(client: TemporalClient, lanes: readonly LaneId[], batched: boolean): HeldNonces {
  const readings = lanes.map((lane) => {
    const known = new Map<string, ReadonlySet<string>>()
    return [lane, sharedRead(() => readLedger(client, lane, batched, known), sharedEveryMs)] as const
  })
  return (workflowId) => Promise.all(readings.map(async ([lane, read]) => wordOf(lane, await read(), workflowId)))
}

async function readLedger(
  client: TemporalClient,
  lane: LaneId,
  batched: boolean,
  known?: Map<string, ReadonlySet<string>>,
): Promise<LedgerReading | undefined> {
  try {
    const state = await within(client, answerMs, () => queryLane(client, lane)).catch(ifGone(undefined))
    if (!state) return undefined
    return { state, batches: batched ? await within(client, answerMs, () => carriedByBatches(client, lane, known)) : [] }
  } catch (error) {
    throw new RelayerError('LANE_UNREACHABLE', { facts: { lane }, cause: error })
  }
}

function wordOf(lane: LaneId, reading: LedgerReading | undefined, workflowId: string): LedgerNonces {
  if (!reading) return { lane, nonces: [], owners: [], finalized: 0, knowsAll: false }
  const { state, batches } = reading
  const entries = Object.values(state.entries)
  const own = entries.filter((entry) => {
    const intentId = intentOf(entry)
    return intentId !== undefined && workflowOf(intentId) === workflowId
  })
  const inBatches = batches.filter(({ workflows }) => workflows.has(workflowId))
  return {
    lane,
    nonces: [...own, ...inBatches].map(({ nonce }) => nonce),
    owners: own.flatMap(({ owner, fill }) => (owner && !fill ? [owner.intentId] : [])),
    finalized: state.observed?.finalized ?? 0,
    knowsAll: state.synced && !entries.some(({ owner, fill }) => !owner && fill === 'inherited'),
  }
}
