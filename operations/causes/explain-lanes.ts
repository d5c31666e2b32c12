import type { CauseCode } from '../../domain/catalogue/catalogue.ts'
import { type ErrorCode, isWithoutLane } from '../../domain/catalogue/errors.ts'
import { unmined, reviewFunds } from '../../domain/lane/entries.ts'
import { gasPriceText } from '../../domain/text/amounts.ts'
import { laneAddress, type LaneState } from '../../domain/lane/lane.ts'
import { isLow, tokenText } from '../../domain/lane/tokens.ts'
import { laneWorkflowId } from '../../temporal/contracts/names.ts'
import { type ClosedFor, refusalCodes } from '../../domain/lane/messages.ts'
import { closedFor, view } from '../../domain/lane/view.ts'
import { type ChainFacts, errorOf, type Facts, type LaneFacts, majorityHead, tokensOf, type TransferFacts, valueOf } from './facts.ts'
import { type Finding, isolated, lastSign, orElse } from './finding.ts'

const stuckBlocks = 30
/** If tasks wait this long, the lane's process counts as dead, unless the ledger got a message recently. In ms. */
const untakenMs = 4_000
const externalMs = 24 * 3_600_000
const gas = { least: 21_000n, most: 1_000_000n } as const

type Of = Pick<Finding, 'where' | 'asOf' | 'values'>

/** `held`: chains with a finding of their own, which also explains why their lanes are stuck. */
export function explainLanes(facts: Pick<Facts, 'at' | 'chains' | 'lanes' | 'ledger'>, held: ReadonlySet<string>): Finding[] {
  const { at, lanes } = facts
  return lanes.flatMap((one) => isolated(`the lane ${one.lane}`, at, () => explainLane(one, facts, held)))
}

function explainLane(one: LaneFacts, facts: Pick<Facts, 'at' | 'chains' | 'lanes' | 'ledger'>, held: ReadonlySet<string>): Finding[] {
  const { at, lanes, chains } = facts
  const { lane, chain, ledger } = one
  const shown = chains.find((each) => each.chain === chain)
  const other = richest(one, lanes, shown, at)
  const values = { lane, chain, address: laneAddress(lane), ...(other && { 'other lane': other.lane }) }
  const of: Of = { where: { kind: 'lane', id: lane }, asOf: ledger.asOf, values }
  const state = valueOf(ledger)
  const missing = explainMissingWorkers(one, of, at, 2 * Math.max(untakenMs, shown?.blockTimeMs ?? 0))
  const notes = [...explainTokens(one, of, shown), ...explainExternalUse(of, state, at)]
  if (errorOf(ledger)?.code === 'LANE_UNREACHABLE' && facts.ledger.answered > 0) {
    const partOf = { rows: ['WORKFLOW_FAILING'] as const, id: laneWorkflowId(lane) }
    const what = 'The ledger of the lane does not answer.'
    return [...missing, ...notes, { row: 'LANE_UNREACHABLE', ...of, holds: holdsOf(one), what, partOf }]
  }
  const closed = explainClosed(one, of, state, shown, at)
  const isCaused = missing.length > 0 || held.has(chain) || closed.some(({ row }) => row === 'LANE_FUNDS')
  return [...missing, ...closed, ...notes, ...(state && !isCaused ? explainStuck(one, of, state, shown) : [])]
}

function holdsOf({ lane, chain }: LaneFacts, ...codes: readonly ErrorCode[]): (transfer: TransferFacts) => boolean {
  const waits: ReadonlySet<string | undefined> = new Set(codes)
  const isHeld = ({ code, chosenLane = lane }: TransferFacts) => waits.has(code) || (isWithoutLane(code) && chosenLane === lane)
  return (one) =>
    ((one.state === 'broadcasting' || one.state === 'pending') && one.lane === lane) ||
    (one.state === 'waiting' && one.targetChain === chain && isHeld(one))
}

