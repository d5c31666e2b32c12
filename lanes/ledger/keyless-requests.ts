import { RelayerError } from '../../domain/catalogue/errors.ts'
import { intentOf, isInherited, knowsAllNonces } from '../../domain/lane/entries.ts'
import { type LaneConfig, type LaneId, type LaneState, type PauseReason, workflowOf } from '../../domain/lane/lane.ts'
import type { LaneOrder, LaneRequest } from '../../domain/lane/messages.ts'
import { portageItself } from '../../domain/order.ts'
import { sharedRead } from '../../runtime/shared-read.ts'
import { type TemporalClient, within } from '../../temporal/client/connection/client.ts'
import { ifGone, isGone } from '../../temporal/client/connection/errors.ts'
import { applyToLane, laneStartedAt, queryLane } from '../../temporal/client/lanes/lanes.ts'
import { carriedByBatches, nonceOfBatchWith } from '../../temporal/client/transfers/batches.ts'
import type { KeylessSteps } from '../../temporal/contracts/transfer-steps.ts'
import { randomUUID } from 'node:crypto'

/** Time limit of a withdrawal, ms, shorter than the time-out of an activity. */
const withdrawalMs = 20_000
const pauseMs = 10_000
const answerMs = 10_000
const sharedEveryMs = 200
/** Time (ms) after which no pool is expected to hold a transaction that was signed before. */
export const poolMs = 24 * 60 * 60_000

export type Withdraw = KeylessSteps['withdraw']

export interface LedgerNonces {
  readonly lane: LaneId
  /** Nonces that are not final: of the workflow's intents, and of batches that carry such an intent. */
  readonly nonces: readonly number[]
  /** Intents of the workflow that still own their nonces, because the lane does not fill them. */
  readonly owners: readonly string[]
  /** Lowest nonce that is not final. The ledger has forgotten all lower nonces. */
  readonly finalized: number
  /** Highest nonce of an earlier ledger that is not final. Undefined if there is none. */
  readonly inherited?: number | undefined
  /**
   * Whether the ledger waits for the first report of the account. Without a report for a day, the ledger of a lane that
   * the config lacks is no longer new.
   */
  readonly isNew: boolean
  /** False if the ledger is missing or unsynced, has no recent report, or lacks the grants of an earlier ledger. */
  readonly knowsAll: boolean
  /**
   * Time of the last report, ms since the epoch, by the ledger's clock. 0 if the ledger is missing or unsynced.
   * Undefined if no process reports: the config lacks the lane, or its chain was replaced.
   */
  readonly reportedAt?: number | undefined
}

export type HeldNonces = (workflowId: string, more?: readonly LaneId[]) => Promise<LedgerNonces[]>

export function createKeylessRequests(client: TemporalClient, lanes: ReadonlyMap<LaneId, LaneConfig>, batched: boolean) {
  const readings = [...lanes.keys()].map((lane) => {
    const known = new Map<string, ReadonlySet<string>>()
    return [lane, sharedRead(() => readLedger(client, lane, { batched, known }), sharedEveryMs)] as const
  })
  const reportedAt = (lane: LaneId, state: LaneState | undefined) => {
    if (!lanes.has(lane) || state?.replaced) return undefined
    return state?.synced ? (state.observed?.at ?? 0) : 0
  }
  const toNonces = (lane: LaneId, reading: LedgerReading | undefined, workflowId: string) => {
    return { ...noncesOf(lane, reading, workflowId), reportedAt: reportedAt(lane, reading?.state) }
  }
  return {
    withdraw: createWithdrawals(client, lanes, batched),
    requestReport: createReportRequests(client, lanes),
    heldNonces: (workflowId: string, more: readonly LaneId[] = []) => {
      const asked = [...new Set([...lanes.keys(), ...more])]
      const read = (lane: LaneId) => readLedger(client, lane, { batched, isRemoved: !lanes.has(lane) })
      return Promise.all(asked.map(async (lane) => toNonces(lane, await read(lane), workflowId)))
    },
    /** Shares reads between workflows: at most one per ledger in 200 ms. */
    sharedHeldNonces: (workflowId: string) => Promise.all(readings.map(async ([lane, read]) => toNonces(lane, await read(), workflowId))),
  }
}

/**
 * Returns a function that withdraws an intent. It starts a missing ledger, so that the ledger refuses late requests for
 * the intent. Throws LANE_UNREACHABLE.
 */
