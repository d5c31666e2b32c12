import type {
  ApplyRequest,
  ApplyResponse,
  Attempt,
  Entry,
  FillOrder,
  LaneAnswer,
  LaneRequest,
  LaneState,
  LaneView,
  Raise,
  RaiseOrder,
  Refusal,
  RolledBack,
} from './lane.ts'
import { worstCost } from '../fees/fees.ts'
import { count, entriesLimit, inFlight, laterRound, ofIntent, put, refuse, reusable, unmined } from './entries.ts'
import type { Step } from './entries.ts'
import { funded } from './funds.ts'
import { observe } from './observe.ts'
import { doubted, recall } from './reconcile-known.ts'
import { fillUnowned, operate } from './operate.ts'
import { fill, isWithdrawn, withdraw } from './withdraw.ts'

/**
 * One step of the nonce ledger: the observation first, then the requests in order. Pure; the state is replaced, never changed.
 * `rolledBack` lists whom to tell.
 * @param now ms since the epoch by the ledger's clock
 * @param ofBefore asked of the run before this one was reset: nothing new is given, see `doubted`
 */
export function apply(
  state: LaneState,
  request: ApplyRequest,
  now?: number,
  ofBefore = false,
): { state: LaneState; response: ApplyResponse; rolledBack: RolledBack[] } {
  const recalled = recall(state, request, ofBefore)
  const seen = request.observe ? observe(recalled, request.observe, now) : { state: recalled, rolledBack: [] }
  let current = seen.state
  const answers: LaneAnswer[] = []
  for (const one of request.requests) {
    const result = answer(current, one, now, ofBefore)
    current = result.state
    answers.push(result.answer)
  }
  const raises = raisesOf(current)
  const response = { answers, orders: orders(current), ...(raises.length > 0 && { raises }), view: view(current) }
  return { state: current, response, rolledBack: seen.rolledBack }
}

export function view(state: LaneState): LaneView {
  const { observed, paused, era, counts } = state
  const closed = closedFor(state, false)
  return {
    synced: state.synced,
    next: state.next,
    latest: observed?.latest ?? 0,
    finalized: observed?.finalized ?? 0,
    ...(observed && { height: observed.height }),
    ...(observed?.finalizedAt !== undefined && { finalizedAt: observed.finalizedAt }),
    window: state.config.window,
    inFlight: inFlight(state),
    ...(closed && { closed }),
    ...(paused && { paused }),
    ...(observed?.final && { final: observed.final }),
    ...(counts.foreign > 0 && { foreign: counts.foreign }),
    ...(era && { era }),
    granted: counts.granted,
  }
}

function answer(state: LaneState, request: LaneRequest, now: number | undefined, ofBefore: boolean): Step {
  switch (request.kind) {
    case 'grant':
      return grant(state, request, ofBefore)
    case 'attempt':
      return attempt(state, request)
    case 'release':
      return release(state, request.intentId, request.grantedTo)
    case 'withdraw':
      return withdraw(state, request.intentId, request.how, now)
    case 'fill':
      if (request.reason === 'operator') return fillUnowned(state, request.nonce)
      return { state: fill(state, request.nonce, request.reason), answer: { kind: 'done' } }
    default:
      return operate(state, request)
  }
}

type GrantRequest = Extract<LaneRequest, { kind: 'grant' }>

function grant(state: LaneState, request: GrantRequest, ofBefore: boolean): Step {
  const { owner, attempt: first } = request
  const held = ofIntent(state, owner.intentId)
  if (held && !state.replaced) {
    if (held.owner?.callHash !== owner.callHash) return refuse(state, 'conflict', `nonce ${held.nonce} is for another call`)
    // Another try than the one that was answered first: the first may have signed and sent.
    const entry = held.grantedTo === request.id || held.maybeSent ? held : { ...held, maybeSent: true }
    return { state: put(state, entry), answer: { kind: 'granted', entry } }
  }
  if (isWithdrawn(state, owner.intentId)) return refuse(state, 'withdrawn', 'the intent was withdrawn')
  const later = state.replaced ? undefined : laterRound(state, owner)
  if (later?.owner) {
    const { nonce, owner: holder } = later
    const detail = `nonce ${nonce} is of a later round, ${holder.intentId}`
    return { state, answer: { kind: 'refused', why: 'withdrawn', detail, later: holder.intentId } }
  }
  if (request.onlyExisting && !state.replaced) return refuse(state, 'none', 'the intent has no nonce')
  if (ofBefore) return refuse(doubted(state), 'unsynced', 'the ledger was reset: what it had answered to this is not known')
  const open = unmined(state)
  const released = open.find(reusable)
  const refusal = refusalOf(state, open, released, request.operatorTransaction === true)
  if (refusal) return refuse(state, refusal.why, refusal.detail)
  const purse = funded(state, {
    cost: worstCost(first),
    value: BigInt(owner.value ?? '0'),
    operatorTransaction: request.operatorTransaction === true,
  })
  if (purse.detail) return refuse(purse.state, 'funds', purse.detail)
  const entry: Entry = {
    nonce: released?.nonce ?? state.next,
    owner,
    grantedTo: request.id,
    maybeSent: false,
    sinceBlock: state.observed?.height ?? 0,
    claimedBlock: 0,
    attempts: [first],
  }
  const next = released ? state.next : state.next + 1
  return { state: count(put({ ...state, next }, entry), 'granted'), answer: { kind: 'granted', entry } }
}

