import { worstCost } from '../fees/fees.ts'
import { fnv1a } from '../hash.ts'
import { type Broke, type LaneState, roundOf, workflowOf, type Entry, type LaneCounts } from './lane.ts'
import type { LaneAnswer, Refusal } from './messages.ts'

/** Maximum nonces in a ledger: enough for 20 per second with 15 minutes to finality. A full ledger grants no nonces. */
const mostKept = 20_000
/** Size from which a ledger grants no nonces, bytes. Fee raises and a deep reorg need the rest of a state's 2 MiB. */
const mostBytes = 1_572_864

/** Assumed size of an entry that is in no page, bytes. */
const looseBytes = 600

export function kept({ entries, pages = [] }: Pick<LaneState, 'entries' | 'pages'>): { readonly kept: number; readonly keptLimit: number } {
  const loose = Object.keys(entries).length
  const many = pages.reduce((sum, { from, to }) => sum + to - from, loose)
  const bytes = pages.reduce((sum, page) => sum + page.bytes, Math.min(loose, farApart) * looseBytes)
  return { kept: many, keptLimit: bytes > mostBytes ? Math.floor((many * mostBytes) / bytes) : mostKept }
}

/** Maximum plausible gap between the account's nonce and `next`. A larger gap comes from a node's false answer. */
const farApart = 1_000

export interface Step {
  readonly state: LaneState
  readonly answer: LaneAnswer
}

export function inFlight(state: LaneState): number {
  return Math.max(0, state.next - (state.observed?.latest ?? state.next))
}

/** The entries without a block, sorted by nonce. Normally, this does not visit the thousands of mined entries. */
export function unmined(state: LaneState): Entry[] {
  const latest = state.observed?.latest ?? 0
  // JavaScript lists whole-number keys in ascending order, so the entries are sorted by nonce.
  if (state.next - latest > farApart) return Object.values(state.entries).filter(({ nonce }) => nonce >= latest)
  const result: Entry[] = []
  for (let nonce = latest; nonce < state.next; nonce++) {
    const entry = state.entries[nonce]
    if (entry) result.push(entry)
  }
  return result
}

export function isMined(state: LaneState, { nonce }: Entry): boolean {
  return nonce < (state.observed?.latest ?? 0)
}

export function reusable(entry: Entry): boolean {
  return entry.fill === 'released' && entry.attempts.length === 0
}

/** Cost of the entry's most expensive attempt, because any of its attempts may be mined. */
export function entryCost(entry: Entry): bigint {
  const value = BigInt(entry.owner?.value ?? entry.value ?? '0')
  return entry.attempts.map((one) => worstCost(one) + (one.kind === 'call' ? value : 0n)).reduce((a, b) => (a > b ? a : b), 0n)
}

export function ofIntent(state: LaneState, intentId: string): Entry | undefined {
  return Object.values(state.entries).find((entry) => entry.owner?.intentId === intentId)
}

export function isWithdrawn({ tombstones }: LaneState, intentId: string): boolean {
  return tombstones.includes(tombstone(intentId))
}

/**
 * Hash by which the ledger remembers a withdrawn intent. If two intents have the same hash, the ledger refuses the
 * second one, and its transfer begins a new round.
 */
export function tombstone(intentId: string): string {
  return `${fnv1a(intentId).toString(36)}-${fnv1a(intentId, 0x2f0b4c47).toString(36)}`
}

export function intentOf({ owner, abandonedBy }: Entry): string | undefined {
  return owner?.intentId ?? abandonedBy
}

/**
 * A lane without a report for this long (ms) counts as having no process with its key. Processes report every few
 * seconds.
 */
export const withoutWorkerMs = 30_000

/** A report from the future does not count: `now` is then by a clock that is behind Temporal's. */
export function isReported({ observed }: LaneState, now: number): boolean {
  return Math.abs(now - (observed?.at ?? 0)) <= withoutWorkerMs
}

export function isInherited({ owner, fill }: Entry): boolean {
  return !owner && fill === 'inherited'
}

/**
 * Whether the ledger knows every nonce that is not final. A new ledger lacks its predecessor's nonces. A restored
 * ledger lacks nonces that were granted after the backup.
 */
export function knowsAllNonces(state: LaneState, now: number): boolean {
  const { synced, observed, next, entries } = state
  if (!isReported(state, now)) return false
  const known = Object.values(entries)
  return synced && !known.some(isInherited) && known.length >= next - (observed?.finalized ?? 0)
}

/**
 * The entry of a later round with the same call. A late step of an earlier round must not get a second nonce for this
 * call.
 */
export function laterRound(state: LaneState, intentId: string, callHash: string): Entry | undefined {
  const [workflow, round] = [workflowOf(intentId), roundOf(intentId)]
  return unmined(state).find(({ owner, fill }) => {
    return !fill && owner?.callHash === callHash && workflowOf(owner.intentId) === workflow && roundOf(owner.intentId) > round
  })
}