function explainMissingWorkers(one: LaneFacts, of: Of, at: number, silentMs: number): Finding[] {
  const queue = valueOf(one.queue)
  if (!queue) return []
  const reportedAt = valueOf(one.ledger)?.observed?.at ?? 0
  const isUntaken = queue.waiting > 0 && queue.waitingMs > untakenMs && at - reportedAt > silentMs
  if (queue.isPolled && !isUntaken) return []
  const since = Math.max(reportedAt, queue.polledAt ?? 0) || undefined
  const what = `No process takes the tasks of ${one.lane}${queue.waiting > 0 ? `: ${queue.waiting} wait` : ''}.${lastSign(since, at)}`
  return [{ row: 'LANE_WITHOUT_WORKER', ...of, asOf: one.queue.asOf, since, what, holds: holdsOf(one, 'LANE_UNREACHABLE') }]
}

const closedRows: Readonly<Record<ClosedFor, { readonly row: CauseCode; readonly words: string; readonly order?: string }>> = {
  paused: { row: 'LANE_PAUSED', words: 'is paused', order: 'pause' },
  draining: { row: 'LANE_DRAINING', words: 'drains', order: 'drain' },
  forbidden: { row: 'LANE_FORBIDDEN', words: 'is forbidden', order: 'forbid' },
  funds: { row: 'LANE_FUNDS', words: 'cannot pay' },
  replaced: { row: 'LANE_CHAIN_REPLACED', words: 'has stopped itself' },
}

function explainClosed(one: LaneFacts, of: Of, state: LaneState | undefined, chain: ChainFacts | undefined, at: number): Finding[] {
  const balance = chain?.balances.get(laneAddress(one.lane))
  const least = gas.least * baseFeeOf(chain)
  const isEmpty = balance !== undefined && (balance === '0' || BigInt(balance) < least)
  const known = state && balance !== undefined ? reviewFunds(withBalance(state, balance), at) : state
  const closed = known && view(known).closed
  if (closed && !(isEmpty && closed.why === 'funds')) {
    const { why, detail, by } = closed
    const { row, words, order } = closedRows[why]
    const what = `The lane ${words}${by === undefined ? '' : ` by ${by}`}: ${detail}`
    const useless = [...uselessTopUp(of), ...(closed.pause === 'unauthorized' ? ['portage lane resume'] : [])]
    return [{ row, ...of, since: orderedAt(known, order), what, holds: holdsOf(one, refusalCodes[why]), useless }]
  }
  if (isEmpty) {
    const poor = `The account of the lane has ${balance} wei, and the smallest transaction costs ${least} wei.`
    const what = balance === '0' ? 'The account of the lane is empty.' : poor
    return [{ row: 'LANE_FUNDS', ...of, what, holds: holdsOf(one, 'LANE_FUNDS'), useless: uselessTopUp(of) }]
  }
  if (state?.config.window === 0) {
    const { window } = state.configured
    const what = `The window of the lane is 0, so the lane grants no nonces${window > 0 ? ` (the config says ${window})` : ''}.`
    const values = { ...of.values, ...(window > 0 && { number: String(window) }) }
    return [{ row: 'LANE_WINDOW_ZERO', ...of, values, since: orderedAt(state, 'setWindow'), what, holds: holdsOf(one, 'LANE_FULL') }]
  }
  if (!state || state.synced) return []
  const what = 'The ledger of the lane has not read its account yet.'
  return [{ row: 'LANE_UNSYNCED', ...of, what, holds: holdsOf(one, 'LANE_UNSYNCED') }]
}

function explainTokens({ lane }: LaneFacts, of: Of, chain: ChainFacts | undefined): Finding[] {
  return tokensOf(chain, laneAddress(lane))
    .filter(isLow)
    .map((one) => {
      const [balance, minimum] = [one.balance, one.minimum ?? '0'].map((units) => tokenText(one, units))
      return { row: 'LANE_TOKEN_LOW', ...of, what: `The account of the lane has ${balance}, less than its minimum of ${minimum}.` }
    })
}