/** What keeps a lane from new work until somebody acts. */
function closedFor({ paused, closing, broke, replaced }: LaneState, operatorTransaction: boolean): LaneView['closed'] {
  if (replaced) return { why: 'replaced', detail: `the chain denies block ${replaced.height} (${replaced.hash}), which was final` }
  if (closing && !(operatorTransaction && closing.mode === 'draining')) return { why: closing.mode, detail: closing.reason }
  if (paused) return { why: 'paused', detail: paused.reason }
  return broke && { why: 'funds', detail: broke.detail }
}

/** Everything but funds. */
function refusalOf(
  state: LaneState,
  open: readonly Entry[],
  released: Entry | undefined,
  operatorTransaction: boolean,
): { why: Refusal; detail: string } | undefined {
  const closed = closedFor(state, operatorTransaction)
  // Broke is no verdict: what can be paid is granted.
  if (closed && closed.why !== 'funds') return closed
  if (!state.synced || !state.observed) return { why: 'unsynced', detail: 'the account has not been read yet' }
  const inherited = open.find((entry) => !entry.owner && isInherited(entry))
  if (inherited) return { why: 'unsynced', detail: `nonce ${inherited.nonce} of an earlier ledger is still in the pool` }
  if (!released && inFlight(state) >= state.config.window) {
    return { why: 'window', detail: `${inFlight(state)} of ${state.config.window} in flight` }
  }
  const kept = Object.keys(state.entries).length
  if (kept >= entriesLimit) return { why: 'window', detail: `${kept} nonces wait for finality` }
  return undefined
}

function isInherited({ fill: reason }: Entry): boolean {
  return reason === 'inherited'
}

function attempt(state: LaneState, request: Extract<LaneRequest, { kind: 'attempt' }>): Step {
  const entry = state.entries[request.nonce]
  if (!entry) return refuse(state, 'none', `nonce ${request.nonce} is not in the ledger`)
  if (request.index !== entry.attempts.length) return { state, answer: { kind: 'attempts', attempts: entry.attempts } }
  // A nonce that the lane wants empty takes no more calls: the no-op must not be outbid by us. One that it does not want empty takes no
  // no-op: who offers it obeys an old order, and the nonce was given to an intent since.
  if ((entry.fill !== undefined) !== (request.attempt.kind === 'noop'))
    return { state, answer: { kind: 'attempts', attempts: entry.attempts } }
  const attempts: Attempt[] = [...entry.attempts, request.attempt]
  const { raise, ...rest } = entry
  // A raise of the market's, on its way when the operator's was ordered, does not stand for it.
  const owed = raise && !meets(raise, request.attempt) ? { raise: { ...raise, after: attempts.length } } : {}
  const changed = count(put(state, { ...rest, ...owed, attempts, maybeSent: true }), 'attempts')
  return {
    state: request.attempt.kind === 'noop' && !entry.attempts.some((one) => one.kind === 'noop') ? count(changed, 'filled') : changed,
    answer: { kind: 'attempts', attempts },
  }
}

function meets({ maxFee = '0', tip = '0' }: Raise, made: Attempt): boolean {
  return BigInt(made.maxFee) >= BigInt(maxFee) && BigInt(made.tip) >= BigInt(tip)
}

function release(state: LaneState, intentId: string, grantedTo: string): Step {
  const entry = ofIntent(state, intentId)
  if (!entry) return { state, answer: { kind: 'free' } }
  if (entry.maybeSent || entry.grantedTo !== grantedTo) return { state, answer: { kind: 'held', nonce: entry.nonce } }
  const { owner: _, raise: __, ...rest } = entry
  const empty: Entry = { ...rest, fill: 'released', attempts: [], sinceBlock: state.observed?.height ?? 0 }
  return { state: lowered(put(count(state, 'released'), empty)), answer: { kind: 'free' } }
}

/** Released nonces at the top were never handed out, in effect, in whatever order they came back. Never below what a block holds. */
function lowered(state: LaneState): LaneState {
  const top = state.entries[state.next - 1]
  if (!top || !reusable(top) || top.nonce < (state.observed?.latest ?? 0)) return state
  const { [String(top.nonce)]: _, ...entries } = state.entries
  return lowered({ ...state, entries, next: top.nonce })
}

/**
 * What must be mined with a no-op now. Released and inherited nonces get a chance first: another grant, or the block they wait for. One that a
 * process drives which knows its call, though the ledger has forgotten it, is left to that.
 */
function orders(state: LaneState): FillOrder[] {
  if (state.replaced) return []
  const height = state.observed?.height ?? 0
  return unmined(state)
    .filter((entry) => entry.fill !== undefined && height >= dueAt(entry, state.config.fillAfterBlocks))
    .map(({ nonce, fill: reason = 'operator', attempts, owner, callHash = owner?.callHash }) => {
      return { nonce, reason, attempts, ...(callHash && { callHash }) }
    })
}

function raisesOf(state: LaneState): RaiseOrder[] {
  if (state.replaced) return []
  return unmined(state).flatMap(({ nonce, raise, attempts }) => (raise && attempts.length <= raise.after ? [{ nonce, ...raise }] : []))
}

function dueAt(entry: Entry, fillAfterBlocks: number): number {
  if (entry.fill === 'released') return entry.sinceBlock + 1
  const drivenAt = entry.attempts.length === 0 ? entry.claimedBlock : 0
  if (entry.fill === 'inherited') return Math.max(entry.sinceBlock, drivenAt) + fillAfterBlocks
  return 0
}
