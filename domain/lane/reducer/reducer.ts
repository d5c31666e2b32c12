import { anyText, byKind, type Check, decimal, fields, flag, listOf, oneOf, optional, text, whole } from '../../field-checks.ts'
import { count, done, put, refuse, type Step } from '../entries.ts'
import { find, grant, release, fill, withdraw } from './grant.ts'
import type { Attempt, LaneState, Raise } from '../lane.ts'
import type { ApplyRequest, ApplyResponse, LaneAnswer, LaneRequest, RolledBack } from '../messages.ts'
import { covered, observe, rememberForgotten, withoutReusable } from './observe.ts'
import { obey } from './operate.ts'
import { openFor, openUnmined } from '../storage/pages.ts'
import { fillOrders, raiseOrders, view } from '../view.ts'

export function apply(
  state: LaneState,
  request: ApplyRequest,
  now: number,
  fromEarlierRun = false,
): { state: LaneState; response: ApplyResponse; rolledBack: RolledBack[] } {
  const reconciled = reconcileKnown(openUnmined(state), request, now, fromEarlierRun)
  const seen = request.observe ? observe(reconciled, request.observe, now) : { state: reconciled, rolledBack: [] }
  let current = seen.state
  const answers: LaneAnswer[] = []
  for (const one of request.requests) {
    const result = answer(openFor(current, one), one, now, fromEarlierRun)
    current = result.state
    answers.push(result.answer)
  }
  const response = { answers, orders: fillOrders(current), raises: raiseOrders(current), view: view(current) }
  return { state: current, response, rolledBack: seen.rolledBack }
}

/**
 * Adopts grants that a process knows and a reset ledger has lost. Does nothing if the account's nonce is below
 * `known.finalized`, because then another chain answers.
 */
export function reconcileKnown(state: LaneState, { known, observe }: ApplyRequest, now: number, fromEarlierRun: boolean): LaneState {
  const latest = observe?.latest ?? state.observed?.latest
  if (!known || state.replaced || known.era !== state.era) return state
  if (latest === undefined || latest < known.finalized || known.granted < state.counts.granted) return state
  const more = known.granted > state.counts.granted
  // If both know the same number of grants, `next` differs only because of returned nonces, which a reset ledger may
  // have lost.
  if (!more && !(fromEarlierRun && !state.synced && known.next < state.next)) return state
  const next = more ? Math.max(state.next, known.next) : Math.max(known.next, aboveEntries(state))
  const { synced, observed, counts } = state
  const entries = more ? withoutReusable(state) : state.entries
  const reconciled = {
    ...state,
    next,
    entries: synced && observed ? covered(entries, next, observed) : entries,
    counts: { ...counts, granted: known.granted },
  }
  return rememberForgotten(state, reconciled, now)
}

function aboveEntries({ entries, pages = [], observed }: LaneState): number {
  return Math.max(observed?.latest ?? 0, ...pages.map(({ to }) => to), ...Object.values(entries).map(({ nonce }) => nonce + 1))
}

function answer(state: LaneState, request: LaneRequest, now: number, fromEarlierRun: boolean): Step {
  switch (request.kind) {
    case 'grant':
      return grant(state, request, now, fromEarlierRun)
    case 'find':
      return find(state, request)
    case 'attempt':
      return attempt(state, request)
    case 'release':
      return release(state, request.intentId, request.grantedTo)
    case 'withdraw':
      return withdraw(state, request.intentId, request.how, now)
    case 'fill':
      if (request.reason === 'operator') return obey(state, request, now)
      return done(fill(state, request.nonce, request.reason, request.refusal))
    default:
      return obey(state, request, now)
  }
}

