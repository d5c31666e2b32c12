import { defined } from '../defined.ts'
import { orderOf } from '../order.ts'
import { backfill, bounded, clip, fewer, punch, punchAll, compare, max, newGap } from './gaps.ts'
import { parse, without } from './intervals.ts'
import { done, earlier, isAnyWanted, later, learn, present, refused, reopen, room, type StreamStep, withPassed, count } from './numbers.ts'
import { bringBack, bringBackAll } from './outside-window.ts'
import { firstIn, heightOf } from './places.ts'
import type { Distrusted, RequestOf, StreamState, Gap, GapState } from './stream.ts'

/**
 * Applies a range of blocks from the live scan: the only request that raises the cursor (MIP-61's
 * CONTINUOUS_BLOCK_PROCESSING). A request that passes over a wanted number comes from an old view, and changes nothing.
 * The first range must reach the checkpoint's block, because a fork below this block would otherwise go unnoticed.
 */
export function scanned(state: StreamState, request: RequestOf<'scanned'>, at: number): StreamStep {
  const { cursor, start, config } = state
  if (state.paused) return { state, answer: { kind: 'paused' } }
  if (cursor ? request.from !== cursor.height + 1 : request.to < (state.base ?? 0)) return present(state)
  if (cursor && request.parentHash !== cursor.hash) {
    const fork = { height: cursor.height, known: cursor.hash, shown: request.parentHash, at }
    const alarmed = state.fork ? state : count({ ...state, fork }, 'forks')
    return { state: alarmed, answer: { kind: 'forked' } }
  }
  if (isAnyWanted(state, request.passed)) return present(state)
  const learnt = learn(state, withPassed(state, request), at)
  if (!learnt) return { state, answer: { kind: 'full', room: room(state) } }
  const { fork: _, base: __, ...rest } = learnt
  const next = config.placed ? String(max(BigInt(rest.next), firstIn(request.to + 1))) : rest.next
  const moved: StreamState = { ...rest, next, start: start ?? request.from, cursor: { height: request.to, hash: request.hash } }
  if (cursor) return done(moved)
  // If the live scan begins inside an ordered backfill, the backfill drops the blocks that the live scan reads.
  const begun: StreamState = { ...moved, backfill: { ...moved.backfill, left: leftBelow(moved, request.from) } }
  return done(start === undefined ? begun : backfill(begun, start, request.from - 1, 'bootstrap'))
}

const leftBelow = ({ backfill: { left } }: StreamState, height: number) => without(left, String(height), String(Number.MAX_SAFE_INTEGER))

export function seen(state: StreamState, request: RequestOf<'seen'>, at: number): StreamStep {
  const learnt = learn(state, request, at)
  if (!learnt) return { state, answer: { kind: 'full', room: room(state) } }
  // In a placed stream, an ignored place is not a transfer, but condensed intervals may include the place.
  const nothing = state.config.placed ? (request.ignored ?? []) : []
  const cleared = bringBackAll(learnt, parse(nothing), true)
  return done(withSpy(cleared, request, at))
}

/** With `received`, the spy has sent a message or the subscription is new, so `missedBySpy` is cleared. */
function withSpy(known: StreamState, { received, missedBySpy = [] }: RequestOf<'seen'>, at: number): StreamState {
  const { missedBySpy: before, ...state } = known
  if (received) return state
  const [[from] = [], [, to] = []] = [missedBySpy[0], missedBySpy.at(-1)]
  if (from === undefined || to === undefined) return known
  if (!before) return { ...state, missedBySpy: { from, to, since: at } }
  return { ...state, missedBySpy: { ...before, from: earlier(from, before.from), to: later(to, before.to) } }
}

/**
 * Moves the cursor below a fork. The numbers of later blocks become unknown, because new blocks may give these numbers
 * to other transfers.
 */