function explainExternalUse(of: Of, state: LaneState | undefined, at: number): Finding[] {
  const since = state?.externalAt
  if (since === undefined || at - since > externalMs) return []
  const what = `The key of the lane is used outside Portage: ${state?.counts.external} nonces so far.`
  return [{ row: 'KEY_USED_ELSEWHERE', ...of, since, what }]
}

function baseFeeOf(chain: ChainFacts | undefined): bigint {
  return BigInt(majorityHead(chain)?.baseFee ?? 0)
}

function uselessTopUp({ values }: Of): string[] {
  return values && 'other lane' in values ? [] : ['portage lane top-up']
}

/**
 * The chain's richest other lane that takes work, has a worker, and has more coins than `kept`. Undefined if no lane
 * qualifies.
 */
function richest(
  { lane, chain: name }: LaneFacts,
  lanes: readonly LaneFacts[],
  chain: ChainFacts | undefined,
  at: number,
): LaneFacts | undefined {
  const kept = 4n * gas.most * baseFeeOf(chain)
  const able = lanes.flatMap((one) => {
    if (one.chain !== name || one.lane === lane) return []
    const [state, queue] = [valueOf(one.ledger), valueOf(one.queue)]
    const balance = BigInt(chain?.balances.get(laneAddress(one.lane)) ?? 0)
    const isOpen = orElse(false, () => !!state && !closedFor(reviewFunds(withBalance(state, String(balance)), at), true))
    return isOpen && queue?.isPolled && balance > kept ? [{ one, balance }] : []
  })
  return able.toSorted((a, b) => (a.balance < b.balance ? 1 : -1))[0]?.one
}

function withBalance(state: LaneState, balance: string): LaneState {
  return state.observed ? { ...state, observed: { ...state.observed, balance } } : state
}

function orderedAt({ orders }: LaneState, order: string | undefined): number | undefined {
  return orders?.findLast(({ kind }) => kind === order)?.at
}

function explainStuck(one: LaneFacts, of: Of, state: LaneState, chain: ChainFacts | undefined): Finding[] {
  const [lowest] = unmined(state)
  const attempt = lowest?.attempts.at(-1)
  const head = majorityHead(chain)
  if (!lowest || !attempt || !head) return []
  // Counts only blocks that the ledger knows: an idle ledger lags behind the head, and grants a nonce at an old height.
  const { height = 0, reportedSince = 0 } = state.observed ?? {}
  const blocks = height - Math.max(lowest.sinceBlock, reportedSince)
  // Number of `blocks` for which reports may be missing. It is 0 after a second attempt, which shows that a process has
  // reported.
  const mostGap = lowest.attempts.length > 1 ? 0 : Math.floor(state.config.fillAfterBlocks / 2)
  const values = { ...of.values, nonce: String(lowest.nonce) }
  const holds = ({ lane, state: now }: TransferFacts) => lane === one.lane && (now === 'broadcasting' || now === 'pending')
  const { attempts, nonce } = lowest
  const base = head.baseFee === undefined ? '' : `, and the base fee is ${gasPriceText(head.baseFee)}`
  const last = attempts.length === 1 ? 'Its only attempt' : `The last of its ${attempts.length} attempts`
  const tries = `Nonce ${nonce} was given ${blocks} blocks ago. ${last} offers ${gasPriceText(attempt.maxFee)} per unit of gas${base}.`
  if (head.baseFee !== undefined && BigInt(attempt.maxFee) < BigInt(head.baseFee))
    return blocks >= 2 ? [{ row: 'FEE_LIMIT_REACHED', ...of, values, holds, what: tries }] : []
  if (blocks <= stuckBlocks + mostGap) return []
  return [{ row: 'NONCE_STUCK', ...of, values, holds, what: `The lowest nonce is not mined. ${tries}` }]
}
