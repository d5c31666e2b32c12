import type {
  ApplyRequest,
  ApplyResponse,
  Attempt,
  Entry,
  FillOrder,
  FillReason,
  LaneAnswer,
  LaneCounts,
  LaneRequest,
  LaneState,
  LaneView,
  Refusal,
  RolledBack,
} from './lane.ts'
import { worstCost } from './fees.ts'
import { observe } from './lane-observe.ts'

/** Withdrawn intents that are remembered. A zombie asks within its activity's time-outs, long before 256 others are withdrawn. */
const tombstoneLimit = 256

/**
 * One step of the nonce ledger: the observation first, then the requests in order. Pure; the state is replaced, never changed.
 * `rolledBack` lists whom to tell.
 */
export function apply(state: LaneState, request: ApplyRequest): { state: LaneState; response: ApplyResponse; rolledBack: RolledBack[] } {
  const seen = request.observe ? observe(state, request.observe) : { state, rolledBack: [] }
  let current = seen.state
  const answers: LaneAnswer[] = []
  for (const one of request.requests) {
    const result = answer(current, one)
    current = result.state
    answers.push(result.answer)
  }
  return { state: current, response: { answers, orders: orders(current), view: view(current) }, rolledBack: seen.rolledBack }
}

/** Unmined nonces that were handed out: what the window counts. */
export function inFlight(state: LaneState): number {
  return Math.max(0, state.next - (state.observed?.latest ?? state.next))
}

export function view(state: LaneState): LaneView {
  return {
    synced: state.synced,
    next: state.next,
    latest: state.observed?.latest ?? 0,
    finalized: state.observed?.finalized ?? 0,
    window: state.config.window,
    inFlight: inFlight(state),
    ...(state.paused && { paused: state.paused }),
  }
}

type Step = { state: LaneState; answer: LaneAnswer }

function answer(state: LaneState, request: LaneRequest): Step {
  switch (request.kind) {
    case 'grant':
      return grant(state, request)
    case 'attempt':
      return attempt(state, request)
    case 'release':
      return release(state, request.intentId, request.grantedTo)
    case 'withdraw':
      return withdraw(state, request.intentId, request.how)
    case 'fill':
      return { state: fill(state, request.nonce, request.reason), answer: { kind: 'done' } }
    case 'pause':
      return { state: { ...state, paused: { reason: request.reason } }, answer: { kind: 'done' } }
    case 'resume':
      return { state: without(state, 'paused'), answer: { kind: 'done' } }
    case 'setWindow':
      return { state: { ...state, config: { ...state.config, window: request.window } }, answer: { kind: 'done' } }
    case 'resync':
      return { state: { ...state, synced: false }, answer: { kind: 'done' } }
  }
}

function grant(state: LaneState, request: Extract<LaneRequest, { kind: 'grant' }>): Step {
  const { owner, attempt: first } = request
  const held = ofIntent(state, owner.intentId)
  if (held) {
    if (held.owner?.callHash !== owner.callHash) return refuse(state, 'conflict', `nonce ${held.nonce} is for another call`)
    // Another try than the one that was answered first: the first may have signed and sent.
    const entry = held.grantedTo === request.id || held.maybeSent ? held : { ...held, maybeSent: true }
    return { state: put(state, entry), answer: { kind: 'granted', entry } }
  }
  if (state.tombstones.includes(owner.intentId)) return refuse(state, 'withdrawn', 'the intent was withdrawn')
  if (request.onlyExisting) return refuse(state, 'none', 'the intent has no nonce')
  const refusal = refusalOf(state, worstCost({ ...first, value: owner.value ?? '0' }))
  if (refusal) return refuse(state, refusal.why, refusal.detail)
  const reusable = lowestReleased(state)
  const entry: Entry = {
    nonce: reusable?.nonce ?? state.next,
    owner,
    grantedTo: request.id,
    maybeSent: false,
    sinceBlock: state.observed?.height ?? 0,
    claimedBlock: 0,
    attempts: [first],
  }
  const next = reusable ? state.next : state.next + 1
  return { state: count(put({ ...state, next }, entry), 'granted'), answer: { kind: 'granted', entry } }
}

function refusalOf(state: LaneState, cost: bigint): { why: Refusal; detail: string } | undefined {
  if (state.paused) return { why: 'paused', detail: state.paused.reason }
  if (!state.synced || !state.observed) return { why: 'unsynced', detail: 'the account has not been read yet' }
  const inherited = unmined(state).find((entry) => !entry.owner && entry.fill === 'inherited')
  if (inherited) return { why: 'unsynced', detail: `nonce ${inherited.nonce} of an earlier ledger is still in the pool` }
  if (!lowestReleased(state) && inFlight(state) >= state.config.window) {
    return { why: 'window', detail: `${inFlight(state)} of ${state.config.window} in flight` }
  }
  const committed = unmined(state).reduce((sum, entry) => sum + entryCost(entry), 0n)
  const balance = BigInt(state.observed.balance)
  if (committed + cost > balance) return { why: 'funds', detail: `balance ${balance} wei, needed ${committed + cost} wei` }
  return undefined
}