function createWithdrawals(client: TemporalClient, lanes: ReadonlyMap<LaneId, LaneConfig>, batched: boolean): Withdraw {
  return async ({ lane, intentId, how }) => {
    try {
      const request: LaneRequest = { kind: 'withdraw', id: `withdraw/${intentId}`, intentId, how }
      const [answer] = await apply(client, lane, lanes.get(lane), request, withdrawalMs)
      if (answer?.kind === 'held') return { kind: 'held', nonce: answer.nonce }
      if (!batched || how === 'abandon') return { kind: 'free' }
      const nonce = await within(client, withdrawalMs, () => nonceOfBatchWith(client, lane, intentId))
      return nonce === undefined ? { kind: 'free' } : { kind: 'held', nonce }
    } catch (error) {
      if (isGone(error)) return { kind: 'free' }
      throw new RelayerError('LANE_UNREACHABLE', { facts: { lane }, cause: error })
    }
  }
}

/**
 * Returns a function that requests a report of a lane's account, because the processes of an idle lane send none. Until
 * the report, the ledger grants no nonce. It starts a missing ledger.
 */
function createReportRequests(client: TemporalClient, lanes: ReadonlyMap<LaneId, LaneConfig>) {
  return async (lane: LaneId, reason: string): Promise<void> => {
    const request: LaneOrder = { kind: 'resync', id: randomUUID(), order: { by: portageItself, reason } }
    try {
      await apply(client, lane, lanes.get(lane), request, withdrawalMs)
    } catch (error) {
      throw new RelayerError('LANE_UNREACHABLE', { facts: { lane }, cause: error })
    }
  }
}

export function createPauses(client: TemporalClient, lanes: ReadonlyMap<LaneId, LaneConfig>) {
  async function order(lane: LaneId, request: LaneOrder): Promise<void> {
    const config = lanes.get(lane)
    if (config) await apply(client, lane, config, request, pauseMs)
  }
  return {
    pause: (lane: LaneId, pause: PauseReason) =>
      order(lane, { kind: 'pause', id: randomUUID(), pause, order: { by: portageItself, reason: pause.reason } }),
    /** Ends only a pause of this kind, because an operator may have paused the lane in the meantime. */
    resume: (lane: LaneId, { kind, reason }: PauseReason) =>
      order(lane, { kind: 'resume', id: randomUUID(), only: kind, order: { by: portageItself, reason } }),
  }
}

async function apply(client: TemporalClient, lane: LaneId, config: LaneConfig | undefined, request: LaneRequest | LaneOrder, ms: number) {
  const start = config && { config }
  const { answers } = await within(client, ms, () => applyToLane(client, lane, { requests: [request] }, { start }))
  return answers
}

interface LedgerReading {
  readonly state: LaneState
  readonly isNew: boolean
  readonly batches: Awaited<ReturnType<typeof carriedByBatches>>
}

async function readLedger(
  client: TemporalClient,
  lane: LaneId,
  { batched, known, isRemoved = false }: { batched: boolean; known?: Map<string, ReadonlySet<string>>; isRemoved?: boolean },
): Promise<LedgerReading | undefined> {
  try {
    const state = await within(client, answerMs, () => queryLane(client, lane)).catch(ifGone(undefined))
    if (!state) return undefined
    const isNew = !state.synced && !(isRemoved && (await isAbandoned(client, lane, state)))
    return { state, isNew, batches: batched ? await within(client, answerMs, () => carriedByBatches(client, lane, known)) : [] }
  } catch (error) {
    throw new RelayerError('LANE_UNREACHABLE', { facts: { lane }, cause: error })
  }
}

/** Whether the ledger has had neither a report nor an order for a day. An order may have reset the ledger. */
async function isAbandoned(client: TemporalClient, lane: LaneId, { observed, orders = [] }: LaneState): Promise<boolean> {
  const reportedAt = observed?.at ?? (await within(client, answerMs, () => laneStartedAt(client, lane)))
  const since = Math.max(reportedAt, orders.at(-1)?.at ?? 0)
  return Date.now() - since > poolMs
}

function noncesOf(lane: LaneId, reading: LedgerReading | undefined, workflowId: string): LedgerNonces {
  if (!reading) return { lane, nonces: [], owners: [], finalized: 0, isNew: false, knowsAll: false }
  const { state, isNew, batches } = reading
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
    inherited: entries.findLast(isInherited)?.nonce,
    isNew,
    knowsAll: knowsAllNonces(state, Date.now()),
  }
}