export function reread(state: StreamState, request: RequestOf<'reread'>): StreamStep {
  const { block } = request
  if (!state.cursor || block.height >= state.cursor.height) return present(state)
  const { placed } = state.config
  const marks = state.marks.filter(([, height]) => height <= block.height)
  const bounds: StreamState['marks'] = placed ? [[String(firstIn(block.height + 1) - 1n), block.height + 1]] : marks
  const [last, height] = bounds.at(-1) ?? []
  const { first, start } = trustedBelow(state, block.height, bounds)
  const floor = max(BigInt(first), last === undefined ? 0n : BigInt(last) + 1n)
  const next = floor < BigInt(state.next) ? String(floor) : state.next
  const isBelow = ({ number }: { readonly number: string }) => compare(number, next) < 0
  const { fork: _, vanished: __, start: ___, ...rest } = bringBack(state, next, state.next)
  const back: StreamState = {
    ...rest,
    first,
    ...defined({ start }),
    cursor: block,
    marks,
    open: state.open.filter(isBelow),
    gaps: punch(state.gaps, next, state.next),
    exceptions: state.exceptions.filter(isBelow),
    next,
    backfill: { ...state.backfill, left: leftBelow(state, block.height + 1) },
  }
  // A placed stream reads no block below the new cursor again, unless it has just stopped trusting a watermark.
  const from = placed && start !== state.start ? start : height
  return done(backfill(back, from ?? start ?? block.height, block.height, orderOf(request).by))
}

/** Returns the config's `first` and `start` if a fork may be below a trusted watermark, otherwise the state's. */
function trustedBelow(state: StreamState, height: number, marks: StreamState['marks']): Pick<StreamState, 'first' | 'start'> {
  const { first, start, config } = state
  const isBound = first === config.first || marks.some(([number]) => BigInt(number) + 1n >= BigInt(first))
  const isBelowTrust = !isBound || (start !== undefined && start !== config.start && height < start - 1)
  const held = isBelowTrust ? config : state
  return { first: held.first, ...defined({ start: held.start }) }
}

/**
 * Compares the stream with the source's own table. Unseen numbers become gaps: `hidden` in scanned blocks, otherwise
 * `unasked`.
 */
export function audited(state: StreamState, request: RequestOf<'audited'>, at: number): StreamStep {
  const { cursor, start, backfill: unread } = state
  const { upTo, height, present: table } = request
  if (state.config.placed) return done(bounded(reopen(state, table, at, 'hidden')))
  const isBehind = cursor !== undefined && height <= cursor.height
  const found: Gap['state'] = isBehind && unread.left.length === 0 ? 'hidden' : 'unasked'
  // Above the cursor, the scan itself finds new numbers, so they are not gaps. Without a scan, only `upTo` shows them.
  const isTail = (isBehind || start === undefined) && BigInt(upTo) >= BigInt(state.next)
  const tail = isTail ? [newGap(state, BigInt(state.next), BigInt(upTo), found, at)] : []
  const next = isTail ? String(BigInt(upTo) + 1n) : state.next
  const named = (part: Gap): Gap => (vague.has(part.state) ? renamed(part, found) : part)
  const gaps = punchAll(state.gaps, parse(table), named)
  return done(bounded({ ...counted(state, request, at), next, gaps: [...gaps, ...tail] }))
}

/** Gap states that are less precise than the source's table, so the table may replace them. */
const vague: ReadonlySet<GapState> = new Set<GapState>(['unasked', 'not-final', 'unobserved'])

function renamed({ code: _, chain: __, ...gap }: Gap, state: GapState): Gap {
  return { ...gap, state }
}

/** Raises `vanished` if the source's count is below the highest number in its logs: one of the two is wrong. */
function counted(state: StreamState, { upTo, height }: RequestOf<'audited'>, at: number): StreamState {
  const highest = state.marks.findLast((mark) => mark[1] <= height)?.[0]
  const { vanished, ...rest } = state
  if (highest !== undefined && BigInt(upTo) < BigInt(highest)) return { ...rest, vanished: vanished ?? { upTo, height, at } }
  return vanished && height < vanished.height ? state : rest
}

