import type { Config } from '../../config/schema/schema.ts'
import { lanesOf } from '../../config/chains.ts'
import type { ErrorCode } from '../../domain/catalogue/errors.ts'
import { reviewFunds } from '../../domain/lane/funds.ts'
import { laneAddress } from '../../domain/lane/lane-id.ts'
import type { LaneState } from '../../domain/lane/lane.ts'
import type { ClosedFor } from '../../domain/lane/messages.ts'
import { refusalCodes } from '../../domain/lane/refusal-codes.ts'
import { unmined } from '../../domain/lane/entries.ts'
import { view } from '../../domain/lane/view.ts'
import type { ChainFacts, Facts, LaneFacts, TransferFacts } from './facts.ts'
import type { Finding } from './finding.ts'
import { errorOf, valueOf } from './read.ts'
import type { CauseCode } from '../../domain/catalogue/catalogue.ts'

/** A nonce that was given so many blocks ago and is not mined is stuck: the lane has raised its fee again and again. */
const stuckBlocks = 30
/**
 * Tasks that no process has taken for so long, while the ledger hears nothing of the lane for twice that, and for two blocks: its process was killed, ms. One that
 * is only busy tells the ledger of each block's nonces.
 */
const untakenMs = 4_000

type Of = Pick<Finding, 'where' | 'asOf' | 'values'>

/** What is wrong with the lanes of the config. */
export function explainLanes(facts: Pick<Facts, 'at' | 'chains' | 'lanes' | 'ledger'>, config: Pick<Config, 'chains'>): Finding[] {
  const { at, lanes, chains } = facts
  const configured = lanesOf(config)
  return lanes.flatMap((one): Finding[] => {
    const { lane, chain, ledger } = one
    const shown = chains.find((each) => each.chain === chain)
    const others = configured.filter((other) => other.chain === chain && other.id !== lane)
    const values = { lane, chain, address: laneAddress(lane), ...(others[0] && { 'other lane': others[0].id }) }
    const of: Of = { where: { kind: 'lane', id: lane }, asOf: ledger.asOf, values }
    const state = valueOf(ledger)
    const unserved = explainMissingWorkers(one, of, at, 2 * Math.max(untakenMs, shown?.blockTimeMs ?? 0))
    const silent = errorOf(ledger)?.code === 'LANE_UNREACHABLE' && facts.ledger.answered > 0
    if (silent)
      return [...unserved, { row: 'LANE_UNREACHABLE', ...of, holds: holdsOf(one), what: 'The ledger of the lane does not answer.' }]
    const closed = explainClosed(one, of, state, shown)
    const stuck = unserved.length === 0 && state ? explainStuck(one, of, state, shown) : []
    return [...unserved, ...closed, ...stuck]
  })
}

/** Those that this lane has chosen or that hold a nonce of it, and those that no lane of the chain takes. */
function holdsOf({ lane, chain }: LaneFacts, ...codes: readonly ErrorCode[]): (transfer: TransferFacts) => boolean {
  const waits: ReadonlySet<string | undefined> = new Set(['LANE_NONE', ...codes])
  return ({ state, lane: chosen, targetChain, code }) =>
    ((state === 'broadcasting' || state === 'pending') && chosen === lane) ||
    (state === 'waiting' && targetChain === chain && waits.has(code))
}

/** @param silentMs since when a ledger that hears nothing is not told */
function explainMissingWorkers(one: LaneFacts, of: Of, at: number, silentMs: number): Finding[] {
  const queue = valueOf(one.queue)
  if (!queue) return []
  const toldAt = valueOf(one.ledger)?.observed?.at ?? 0
  const isUntaken = queue.waiting > 0 && queue.waitingMs > untakenMs && at - toldAt > silentMs
  if (queue.isPolled && !isUntaken) return []
  const what = `No process takes the tasks of ${one.lane}${queue.waiting > 0 ? `: ${queue.waiting} wait` : ''}.`
  const since = toldAt > 0 ? toldAt : undefined
  return [{ row: 'LANE_WITHOUT_WORKER', ...of, asOf: one.queue.asOf, since, what, holds: holdsOf(one, 'LANE_UNREACHABLE') }]
}

