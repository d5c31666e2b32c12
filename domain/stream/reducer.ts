import type {
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
import { backfill, backfilled, trust } from './backfill.ts'
import { clip, limits } from './gaps.ts'
import { configured, setMaxOpen, viewMaxOpen } from './limit.ts'
import { done, room, type StreamStep } from './numbers.ts'
import { audited, classified, reread, scanned, seen } from './source.ts'
import { closed, completed, park, skip, undone, unskip } from './target.ts'
import { blockedBy, completedHeight, completedNumber } from './watermark.ts'

/** A stream of which nothing is known: at its first start, or after Temporal was wiped. Everything else is found out. */
export function initialStream(config: StreamConfig): StreamState {
  return {
    config,
    first: config.first,
    next: config.first,
    open: [],
    gaps: [],
    unknownCompletions: [],
    exceptions: [],
    marks: [],
    ...(config.start !== undefined && { start: config.start }),
    backfill: { left: [], ordered: 0 },
    maxOpen: Math.min(config.maxOpen, limits.open),
    counts: { completed: 0, ignored: 0, rejected: 0, declined: 0, cancelled: 0, skipped: 0, undone: 0, forks: 0, unknown: 0 },
  }
}

/**
 * The requests in order. Pure; the state is replaced, never changed. Any number of agents may tell anything twice, late, or from before the
 * state was wiped or restored: what an agent remembers of a higher cursor is read again, not believed. Requests have passed
 * `assertStreamUpdate`.
 * @param at ms since the epoch by the stream's clock
 */
export function applyToStream(
  state: StreamState,
  { requests }: StreamUpdate,
  at: number,
): { state: StreamState; response: StreamResponse } {
  const answers: StreamAnswer[] = []
  let current = state
  for (const request of requests) {
    const step = answer(current, request, at)
    current = step.state
    answers.push(step.answer)
  }
  return { state: current, response: { answers, view: viewStream(current) } }
}

function answer(state: StreamState, request: StreamRequest, at: number): StreamStep {
  switch (request.kind) {
    case 'scanned':
      return scanned(state, request, at)
    case 'seen':
      return seen(state, request, at)
    case 'backfilled':
      return backfilled(state, request, at)
    case 'reread':
      return reread(state, request)
    case 'audited':
      return audited(state, request, at)
    case 'classified':
      return classified(state, request)
    case 'completed':
      return completed(state, request)
    case 'undone':
      return undone(state, request, at)
    case 'closed':
      return closed(state, request, at)
    case 'parked':
      return park(state, request.number, request.code)
    case 'unparked':
      return park(state, request.number)
    case 'skip':
      return skip(state, request, at)
    case 'unskip':
      return unskip(state, request.number, at)
    case 'backfill':
      return done(backfill(state, request.from, request.to, request.by))
    case 'trust':
      return trust(state, request, at)
    case 'setMaxOpen':
      return setMaxOpen(state, request, at)
    case 'configured':
      return configured(state, request)
    case 'pause':
      return done({ ...state, paused: { by: clip(request.by), reason: clip(request.reason), at } })
    case 'resume': {
      const { paused: _, ...rest } = state
      return done(rest)
    }
  }
}

export function viewStream(state: StreamState): StreamView {
  const { config, cursor, next, open, paused, backfill, target, counts } = state
  const [number, height, blocked] = [completedNumber(state), completedHeight(state), blockedBy(state)]
  const free = room(state)
  return {
    stream: config.stream,
    ...(cursor && { nextHeight: cursor.height + 1, parentHash: cursor.hash }),
    next,
    ...(number !== undefined && { completedNumber: number }),
    ...(height !== undefined && { completedHeight: height }),
    open: open.length,
    parked: open.filter(({ parked }) => parked !== undefined).length,
    toVerify: open.filter(({ early }) => early).length,
    room: free,
    maxOpen: viewMaxOpen(state),
    full: free === 0 || paused !== undefined,
    ...(paused && { paused }),
    ...gapsOf(state),
    ...(blocked && { blockedBy: blocked }),
    backfill: { left: backfill.left.reduce((sum, [from, to]) => sum + Number(to) - Number(from) + 1, 0), ordered: backfill.ordered },
    ...(target !== undefined && { targetHeight: target }),
    alarms: alarmsOf(state),
    counts,
  }
}

function gapsOf({ gaps }: StreamState): Pick<StreamView, 'gaps' | 'oldestGapAt'> {
  const sums: Partial<Record<GapState, string>> = {}
  for (const { from, to, state } of gaps) sums[state] = String(BigInt(sums[state] ?? 0) + BigInt(to) - BigInt(from) + 1n)
  return { gaps: sums, ...(gaps.length > 0 && { oldestGapAt: Math.min(...gaps.map(({ at }) => at)) }) }
}

function alarmsOf({ fork, vanished, gaps, unknownCompletions, distrusted }: StreamState): readonly StreamAlarm[] {
  return [
    ...(fork ? ['forked' as const] : []),
    ...(vanished ? ['vanished' as const] : []),
    ...(gaps.some(({ state }) => state === 'hidden') ? ['hidden' as const] : []),
    ...(unknownCompletions.length > 0 ? ['unknown-completion' as const] : []),
    ...(distrusted ? ['distrusted' as const] : []),
  ]
}
