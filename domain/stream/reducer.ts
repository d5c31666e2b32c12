import type {
  RequestOf,
  StreamAlarm,
  StreamAnswer,
  StreamConfig,
  StreamRequest,
  StreamResponse,
  StreamState,
  StreamUpdate,
  StreamView,
  GapState,
} from './stream.ts'
import { countAside, isCrowded } from './aside.ts'
import { backfill, backfilled, trust } from './backfill.ts'
import { clip, limits } from './gaps.ts'
import { done, room, type StreamStep } from './numbers.ts'
import { audited, classified, reread, scanned, seen } from './source.ts'
import { isStreamOrder, noted } from './orders.ts'
import { orderOf } from '../order.ts'
import { closed, completed, park, skip, undone, unpark, unskip } from './target.ts'
import { blockedBy, completedHeight, completedNumber } from './watermark.ts'

/** A stream of which nothing is known: at its first start, or after Temporal was wiped. Everything else is found out. */
export function initialStream(config: StreamConfig): StreamState {
  return {
    config,
    first: config.first,
    next: config.first,
    open: [],
    aside: [],
    gaps: [],
    unknownCompletions: [],
    exceptions: [],
    marks: [],
    ...(config.start !== undefined && { start: config.start }),
    backfill: { left: [], ordered: 0 },
    maxOpen: fitting(config.maxOpen),
    counts: { completed: 0, ignored: 0, rejected: 0, declined: 0, cancelled: 0, skipped: 0, undone: 0, forks: 0, unknown: 0 },
  }
}

/**
 * Applies the requests in order. Pure. Any number of agents may send anything twice, late, or from before the state was lost. Requests have passed
 * `assertStreamUpdate`. @param at ms since the epoch by the stream's clock
 */
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
  backfill: (state, request) => done(backfill(state, request.from, request.to, orderOf(request).by)),
  trust,
  setMaxOpen,
  configured,
  pause,
  resume: ({ paused: _, ...rest }) => done(rest),
}

export const fitting = (maxOpen: number) => Math.min(maxOpen, limits.open)

function pause(state: StreamState, request: RequestOf<'pause'>, at: number): StreamStep {
  const { by, reason } = orderOf(request, 'update')
  return done({ ...state, paused: { by: clip(by), reason: clip(reason), at } })
}

/** An operator's order of how many transfers are under way at a time: it outranks the config until it is taken back. */
function setMaxOpen({ ordered: _, ...state }: StreamState, request: RequestOf<'setMaxOpen'>, at: number): StreamStep {
  const { maxOpen } = request
  if (maxOpen === undefined) return done({ ...state, maxOpen: fitting(state.config.maxOpen) })
  return done({ ...state, maxOpen: fitting(maxOpen), ordered: { by: clip(orderOf(request).by), at } })
}

/** The config of a process that has just started: it holds where no operator has ordered anything else. */
function configured(state: StreamState, { stream, origin, maxOpen }: RequestOf<'configured'>): StreamStep {
  const config = { ...state.config, stream, origin, maxOpen }
  return done({ ...state, config, maxOpen: state.ordered ? state.maxOpen : fitting(maxOpen) })
}

export function viewStream(state: StreamState): StreamView {
  const { config, cursor, next, open, paused, backfill, target, counts } = state
  const [number, height, blocked] = [completedNumber(state), completedHeight(state), blockedBy(state)]
  const free = room(state)
  const aside = countAside(state)
  const countOf = (some: typeof aside) => some.reduce((sum, { count }) => sum + count, 0)
  return {
    stream: config.stream,
    ...(cursor && { nextHeight: cursor.height + 1, parentHash: cursor.hash }),
    next,
    ...(number !== undefined && { completedNumber: number }),
    ...(height !== undefined && { completedHeight: height }),
    open: open.length + countOf(aside),
    parked: open.filter(({ parked }) => parked !== undefined).length + countOf(aside.filter(({ why }) => !why.waits)),
    ...(aside.length > 0 && { aside: asideView(aside) }),
    toVerify: open.filter(({ early }) => early).length,
    room: free,
    maxOpen: { most: state.maxOpen, configured: fitting(config.maxOpen), ...(state.ordered && { ordered: state.ordered }) },
    full: free === 0 || paused !== undefined,
    ...(paused && { paused }),
    ...gapsOf(state),
    ...(blocked && { blockedBy: blocked }),
    backfill: { left: backfill.left.reduce((sum, [from, to]) => sum + Number(to) - Number(from) + 1, 0), ordered: backfill.ordered },
    ...(target !== undefined && { targetHeight: target }),
    alarms: alarmsOf(state),
    counts,
    ...(state.toldAt !== undefined && { toldAt: state.toldAt }),
  }
}

/** By code: some may wait with a code that others are parked with. */
function asideView(aside: ReturnType<typeof countAside>): Readonly<Record<string, number>> {
  const sums: Record<string, number> = {}
  for (const { why, count } of aside) sums[why.code] = (sums[why.code] ?? 0) + count
  return sums
}

function gapsOf({ gaps }: StreamState): Pick<StreamView, 'gaps' | 'oldestGapAt'> {
  const sums: Partial<Record<GapState, string>> = {}
  for (const { from, to, state } of gaps) sums[state] = String(BigInt(sums[state] ?? 0) + BigInt(to) - BigInt(from) + 1n)
  return { gaps: sums, ...(gaps.length > 0 && { oldestGapAt: Math.min(...gaps.map(({ at }) => at)) }) }
}

function alarmsOf(state: StreamState): readonly StreamAlarm[] {
  const { fork, vanished, gaps, unknownCompletions, distrusted } = state
  return [
    ...(fork ? ['forked' as const] : []),
    ...(vanished ? ['vanished' as const] : []),
    ...(gaps.some(({ state }) => state === 'hidden') ? ['hidden' as const] : []),
    ...(unknownCompletions.length > 0 ? ['unknown-completion' as const] : []),
    ...(distrusted ? ['distrusted' as const] : []),
    ...(isCrowded(state) ? ['crowded' as const] : []),
  ]
}