const rows: Readonly<Record<ClosedFor, CauseCode>> = {
  paused: 'LANE_PAUSED',
  draining: 'LANE_DRAINING',
  forbidden: 'LANE_FORBIDDEN',
  funds: 'LANE_FUNDS',
  replaced: 'LANE_CHAIN_REPLACED',
}
const orders: Partial<Record<ClosedFor, string>> = { paused: 'pause', draining: 'drain', forbidden: 'forbid' }

function explainClosed(one: LaneFacts, of: Of, state: LaneState | undefined, chain: ChainFacts | undefined): Finding[] {
  const balance = chain?.balances.get(laneAddress(one.lane))
  const isEmpty = balance === '0'
  const known =
    state && balance !== undefined && state.observed ? reviewFunds({ ...state, observed: { ...state.observed, balance } }) : state
  const closed = known && view(known).closed
  if (closed && !(isEmpty && closed.why === 'funds')) {
    const { why, detail, by } = closed
    const since = known.orders?.findLast(({ kind }) => kind === orders[why])?.at
    const what = `The lane ${stateWords[why]}${by === undefined ? '' : ` by ${by}`}: ${detail}`
    return [{ row: rows[why], ...of, since, what, holds: holdsOf(one, refusalCodes[why]) }]
  }
  if (isEmpty) return [{ row: 'LANE_FUNDS', ...of, what: 'The account of the lane is empty.', holds: holdsOf(one, 'LANE_FUNDS') }]
  if (!state) return []
  if (state.config.window === 0) {
    const since = state.orders?.findLast(({ kind }) => kind === 'setWindow')?.at
    return [
      { row: 'LANE_WINDOW_ZERO', ...of, since, what: 'The window of the lane is 0: it gives no nonces.', holds: holdsOf(one, 'LANE_FULL') },
    ]
  }
  return state.synced
    ? []
    : [{ row: 'LANE_UNSYNCED', ...of, what: 'The ledger of the lane has not read its account yet.', holds: holdsOf(one, 'LANE_UNSYNCED') }]
}

const stateWords: Readonly<Record<ClosedFor, string>> = {
  paused: 'is paused',
  draining: 'drains',
  forbidden: 'is forbidden',
  funds: 'cannot pay',
  replaced: 'has stopped itself',
}

/** The lowest nonce that is not mined: below what the chain asks, or there for long. */
function explainStuck(one: LaneFacts, of: Of, state: LaneState, chain: ChainFacts | undefined): Finding[] {
  const [lowest] = unmined(state)
  const attempt = lowest?.attempts.at(-1)
  const heads = (chain?.nodes ?? []).flatMap(({ head }) => (head && valueOf(head)) ?? [])
  const head = heads.toSorted((a, b) => b.height - a.height)[0]
  if (!lowest || !attempt || !head) return []
  // As far as the ledger has looked: that of an idle lane is old, and a nonce that it gives then is of that block.
  const blocks = (state.observed?.height ?? 0) - lowest.sinceBlock
  const values = { ...of.values, nonce: String(lowest.nonce) }
  const holds = ({ lane, state: now }: TransferFacts) => lane === one.lane && (now === 'broadcasting' || now === 'pending')
  const tries = `nonce ${lowest.nonce} was given ${blocks} blocks ago, ${lowest.attempts.length} attempts`
  if (head.baseFee !== undefined && BigInt(attempt.maxFee) < BigInt(head.baseFee)) {
    const what = `The best offer is ${attempt.maxFee} wei per gas, the base fee ${head.baseFee} wei: ${tries}.`
    return blocks >= 2 ? [{ row: 'FEE_LIMIT_REACHED', ...of, values, holds, what }] : []
  }
  return blocks > stuckBlocks ? [{ row: 'NONCE_STUCK', ...of, values, holds, what: `The lowest nonce is not mined: ${tries}.` }] : []
}