function attempt(state: LaneState, request: Extract<LaneRequest, { kind: 'attempt' }>): Step {
  const entry = state.entries[request.nonce]
  if (!entry) return refuse(state, 'none', `nonce ${request.nonce} is not in the ledger`)
  if (request.index !== entry.attempts.length) return { state, answer: { kind: 'attempts', attempts: entry.attempts } }
  // A nonce that the lane wants empty takes no more calls: the no-op must not be outbid by us.
  if (entry.fill && request.attempt.kind === 'call') return { state, answer: { kind: 'attempts', attempts: entry.attempts } }
  const attempts: Attempt[] = [...entry.attempts, request.attempt]
  const changed = count(put(state, { ...entry, attempts, maybeSent: true }), 'attempts')
  return {
    state: request.attempt.kind === 'noop' && !entry.attempts.some((one) => one.kind === 'noop') ? count(changed, 'filled') : changed,
    answer: { kind: 'attempts', attempts },
  }
}

function release(state: LaneState, intentId: string, grantedTo: string): Step {
  const entry = ofIntent(state, intentId)
  if (!entry) return { state, answer: { kind: 'free' } }
  if (entry.maybeSent || entry.grantedTo !== grantedTo) return { state, answer: { kind: 'held', nonce: entry.nonce } }
  const counted = count(state, 'released')
  if (entry.nonce === state.next - 1) return { state: remove({ ...counted, next: entry.nonce }, entry.nonce), answer: { kind: 'free' } }
  const { owner: _, ...rest } = entry
  const empty: Entry = { ...rest, fill: 'released', attempts: [], sinceBlock: state.observed?.height ?? 0 }
  return { state: put(counted, empty), answer: { kind: 'free' } }
}

function withdraw(state: LaneState, intentId: string, how: 'leave' | 'cancel' | 'abandon'): Step {
  const entry = ofIntent(state, intentId)
  if (!entry) {
    const tombstones = [...state.tombstones.filter((one) => one !== intentId), intentId].slice(-tombstoneLimit)
    return { state: { ...state, tombstones }, answer: { kind: 'free' } }
  }
  const held: LaneAnswer = { kind: 'held', nonce: entry.nonce }
  if (how === 'leave') return { state, answer: held }
  if (how === 'cancel') return { state: fill(state, entry.nonce, 'cancelled'), answer: held }
  const { owner: _, ...rest } = entry
  const tombstones = [...state.tombstones, intentId].slice(-tombstoneLimit)
  return { state: put({ ...state, tombstones }, { ...rest, fill: 'abandoned', maybeSent: true }), answer: held }
}

function fill(state: LaneState, nonce: number, reason: FillReason): LaneState {
  const entry = state.entries[nonce]
  if (!entry || entry.fill) return state
  return put(state, { ...entry, fill: reason, maybeSent: true })
}

/** What must be mined with a no-op now. Released and inherited nonces get a chance first: another grant, or the block they wait for. */
function orders(state: LaneState): FillOrder[] {
  const height = state.observed?.height ?? 0
  return unmined(state)
    .filter((entry) => entry.fill !== undefined && height >= dueAt(entry, state.config.fillAfterBlocks))
    .map((entry) => ({ nonce: entry.nonce, reason: entry.fill ?? 'operator', attempts: entry.attempts }))
}

function dueAt(entry: Entry, fillAfterBlocks: number): number {
  if (entry.fill === 'released') return entry.sinceBlock + 1
  if (entry.fill === 'inherited') return entry.sinceBlock + fillAfterBlocks
  return 0
}

export function unmined(state: LaneState): Entry[] {
  const latest = state.observed?.latest ?? 0
  return Object.values(state.entries)
    .filter((entry) => entry.nonce >= latest)
    .sort((a, b) => a.nonce - b.nonce)
}

function lowestReleased(state: LaneState): Entry | undefined {
  return unmined(state).find((entry) => entry.fill === 'released' && entry.attempts.length === 0)
}

function entryCost(entry: Entry): bigint {
  return entry.attempts.map((one) => worstCost({ ...one, value: entry.owner?.value ?? '0' })).reduce((a, b) => (a > b ? a : b), 0n)
}

function ofIntent(state: LaneState, intentId: string): Entry | undefined {
  return Object.values(state.entries).find((entry) => entry.owner?.intentId === intentId)
}

function put(state: LaneState, entry: Entry): LaneState {
  return { ...state, entries: { ...state.entries, [entry.nonce]: entry } }
}

function remove(state: LaneState, nonce: number): LaneState {
  const { [String(nonce)]: _, ...entries } = state.entries
  return { ...state, entries }
}

function refuse(state: LaneState, why: Refusal, detail: string): Step {
  return { state, answer: { kind: 'refused', why, detail } }
}

function without(state: LaneState, key: 'paused'): LaneState {
  const { [key]: _, ...rest } = state
  return rest
}

function count(state: LaneState, what: keyof LaneCounts): LaneState {
  return { ...state, counts: { ...state.counts, [what]: state.counts[what] + 1 } }
}
