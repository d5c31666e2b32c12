import { defined } from '../../defined.ts'
import { worstCost } from '../../fees/fees.ts'
import {
  count,
  funded,
  inFlight,
  isInherited,
  isMined,
  isReported,
  isWithdrawn,
  kept,
  laterRound,
  ofIntent,
  put,
  refuse,
  reusable,
  type Step,
  tombstone,
  unmined,
} from '../entries.ts'
import type { Entry, LaneState } from '../lane.ts'
import type { LaneRequest, Refusal } from '../messages.ts'
import { distrusted } from './observe.ts'
import { closedFor } from '../view.ts'

type GrantRequest = Extract<LaneRequest, { kind: 'grant' }>
type FindRequest = Extract<LaneRequest, { kind: 'find' }>

export function grant(state: LaneState, request: GrantRequest, now: number, fromEarlierRun: boolean): Step {
  const { owner, attempt } = request
  const existing = held(state, { ...owner, id: request.id })
  if (existing) return existing
  if (fromEarlierRun)
    return refuse(distrusted(state), 'unsynced', 'the ledger was reset, so its earlier answer to this request is not known')
  const operatorTransaction = request.operatorTransaction === true
  const open = unmined(state)
  const released = open.find(reusable)
  const refusal = refusalOf(state, open, operatorTransaction)
  if (refusal) return refuse(state, refusal.why, refusal.detail)
  const funds = funded(state, { cost: worstCost(attempt), value: BigInt(owner.value ?? '0'), operatorTransaction }, now)
  if (funds.detail) return refuse(funds.state, 'funds', funds.detail)
  const entry: Entry = {
    nonce: released?.nonce ?? state.next,
    owner,
    grantedTo: request.id,
    maybeSent: false,
    sinceBlock: state.observed?.height ?? 0,
    claimedBlock: 0,
    attempts: [attempt],
  }
  const next = released ? state.next : state.next + 1
  return { state: count(put({ ...funds.state, next }, entry), 'granted'), answer: { kind: 'granted', entry } }
}

export function find(state: LaneState, request: FindRequest): Step {
  const existing = held(state, request)
  if (existing) return existing
  const { replaced } = state
  if (replaced) return refuse(state, 'replaced', closedFor(state, false)?.detail ?? '')
  return refuse(state, 'none', 'the intent has no nonce')
}

function held(state: LaneState, { id, intentId, callHash }: Omit<FindRequest, 'kind'>): Step | undefined {
  const known = state.replaced ? undefined : ofIntent(state, intentId)
  if (known) {
    if (callHash === undefined) return { state, answer: { kind: 'granted', entry: known } }
    if (known.owner?.callHash !== callHash) return refuse(state, 'conflict', `nonce ${known.nonce} is for another call`)
    // An earlier request got the nonce, and its caller may have sent the call.
    const entry = known.grantedTo === id || known.maybeSent ? known : { ...known, maybeSent: true }
    return { state: put(state, entry), answer: { kind: 'granted', entry } }
  }
  if (isWithdrawn(state, intentId)) return refuse(state, 'withdrawn', 'the intent was withdrawn')
  const later = state.replaced || callHash === undefined ? undefined : laterRound(state, intentId, callHash)
  if (!later?.owner) return undefined
  const detail = `nonce ${later.nonce} belongs to a later round, ${later.owner.intentId}`
  return { state, answer: { kind: 'refused', why: 'withdrawn', detail, later: later.owner.intentId } }
}

function refusalOf(state: LaneState, open: readonly Entry[], operatorTransaction: boolean): { why: Refusal; detail: string } | undefined {
  const closed = closedFor(state, operatorTransaction)
  // `funded` decides for a lane that is short of funds, because its balance may still pay for this call.
  if (closed && closed.why !== 'funds') return closed
  if (!state.synced || !state.observed) return { why: 'unsynced', detail: 'the account has not been read yet' }
  const inherited = open.find(isInherited)
  if (inherited) return { why: 'unsynced', detail: `nonce ${inherited.nonce} of an earlier ledger is still in the pool` }
  if (!open.some(reusable) && inFlight(state) >= state.config.window) {
    return { why: 'window', detail: `${inFlight(state)} of ${state.config.window} in flight` }
  }
  const { kept: many, keptLimit } = kept(state)
  return many >= keptLimit ? { why: 'window', detail: `${many} nonces wait for finality, and the lane keeps no more` } : undefined
}

export function release(state: LaneState, intentId: string, grantedTo: string): Step {
  const entry = ofIntent(state, intentId)
  if (!entry) return { state, answer: { kind: 'free' } }
  if (entry.maybeSent || entry.grantedTo !== grantedTo) return { state, answer: { kind: 'held', nonce: entry.nonce } }
  const { owner: _, raise: __, ...rest } = entry
  const empty: Entry = { ...rest, fill: 'released', attempts: [], sinceBlock: state.observed?.height ?? 0 }
  return { state: lowered(put(count(state, 'released'), empty)), answer: { kind: 'free' } }
}

function lowered(state: LaneState): LaneState {
  const top = state.entries[state.next - 1]
  if (!top || !reusable(top) || top.nonce < (state.observed?.latest ?? 0)) return state
  const { [String(top.nonce)]: _, ...entries } = state.entries
  return lowered({ ...state, entries, next: top.nonce })
}

/**
 * Maximum tombstones. Enough, because a closing lane withdraws only hundreds of intents, whose late steps soon time
 * out.
 */
const tombstoneLimit = 1_024

export function withdraw(state: LaneState, intentId: string, how: 'leave' | 'cancel' | 'abandon', now: number): Step {
  const entry = ofIntent(state, intentId)
  if (!entry) {
    const unknown = how === 'cancel' ? inheritedNonce(state) : undefined
    return { state: bury(state, intentId), answer: unknown === undefined ? { kind: 'free' } : { kind: 'held', nonce: unknown } }
  }
  const held = { kind: 'held', nonce: entry.nonce } as const
  // The tombstone outlives the entry, so a late step gets no nonce even after the no-op is final.
  if (how === 'cancel') return { state: fill(bury(state, intentId), entry.nonce, 'cancelled'), answer: held }
  const mayLeave = state.closing?.mode === 'forbidden' || !isReported(state, now)
  // On a replaced chain, no transaction of the lane is mined before a reset, so any intent may leave.
  const free = state.replaced !== undefined || (how === 'abandon' && !isMined(state, entry) && mayLeave)
  return free ? { state: put(bury(state, intentId), orphan(entry)), answer: { kind: 'free' } } : { state, answer: held }
}

export function fill(state: LaneState, nonce: number, reason: NonNullable<Entry['fill']>, refusal?: string): LaneState {
  const entry = state.entries[nonce]
  if (!entry || entry.fill) return state
  return put(state, { ...entry, fill: reason, maybeSent: true, ...defined({ refusal }) })
}

/** The orphan keeps the call's value, because a block may include the call instead of the no-op. */
function orphan({ owner, ...rest }: Entry): Entry {
  return {
    ...rest,
    ...(owner?.value && { value: owner.value }),
    ...(owner && { callHash: owner.callHash, abandonedBy: owner.intentId }),
    fill: rest.fill ?? 'abandoned',
    maybeSent: true,
  }
}

function inheritedNonce(state: LaneState): number | undefined {
  if (!state.synced) return state.next
  return unmined(state).find(isInherited)?.nonce
}

function bury(state: LaneState, intentId: string): LaneState {
  const one = tombstone(intentId)
  return { ...state, tombstones: [...state.tombstones.filter((other) => other !== one), one].slice(-tombstoneLimit) }
}