function attempt(state: LaneState, request: Extract<LaneRequest, { kind: 'attempt' }>): Step {
  const entry = state.entries[request.nonce]
  if (!entry) return refuse(state, 'none', `nonce ${request.nonce} is not in the ledger`)
  const isNoop = request.attempt.kind === 'noop'
  // Such an attempt is not recorded. Another process has recorded an attempt meanwhile, or the attempt is a call for a
  // nonce that must be filled (and would outbid the no-op), or a no-op for a nonce that need not be filled.
  if (request.index !== entry.attempts.length || (entry.fill !== undefined) !== isNoop) {
    return { state, answer: { kind: 'attempts', attempts: entry.attempts } }
  }
  const attempts: Attempt[] = [...entry.attempts, request.attempt]
  const { raise, ...rest } = entry
  // The process may have requested this attempt before the operator's order, with lower fees than ordered.
  const owed = raise && !meets(raise, request.attempt) ? { raise: { ...raise, after: attempts.length } } : {}
  const changed = count(put(state, { ...rest, ...owed, attempts, maybeSent: true }), 'attempts')
  const isFirstNoop = isNoop && !entry.attempts.some((one) => one.kind === 'noop')
  const { observed } = changed
  const next = observed?.latest === request.nonce ? { ...changed, observed: { ...observed, lowestSince: observed.height } } : changed
  return { state: isFirstNoop ? count(next, 'filled') : next, answer: { kind: 'attempts', attempts } }
}

function meets({ maxFee = '0', tip = '0' }: Raise, made: Attempt): boolean {
  return BigInt(made.maxFee) >= BigInt(maxFee) && BigInt(made.tip) >= BigInt(tip)
}

/** A node that counts more pending transactions is wrong: go-ethereum's pool keeps 64 per account, reth's 16. */
const mostPending = 1_000
/**
 * Maximum requests in one update. Each of them copies the ledger, and a workflow task must end within 5 s. Processes
 * send at most 64.
 */
const mostRequests = 100

const block = fields({ height: whole, hash: text() })
const attempted = fields({ kind: oneOf('call', 'noop'), gasLimit: decimal, maxFee: decimal, tip: decimal, dataFee: optional(decimal) })
const named = { order: optional(fields({ by: text(), reason: text() })) }
const reason = fields({ ...named, reason: text() })
const none = fields(named)
const atNonce = fields({ ...named, nonce: whole })

const kinds: Record<LaneRequest['kind'], Check> = {
  grant: fields({ owner: fields({ intentId: text(), callHash: text(), value: optional(decimal) }), attempt: attempted }),
  find: fields({ callHash: optional(text()), intentId: text() }),
  attempt: fields({ nonce: whole, index: whole, attempt: attempted }),
  release: fields({ intentId: text(), grantedTo: text() }),
  withdraw: fields({ intentId: text(), how: oneOf('leave', 'cancel', 'abandon') }),
  fill: atNonce,
  cancelNonce: atNonce,
  replace: fields({ ...named, maxFee: optional(decimal), tip: optional(decimal), nonce: whole }),
  republish: fields({ ...named, nonce: optional(whole) }),
  pause: fields({ ...named, pause: fields({ kind: oneOf('operator', 'unauthorized'), reason: text() }) }),
  drain: reason,
  forbid: reason,
  configure: fields({ config: fields({ lane: text(), window: whole, fillAfterBlocks: whole, minimumBalance: optional(decimal) }) }),
  replaced: fields({ block }),
  setWindow: fields({ ...named, window: whole }),
  resume: fields({ ...named, only: optional(oneOf('operator', 'unauthorized')) }),
  activate: none,
  resync: none,
  reset: none,
}

const observation = fields({
  latest: whole,
  finalized: whole,
  height: whole,
  since: whole,
  pending: optional(whole),
  undone: optional(flag),
  balance: decimal,
  claims: listOf(whole),
  final: optional(block),
})

const update = fields({
  requests: listOf(byKind(kinds), mostRequests),
  observe: optional(observation),
  known: optional(fields({ era: whole, granted: whole, next: whole, finalized: whole })),
  run: optional(anyText),
})

/** Throws an Error that names a malformed field. If the reducer failed instead, the ledger would be blocked. */
export function assertApplyRequest(request: ApplyRequest): void {
  update(request, '')
  const { pending = 0, latest = 0 } = request.observe ?? {}
  if (pending - latest > mostPending) throw new Error(`observe.pending: more than ${mostPending} ahead of observe.latest`)
}