/**
 * Gives gaps the state that an agent found. The states `hidden` and `undone` are more precise, so they do not change.
 */
export function classified(state: StreamState, { from, to, state: name, code, chain }: RequestOf<'classified'>): StreamStep {
  const reason = code === undefined ? {} : defined({ code, chain })
  const named = (part: Gap): Gap => (part.state === 'hidden' || part.state === 'undone' ? part : { ...renamed(part, name), ...reason })
  return done(bounded({ ...state, gaps: punch(state.gaps, from, to, named) }))
}

/** Adds the ordered blocks to the backfill, in a placed stream even below a trusted watermark. */
export function orderBackfill(state: StreamState, request: RequestOf<'backfill'>): StreamStep {
  const { from, to } = request
  const lowest = firstIn(from)
  const first = state.config.placed && lowest < BigInt(state.first) ? String(lowest) : state.first
  return done(backfill({ ...state, first }, from, to, orderOf(request).by))
}

export function backfilled(state: StreamState, request: RequestOf<'backfilled'>, at: number): StreamStep {
  if (state.paused) return { state, answer: { kind: 'paused' } }
  if (isAnyWanted(state, request.passed)) return present(state)
  const learnt = learn(state, withPassed(state, request), at)
  if (!learnt) return { state, answer: { kind: 'full', room: room(state) } }
  const left = fewer(without(learnt.backfill.left, String(request.from), String(request.to)))
  return done({ ...learnt, backfill: { ...learnt.backfill, left } })
}

/**
 * Trusts a watermark. A watermark above the known numbers or the cursor could skip transfers, so it is refused and
 * raises an alarm.
 */
export function trust(state: StreamState, request: RequestOf<'trust'>, at: number): StreamStep {
  const { number, height } = request
  const { by } = orderOf(request)
  const beyond = beyondKnown(state, request)
  if (beyond !== undefined) return refused({ ...state, distrusted: { number, ...defined({ height }), by: clip(by), at } }, beyond)
  const { distrusted: _, ...rest } = state
  return trusted(rest, { number, ...defined({ height }), by })
}

function beyondKnown({ next, cursor }: StreamState, { number, height }: RequestOf<'trust'>): string | undefined {
  if (BigInt(number) >= BigInt(next)) return `number: ${number} is not known to exist: the highest number is below ${next}`
  if (height === undefined || (cursor && height <= cursor.height)) return undefined
  return `height: ${cursor ? `above the cursor (${cursor.height})` : 'the stream has read no block yet'}`
}

/**
 * Resolves all numbers up to `number`, except those of `undone` gaps, because the chain outranks an order. The
 * watermark never falls.
 */
export function trusted(state: StreamState, { number, height, by }: Omit<Distrusted, 'at'>): StreamStep {
  const first = BigInt(number) + 1n
  if (first <= BigInt(state.first)) return present(state)
  const read = state.config.placed ? Math.max(height ?? -1, heightOf(first) - 1) : height
  const raised = {
    ...bringBack(state, '0', number),
    first: String(first),
    next: BigInt(state.next) > first ? state.next : String(first),
    open: state.open.filter((one) => BigInt(one.number) >= first),
    gaps: state.gaps.flatMap((one) => (one.state === 'undone' ? [one] : punch([one], '0', number))),
    unknownCompletions: without(state.unknownCompletions, '0', number),
  }
  if (read === undefined || read < 0) return done(bounded(raised))
  const start = state.start === undefined ? undefined : Math.max(state.start, read + 1)
  const left = without(state.backfill.left, '0', String(read))
  return done(bounded({ ...raised, ...defined({ start }), backfill: { ...state.backfill, left, by: clip(by) } }))
}
