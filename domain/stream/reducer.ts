import { defined } from '../defined.ts'
import { orderOf } from '../order.ts'
import { compare, heightAt, clip, gapSize, limits, min } from './gaps.ts'
import { countNumbers } from './intervals.ts'
import { done, room, type StreamStep, unread } from './numbers.ts'
import { isStreamOrder, noted } from './request.ts'
import { lowestOutside, countOutside, isCrowded } from './outside-window.ts'
import { backfilled, trust, audited, classified, orderBackfill, reread, scanned, seen } from './source.ts'
import type {
  StreamState,
  StreamView,
  GapState,
  RequestOf,
  StreamAlarm,
  StreamAnswer,
  StreamConfig,
  StreamRequest,
  StreamResponse,
  StreamUpdate,
} from './stream.ts'
import { closed, completed, park, skip, undone, unpark, unskip } from './target.ts'

export function initialStream(config: StreamConfig): StreamState {
  return {
    config,
    first: config.first,
    next: config.first,
    open: [],
    outside: [],
    gaps: [],
    unknownCompletions: [],
    exceptions: [],
    marks: [],
    ...defined({ start: config.start }),
    backfill: { left: [], ordered: 0 },
    maxOpen: fitting(config.maxOpen),
    counts: { completed: 0, ignored: 0, rejected: 0, declined: 0, cancelled: 0, skipped: 0, undone: 0, forks: 0, unknown: 0 },
  }
}

export function applyToStream(
  state: StreamState,
  { requests }: StreamUpdate,
  at: number,
): { state: StreamState; response: StreamResponse } {
  const answers: StreamAnswer[] = []
  let current = state
  for (const request of requests) {
    const handle = handlers[request.kind] as (state: StreamState, request: StreamRequest, at: number) => StreamStep
    const step = handle(current, request, at)
    const isObeyed = isStreamOrder(request) && step.answer.kind === 'done'
    current = isObeyed ? noted(step.state, request, at) : step.state
    answers.push(step.answer)
  }
  return { state: current, response: { answers, view: viewStream(current) } }
}

const handlers: {
  readonly [Kind in StreamRequest['kind']]: (state: StreamState, request: RequestOf<Kind>, at: number) => StreamStep
} = {
  scanned,
  seen,
  backfilled,
  reread,
  audited,
  classified,
  completed,
  undone,
  closed,
  parked: park,
  unparked: (state, { number }) => unpark(state, number),
  skip,
  unskip: (state, { number }, at) => unskip(state, number, at),
  backfill: orderBackfill,
  trust,
  setMaxOpen,
  configured,
  pause,
  resume: ({ paused: _, ...rest }) => done(rest),
}

const fitting = (maxOpen: number) => Math.min(maxOpen, limits.open)

function pause(state: StreamState, request: RequestOf<'pause'>, at: number): StreamStep {
  const { by, reason } = orderOf(request, 'update')
  return done({ ...state, paused: { by: clip(by), reason: clip(reason), at } })
}

function setMaxOpen({ ordered: _, ...state }: StreamState, request: RequestOf<'setMaxOpen'>, at: number): StreamStep {
  if (request.maxOpen === undefined) return done({ ...state, maxOpen: fitting(state.config.maxOpen) })
  return done({ ...state, maxOpen: fitting(request.maxOpen), ordered: { by: clip(orderOf(request).by), at } })
}

function configured(state: StreamState, { stream, origin, maxOpen }: RequestOf<'configured'>): StreamStep {
  const config = { ...state.config, stream, origin, maxOpen }
  return done({ ...state, config, maxOpen: state.ordered ? state.maxOpen : fitting(maxOpen) })
}

