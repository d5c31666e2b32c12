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

/**
 * Nonces that are kept until they are final. Where finality is far they are many more than the window; beyond this the state (some 600 bytes
 * each) would come near to the server's limit of 2 MiB, and the lane waits for finality instead.
 */
const entriesLimit = 1_000

/** Withdrawn intents that are remembered. A zombie asks within its activity's time-outs, long before 256 others are withdrawn. */
const tombstoneLimit = 256
/** What is kept of each: ids end in what tells them apart (digest and round), and whole ones would take half of the 64 KiB. */
const tombstoneLength = 32

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
      // Operators signal it by hand: `"8"`, null or -1 would open the window for good or shut it.
      if (!Number.isSafeInteger(request.window) || request.window < 0) return refuse(state, 'conflict', 'the window is a whole number')
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
  if (state.tombstones.includes(owner.intentId.slice(-tombstoneLength))) return refuse(state, 'withdrawn', 'the intent was withdrawn')
  if (request.onlyExisting) return refuse(state, 'none', 'the intent has no nonce')
  const open = unmined(state)
  const released = open.find(reusable)
  const refusal = refusalOf(state, open, released, worstCost({ ...first, value: owner.value ?? '0' }))
  if (refusal) return refuse(state, refusal.why, refusal.detail)
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

function refusalOf(
  state: LaneState,
  open: readonly Entry[],
  released: Entry | undefined,
  cost: bigint,
): { why: Refusal; detail: string } | undefined {
  if (state.paused) return { why: 'paused', detail: state.paused.reason }
  if (!state.synced || !state.observed) return { why: 'unsynced', detail: 'the account has not been read yet' }
  const inherited = open.find((entry) => !entry.owner && entry.fill === 'inherited')
  if (inherited) return { why: 'unsynced', detail: `nonce ${inherited.nonce} of an earlier ledger is still in the pool` }
  if (!released && inFlight(state) >= state.config.window) {
    return { why: 'window', detail: `${inFlight(state)} of ${state.config.window} in flight` }
  }
  const kept = Object.keys(state.entries).length
  if (kept >= entriesLimit) return { why: 'window', detail: `${kept} nonces wait for finality` }
  const committed = open.reduce((sum, entry) => sum + entryCost(entry), 0n)
  const balance = BigInt(state.observed.balance)
  if (committed + cost > balance) return { why: 'funds', detail: `balance ${balance} wei, needed ${committed + cost} wei` }
  return undefined
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
  const { owner: _, ...rest } = entry
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

function withdraw(state: LaneState, intentId: string, how: 'leave' | 'cancel' | 'abandon'): Step {
  const entry = ofIntent(state, intentId)
  if (!entry) {
    const unknown = how === 'cancel' ? inheritedNonce(state) : undefined
    return { state: bury(state, intentId), answer: unknown === undefined ? { kind: 'free' } : { kind: 'held', nonce: unknown } }
  }
  const held: LaneAnswer = { kind: 'held', nonce: entry.nonce }
  if (how === 'leave') return { state, answer: held }
  // The tombstone outlives the entry: a zombie that asks after the no-op is final gets nothing either.
  const buried = bury(state, intentId)
  if (how === 'cancel') return { state: fill(buried, entry.nonce, 'cancelled'), answer: held }
  const { owner, ...rest } = entry
  const orphan: Entry = { ...rest, ...(owner?.value && { value: owner.value }), fill: 'abandoned', maybeSent: true }
  return { state: put(buried, orphan), answer: held }
}

/** The lowest nonce that an earlier ledger may have given to anyone, and that may still be mined. */
function inheritedNonce(state: LaneState): number | undefined {
  if (!state.synced) return state.next
  return unmined(state).find((entry) => !entry.owner && entry.fill === 'inherited')?.nonce
}

function bury(state: LaneState, intentId: string): LaneState {
  const tombstone = intentId.slice(-tombstoneLength)
  return { ...state, tombstones: [...state.tombstones.filter((one) => one !== tombstone), tombstone].slice(-tombstoneLimit) }
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

/** In order of nonce. Looks at the window only: where finality is far, a thousand mined entries may lie below it. */
export function unmined(state: LaneState): Entry[] {
  const latest = state.observed?.latest ?? 0
  // Far apart only after a node's nonsense; the keys of entries come in order, too.
  if (state.next - latest > entriesLimit) return Object.values(state.entries).filter(({ nonce }) => nonce >= latest)
  const result: Entry[] = []
  for (let nonce = latest; nonce < state.next; nonce++) {
    const entry = state.entries[nonce]
    if (entry) result.push(entry)
  }
  return result
}

/** Given back unsigned, and no no-op recorded for it since. */
function reusable(entry: Entry): boolean {
  return entry.fill === 'released' && entry.attempts.length === 0
}

/** What the dearest of its attempts may cost: any of them may be the one that is mined. */
function entryCost(entry: Entry): bigint {
  const value = BigInt(entry.owner?.value ?? entry.value ?? '0')
  return entry.attempts.map((one) => worstCost(one) + (one.kind === 'call' ? value : 0n)).reduce((a, b) => (a > b ? a : b), 0n)
}

function ofIntent(state: LaneState, intentId: string): Entry | undefined {
  return Object.values(state.entries).find((entry) => entry.owner?.intentId === intentId)
}

function put(state: LaneState, entry: Entry): LaneState {
  return { ...state, entries: { ...state.entries, [entry.nonce]: entry } }
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
