import { orderOf } from '../order.ts'
import type { Gap, GapState, RequestOf, StreamState } from './stream.ts'
import { takeBack } from './aside.ts'
import { backfill } from './backfill.ts'
import { bounded, max, newGap, punch, without } from './gaps.ts'
import { count, done, isAnyWanted, learn, present, room, type StreamStep, withPassed } from './numbers.ts'

/**
 * CONTINUOUS_BLOCK_PROCESSING. Requested after every transfer of the range was started; nothing else moves the cursor, so that what a crash interrupts is
 * read again. Ranges make one chain of hashes. A request that passes a wanted number is by the view before a fork, and changes nothing. The first range
 * does not end below the checkpoint's block: a fork above its end would not show. What lies between `start` and it is backfilled.
 */
export function scanned(state: StreamState, request: RequestOf<'scanned'>, at: number): StreamStep {
  const { cursor, start } = state
  if (state.paused) return { state, answer: { kind: 'paused' } }
  if (cursor ? request.from !== cursor.height + 1 : request.to < (state.base ?? 0)) return present(state)
  if (cursor && request.parentHash !== cursor.hash) {
    const fork = { height: cursor.height, known: cursor.hash, told: request.parentHash, at }
    const alarmed = state.fork ? state : count({ ...state, fork }, 'forks')
    return { state: alarmed, answer: { kind: 'forked' } }
  }
  if (isAnyWanted(state, request.passed)) return present(state)
  const learnt = learn(state, withPassed(state, request), at)
  if (!learnt) return { state, answer: { kind: 'full', room: room(state) } }
  const { fork: _, base: __, ...rest } = learnt
  const moved: StreamState = { ...rest, start: start ?? request.from, cursor: { height: request.to, hash: request.hash } }
  if (cursor) return done(moved)
  // What was ordered before there was a live scan, and is the live scan's own now, is not read twice.
  const left = without(moved.backfill.left, String(request.from), String(Number.MAX_SAFE_INTEGER))
  const begun: StreamState = { ...moved, backfill: { ...moved.backfill, left } }
  return done(start === undefined ? begun : backfill(begun, start, request.from - 1, 'bootstrap'))
}

export function seen(state: StreamState, request: RequestOf<'seen'>, at: number): StreamStep {
  const learnt = learn(state, request, at)
  return learnt ? done(withSpy(learnt, request, at)) : { state, answer: { kind: 'full', room: room(state) } }
}

/** One message that the spy tells, or a new subscription to it, ends what is known of its silence. Two processes that find the same number count it once. */
function withSpy({ unheard: before, ...state }: StreamState, { heard, unheard = [] }: RequestOf<'seen'>, at: number): StreamState {
  if (heard) return state
  const [[from] = [], [, to] = []] = [unheard[0], unheard.at(-1)]
  if (from === undefined || to === undefined) return before ? { ...state, unheard: before } : state
  if (!before) return { ...state, unheard: { from, to, since: at } }
  const lowest = BigInt(from) < BigInt(before.from) ? from : before.from
  const highest = BigInt(to) > BigInt(before.to) ? to : before.to
  return { ...state, unheard: { ...before, from: lowest, to: highest } }
}

/** Back to a block that the fork left in place: all numbers that may lie above it are unknown again, since the new blocks may give them to other transfers. */
export function reread(state: StreamState, request: RequestOf<'reread'>): StreamStep {
  const { block } = request
  if (!state.cursor || block.height >= state.cursor.height) return present(state)
  const marks = state.marks.filter(([, height]) => height <= block.height)
  const [last, height] = marks.at(-1) ?? []
  // A fork that may be below a trusted watermark takes the trust away: nobody says which numbers it still holds for.
  const isBound = state.first === state.config.first || marks.some(([number]) => BigInt(number) + 1n >= BigInt(state.first))
  const isBelowTrust = !isBound || (state.start !== undefined && state.start !== state.config.start && block.height < state.start - 1)
  const first = isBelowTrust ? state.config.first : state.first
  const start = isBelowTrust ? state.config.start : state.start
  const floor = max(BigInt(first), last === undefined ? 0n : BigInt(last) + 1n)
  const next = floor < BigInt(state.next) ? String(floor) : state.next
  const open = state.open.filter(({ number }) => BigInt(number) < BigInt(next))
  const gaps = punch(state.gaps, next, state.next)
  const exceptions = state.exceptions.filter(({ number }) => BigInt(number) < BigInt(next))
  const left = state.backfill.left.filter(([from]) => Number(from) <= block.height)
  const { fork: _, vanished: __, start: ___, ...rest } = takeBack(state, next, state.next)
  const back: StreamState = {
    ...rest,
    first,
    ...(start !== undefined && { start }),
    cursor: block,
    marks,
    open,
    gaps,
    exceptions,
    next,
    backfill: { ...state.backfill, left },
  }
  return done(backfill(back, height ?? start ?? block.height, block.height, orderOf(request).by))
}

/**
 * The source's own count and table, read at one final block. What exists and was never seen is a gap, hidden where all blocks that could show it were read.
 * The agent starts what the table has of the gaps, and records it as `seen`: a log that no node shows delays a transfer by an audit, no more.
 */
export function audited(state: StreamState, request: RequestOf<'audited'>, at: number): StreamStep {
  const { cursor, start, backfill: unread } = state
  const { upTo, height, present: table } = request
  const isBehind = cursor !== undefined && height <= cursor.height
  const found: Gap['state'] = isBehind && unread.left.length === 0 ? 'hidden' : 'unasked'
  // Above the cursor the scan has yet to come; without blocks nothing else shows what exists.
  const isTail = (isBehind || start === undefined) && BigInt(upTo) >= BigInt(state.next)
  const tail = isTail ? [newGap(state, BigInt(state.next), BigInt(upTo), found, at)] : []
  const next = isTail ? String(BigInt(upTo) + 1n) : state.next
  const named = (part: Gap): Gap => (nameable.has(part.state) ? renamed(part, found) : part)
  const gaps = table.reduce((list, [from, to]) => punch(list, from, to, named), state.gaps)
  return done(bounded({ ...counted(state, request, at), next, gaps: [...gaps, ...tail] }))
}

/** States that say less than that the source's table has it. */
const nameable: ReadonlySet<GapState> = new Set<GapState>(['unasked', 'not-final', 'unobserved'])

/** Without the reason of another state. */
function renamed({ code: _, chain: __, ...gap }: Gap, state: GapState): Gap {
  return { ...gap, state }
}

/** At a block the source's count is at least the highest number that a log showed up to there; otherwise logs or count are wrong. */
function counted(state: StreamState, { upTo, height }: RequestOf<'audited'>, at: number): StreamState {
  const highest = state.marks.findLast((mark) => mark[1] <= height)?.[0]
  const { vanished, ...rest } = state
  if (highest !== undefined && BigInt(upTo) < BigInt(highest)) return { ...rest, vanished: vanished ?? { upTo, height, at } }
  return vanished && height < vanished.height ? state : rest
}

/** Why these numbers are missing. Hidden and undone ones are known better. */
export function classified(state: StreamState, { from, to, state: name, code, chain }: RequestOf<'classified'>): StreamStep {
  const reason = code === undefined ? {} : { code, ...(chain !== undefined && { chain }) }
  const named = (part: Gap): Gap => {
    if (part.state === 'hidden' || part.state === 'undone') return part
    return { ...renamed(part, code === undefined ? name : 'unstarted'), ...reason }
  }
  return done(bounded({ ...state, gaps: punch(state.gaps, from, to, named) }))
}
