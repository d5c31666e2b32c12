import { RelayerError } from '../../domain/catalogue/errors.ts'
import { intentOf } from '../../domain/lane/entries.ts'
import { type LaneId, workflowOf, type LaneState } from '../../domain/lane/lane.ts'
import { type CarriedWorkflows, carriedByBatches } from '../../temporal/client/transfers/batches.ts'
import { type TemporalClient, within } from '../../temporal/client/connection/client.ts'
import { ifGone } from '../../temporal/client/connection/errors.ts'
import { queryLane } from '../../temporal/client/lanes/lanes.ts'
import { sharedRead } from '../../runtime/shared-read.ts'

/** Longest wait for a ledger's answer, ms. Less than the activity has. */
const answerMs = 10_000
const sharedEveryMs = 200

export interface LedgerNonces {
  readonly lane: LaneId
  /** Not final for the ledger: of all intents of the workflow, and of batches that carry one of them. */
  readonly nonces: readonly number[]
  /** Intents of those nonces that the lane does not fill yet. */
  readonly owners: readonly string[]
  /** The ledger has forgotten the nonces below: they are final. */
  readonly finalized: number
  /** False: the ledger is missing, began anew, or does not know the grants of an earlier ledger. */
  readonly knowsAll: boolean
}

/** Asks ledgers for the nonces of a workflow. `more`: lanes in addition to the configured ones. */
export type HeldNonces = (workflowId: string, more?: readonly LaneId[]) => Promise<LedgerNonces[]>

interface LedgerReading {
  readonly state: LaneState
  readonly batches: readonly CarriedWorkflows[]
}

/** Needs neither a key nor a process of the lane. @param batched whether these lanes have batches at all */
export function createHeldNonces(client: TemporalClient, lanes: readonly LaneId[], batched: boolean): HeldNonces {
  return async (workflowId, more = []) => {
    const asked = [...new Set([...lanes, ...more])]
    return Promise.all(asked.map(async (lane) => noncesOf(lane, await readLedger(client, lane, batched), workflowId)))
  }
}

/** The same for many workflows: each ledger is asked at most every 200 ms, after the question. Ignores `more`. */
export function createSharedHeldNonces(client: TemporalClient, lanes: readonly LaneId[], batched: boolean): HeldNonces {
  const readings = lanes.map((lane) => {
    const known = new Map<string, ReadonlySet<string>>()
    return [lane, sharedRead(() => readLedger(client, lane, batched, known), sharedEveryMs)] as const
  })
  return (workflowId) => Promise.all(readings.map(async ([lane, read]) => noncesOf(lane, await read(), workflowId)))
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

function noncesOf(lane: LaneId, reading: LedgerReading | undefined, workflowId: string): LedgerNonces {
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