export function put(state: LaneState, entry: Entry): LaneState {
  return { ...state, entries: { ...state.entries, [entry.nonce]: entry } }
}

export function refuse(state: LaneState, why: Refusal, detail: string): Step {
  return { state, answer: { kind: 'refused', why, detail } }
}

export function done(state: LaneState): Step {
  return { state, answer: { kind: 'done' } }
}

export function without(state: LaneState, ...keys: readonly ('paused' | 'closing' | 'broke' | 'replaced')[]): LaneState {
  const rest = { ...state }
  for (const key of keys) delete rest[key]
  return rest
}

export function count(state: LaneState, what: keyof LaneCounts): LaneState {
  return { ...state, counts: { ...state.counts, [what]: state.counts[what] + 1 } }
}

function tooLow({ config, observed }: LaneState): string | undefined {
  const { minimumBalance } = config
  if (!minimumBalance || !observed || BigInt(observed.balance) >= BigInt(minimumBalance)) return undefined
  return `balance ${observed.balance} wei, minimum ${minimumBalance} wei`
}

function owed(state: LaneState, balance: bigint): string | undefined {
  const [lowest] = unmined(state)
  const cost = lowest ? entryCost(lowest) : 0n
  return cost > balance ? `balance ${balance} wei, nonce ${lowest?.nonce} needs ${cost} wei` : undefined
}

/**
 * Checks whether the balance pays for a call, and sets or clears `broke`. `detail` says why it does not. An operator
 * transaction does not clear `broke`, because it does not show that the lane can pay for other calls.
 * @param cost highest gas cost of the grant, wei
 */
export function funded(
  state: LaneState,
  { cost, value, operatorTransaction }: { cost: bigint; value: bigint; operatorTransaction: boolean },
  now: number,
): { state: LaneState; detail?: string } {
  const low = operatorTransaction ? undefined : tooLow(state)
  if (low) return { state: { ...state, broke: { ...refusedCall(state, now), detail: low } }, detail: low }
  const balance = BigInt(state.observed?.balance ?? '0')
  const needed = unmined(state).reduce((sum, entry) => sum + entryCost(entry), cost + value)
  const detail = `balance ${balance} wei, needed ${needed} wei`
  if (cost > balance) return { state: { ...state, broke: { ...cheapest(state, balance, cost, now), detail } }, detail }
  const after = state.broke && !operatorTransaction ? reviewFunds({ ...state, broke: { ...state.broke, cost: '0' } }, now) : state
  return needed <= balance ? { state: after } : { state: after, detail }
}

/** Time (ms) in which the assumed cost of a refused call is halved, because gas may have become cheaper. */
const halvedMs = 60_000
/** If a lane may be tried and no call tries it for this long (ms), the ledger forgets the refused call. */
export const untriedMs = 10 * 60_000

function isTooDear({ cost, at }: RefusedCall, balance: bigint, now: number): boolean {
  if (balance === 0n) return cost !== '0'
  return BigInt(cost) >> BigInt(Math.max(0, Math.floor((now - at) / halvedMs))) > balance
}

/** True if only a refused call closes the lane, and the lane may be able to pay such a call by now. */
export function mayBeTried(state: LaneState, now: number): boolean {
  const { broke, observed } = state
  if (!broke || !observed) return false
  const balance = BigInt(observed.balance)
  return tooLow(state) === undefined && owed(state, balance) === undefined && !isTooDear(refusedCall(state, now), balance, now)
}

/**
 * The lane is broke if its balance is below the minimum, the cost of its lowest nonce, or the cost of a refused grant.
 */
export function reviewFunds(state: LaneState, now: number): LaneState {
  if (!state.observed) return state
  const balance = BigInt(state.observed.balance)
  const known = refusedCall(state, now)
  const isRefused = isTooDear(known, balance, now - untriedMs)
  const refused = isRefused ? `balance ${balance} wei, needed ${known.cost} wei` : undefined
  const detail = tooLow(state) ?? owed(state, balance) ?? refused
  return detail === undefined ? without(state, 'broke') : { ...state, broke: { detail, ...(isRefused ? known : { cost: '0' }) } }
}

type RefusedCall = Required<Omit<Broke, 'detail'>>

function refusedCall({ broke }: LaneState, now: number): RefusedCall {
  return { cost: broke?.cost ?? '0', at: broke?.at ?? now }
}

/**
 * The cheaper of this call and the call that was refused before, so that a dearer call that is refused later does not
 * delay the next trial.
 */
function cheapest(state: LaneState, balance: bigint, cost: bigint, now: number): RefusedCall {
  const known = refusedCall(state, now)
  return isTooDear(known, balance, now) && BigInt(known.cost) < cost ? known : { cost: String(cost), at: now }
}