export function viewStream(state: StreamState): StreamView {
  const { config, cursor, next, open, paused, ordered, backfill, target, counts, updatedAt } = state
  const free = room(state)
  const outside = countOutside(state)
  const countOf = (some: typeof outside) => some.reduce((sum, one) => sum + one.count, 0)
  return {
    stream: config.stream,
    ...(cursor && { nextHeight: cursor.height + 1, parentHash: cursor.hash }),
    next,
    open: open.length + countOf(outside),
    parked: open.filter(({ parked }) => parked !== undefined).length + countOf(outside.filter(({ why }) => !why.waits)),
    ...(outside.length > 0 && { outside: outsideView(outside) }),
    toVerify: open.filter(({ early }) => early).length,
    room: free,
    maxOpen: { most: state.maxOpen, configured: fitting(config.maxOpen), ...defined({ ordered }) },
    full: free === 0 || paused !== undefined,
    ...gapsView(state),
    backfill: { left: Number(countNumbers(backfill.left)), ordered: backfill.ordered },
    alarms: alarmsOf(state),
    counts,
    ...defined({ completedNumber: completedNumber(state), completedHeight: completedHeight(state), blockedBy: blockedBy(state) }),
    ...defined({ paused, targetHeight: target, updatedAt }),
  }
}

function outsideView(outside: ReturnType<typeof countOutside>): Readonly<Record<string, number>> {
  const sums: Record<string, number> = {}
  for (const { why, count } of outside) sums[why.code] = (sums[why.code] ?? 0) + count
  return sums
}

function gapsView({ gaps }: StreamState): Pick<StreamView, 'gaps' | 'oldestGapAt'> {
  const sums: Partial<Record<GapState, string>> = {}
  for (const gap of gaps) sums[gap.state] = String(BigInt(sums[gap.state] ?? 0) + gapSize(gap))
  return { gaps: sums, ...(gaps.length > 0 && { oldestGapAt: Math.min(...gaps.map(({ at }) => at)) }) }
}

function alarmsOf(state: StreamState): readonly StreamAlarm[] {
  const { fork, vanished, gaps, unknownCompletions, distrusted } = state
  const raised: Readonly<Record<StreamAlarm, boolean>> = {
    forked: fork !== undefined,
    vanished: vanished !== undefined,
    hidden: gaps.some(({ state }) => state === 'hidden'),
    'unknown-completion': unknownCompletions.length > 0,
    distrusted: distrusted !== undefined,
    crowded: isCrowded(state),
  }
  return (Object.keys(raised) as StreamAlarm[]).filter((alarm) => raised[alarm])
}

/** The number up to which every number is resolved (MIP-61's PROCESS_FINISHED_NONCE_HEIGHT). */
export function completedNumber(state: StreamState): string | undefined {
  const above = BigInt(unread(state)[0]?.[0] ?? state.next)
  const lowest = min(BigInt(lowestUnresolved(state)?.number ?? above), above)
  return lowest > BigInt(state.config.first) ? String(lowest - 1n) : undefined
}

/** The block up to which no block can have an unresolved number (MIP-61's completed_block_height). */
export function completedHeight(state: StreamState): number | undefined {
  const { cursor, backfill } = state
  if (!cursor) return undefined
  const lowest = lowestUnresolved(state)
  const first = lowest && (lowest.height ?? heightAt(state, BigInt(lowest.number)) ?? 0)
  const unread = backfill.left[0]?.[0]
  const ends = [cursor.height, ...(first !== undefined ? [first - 1] : []), ...(unread !== undefined ? [Number(unread) - 1] : [])]
  const height = Math.min(...ends)
  return height < 0 ? undefined : height
}

function blockedBy(state: StreamState): StreamView['blockedBy'] {
  const lowest = lowestUnresolved(state)
  if (!lowest) return undefined
  const { height: _, ...blocked } = lowest
  return blocked
}

type Unresolved = NonNullable<StreamView['blockedBy']> & { readonly height?: number | undefined }

function lowestUnresolved(state: StreamState): Unresolved | undefined {
  const [[open], [gap], outside] = [state.open, state.gaps, lowestOutside(state)]
  const found: Unresolved[] = []
  if (gap) found.push({ number: gap.from, height: gap.height, why: gap.state, ...defined({ code: gap.code }) })
  if (open?.parked !== undefined) found.push({ number: open.number, height: open.height, why: 'parked', code: open.parked })
  else if (open) found.push({ number: open.number, height: open.height, why: 'open' })
  if (outside) found.push({ number: outside.number, why: outside.why.waits ? 'waiting' : 'parked', code: outside.why.code })
  return found.sort((a, b) => compare(a.number, b.number))[0]
}
