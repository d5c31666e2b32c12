import type { Published } from '../../../../bridges/port.ts'
import { knownCode, toRelayerError } from '../../../../domain/catalogue/errors.ts'
import { groupBy } from '../../../../domain/group-by.ts'
import { compare, gapAt, gapSize, hasGap } from '../../../../domain/stream/gaps.ts'
import { type Intervals, overlaps, setOf } from '../../../../domain/stream/intervals.ts'
import type { Gap, RequestOf, StreamRequest, StreamState } from '../../../../domain/stream/stream.ts'
import { problemOf } from '../../../../observability/severity.ts'
import { type NumberStatus, type SeenNumbers, seenRequests, withStatus } from '../../number-status.ts'
import type { BlockedTransfer, GapsDeps, SignedDeps } from '../deps.ts'
import { missedBySpy } from '../spy-silence.ts'
import { type FetchOutcome, foundIn, needingNoTransfer } from './fetch-messages.ts'
import { createPublishedLogs, type PublishedLogs } from './published-logs.ts'
import { backoffMs } from '../../../../domain/backoff.ts'
import { boundedMap } from '../../../../runtime/bounded-map.ts'

type Outcomes = ReadonlyMap<string, FetchOutcome>
type Absent = Extract<FetchOutcome, { kind: 'absent' }>
export type GapClass = 'not-final' | 'held' | 'unobserved'

export function createFetchRecorder(deps: GapsDeps, schedule: RetrySchedule) {
  const { source, streamClient, logger, delayed = () => undefined, isMissed } = deps
  const { stream } = source.config
  const logs = createPublishedLogs(deps)

  function unclassified(thrown: unknown) {
    const error = toRelayerError(thrown)
    if (!error.retriable) throw error
    logger.warn('missing numbers cannot be classified now', { stream, ...problemOf(error) })
    return { ignored: [], delivered: [], classes: new Map<string, GapClass>() }
  }

  function logFound(seen: SeenNumbers): void {
    for (const [status, some] of groupBy(seen, ([, each]) => each))
      logger.info('missing numbers are found', { stream, status, numbers: some.map(([number]) => number).join(', ') })
  }

  function logMissing({ from, to, state, code, chain }: RequestOf<'classified'>, absent: ReadonlyMap<string, Absent>): void {
    const about = { stream, from, to, count: Number(gapSize({ from, to })) }
    if (code === undefined)
      logger.warn('numbers are missing', { code: 'NUMBERS_MISSING', ...about, state, refused: refusalCodes(absent, from, to) })
    else logger.warn('messages were received, but their transfers cannot be started now', { code: knownCode(code), ...about, chain })
  }

  return async (outcomes: Outcomes, upTo: string | undefined, state: StreamState): Promise<NumberStatus[]> => {
    const absent = new Map([...outcomes].flatMap(([number, one]) => (one.kind === 'absent' ? [[number, one] as const] : [])))
    const blocked = blockedOf(outcomes, delayed)
    const unknown = [...absent.keys()].filter((number) => !blocked.has(number))
    const { ignored, delivered, classes } = await classifyGaps(deps, logs, unknown, upTo).catch(unclassified)
    const resolved = [...withStatus('ignored', ignored), ...withStatus('delivered', delivered)]
    const seen = [...foundIn(outcomes), ...resolved]
    const named = [...classifications(classes, state.gaps), ...unstartedRequests(blocked, state.gaps)]
    const requests: StreamRequest[] = [...seenRequests(seen, { missedBySpy: missedBySpy(outcomes, isMissed) }), ...named]
    const response = requests.length > 0 ? await streamClient.apply(requests) : undefined
    const isRecorded = response?.answers[0]?.kind === 'done'
    if (isRecorded) for (const [number] of seen) schedule.forget(number)
    for (const [number] of resolved) absent.delete(number)
    for (const [number, { againInMs }] of absent) schedule.later(number, classes.get(number), againInMs)
    for (const [number, one] of outcomes) if (one.kind === 'unknown') schedule.later(number, undefined, one.againInMs)
    logFound(seen)
    for (const one of named) logMissing(one, absent)
    return isRecorded ? seen.map(([, status]) => status) : []
  }
}

/** Finds out why numbers are missing. `upTo`: highest number in the source's finalized state. Throws read errors. */
async function classifyGaps(
  { source, lookup, chain }: Pick<SignedDeps, 'source' | 'lookup' | 'chain'>,
  logs: PublishedLogs,
  numbers: readonly string[],
  upTo: string | undefined,
) {
  const finalized = chain.heads.current?.finalized
  const published = finalized === undefined ? new Map<string, Published>() : await logs.of(numbers, finalized)
  const { ignored, done } = await needingNoTransfer(source, [...published.values()])
  const over = new Set([...ignored, ...done])
  const open = numbers.filter((number) => !over.has(number))
  const place = { chain: source.emitterChain, emitter: source.emitter }
  const classes = await Promise.all(
    open.map(async (number): Promise<[string, GapClass]> => {
      if (upTo !== undefined && BigInt(number) > BigInt(upTo)) return [number, 'not-final']
      return [number, (await lookup.held({ ...place, sequence: number })) ? 'held' : 'unobserved']
    }),
  )
  return { ignored, delivered: [...done], classes: new Map(classes) }
}

export function classifications(classes: ReadonlyMap<string, GapClass>, gaps: readonly Gap[]): readonly RequestOf<'classified'>[] {
  const named = [...groupBy(classes, ([, state]) => state)].flatMap(([state, some]) => {
    const known = gaps.filter((gap) => gap.state === state)
    const numbers = some.map(([number]) => number).filter((number) => !hasGap(known, BigInt(number)))
    return setOf(numbers).map(([from, to]) => ({ kind: 'classified' as const, from, to, state }))
  })
  return named.toSorted((a, b) => compare(a.from, b.from))
}

function unstartedRequests(blocked: ReadonlyMap<string, BlockedTransfer>, gaps: readonly Gap[]): readonly RequestOf<'classified'>[] {
  return [...blocked].flatMap(([number, { code, chain }]): RequestOf<'classified'>[] => {
    const gap = gapAt(gaps, BigInt(number))
    if (!gap || (gap.state === 'unstarted' && gap.code === code && gap.chain === (chain || undefined))) return []
    return [{ kind: 'classified', from: number, to: number, state: 'unstarted', code, ...(chain && { chain }) }]
  })
}

function blockedOf(outcomes: Outcomes, delayed: NonNullable<GapsDeps['delayed']>): ReadonlyMap<string, BlockedTransfer> {
  const blocked = new Map<string, BlockedTransfer>()
  for (const [number, one] of outcomes) {
    if (one.kind !== 'absent' && one.kind !== 'unknown') continue
    const why = (one.kind === 'unknown' ? one.blocked : undefined) ?? delayed(number)
    if (why) blocked.set(number, why)
  }
  return blocked
}

function refusalCodes(absent: ReadonlyMap<string, Absent>, from: string, to: string): string | undefined {
  const some = [...absent].filter(([number]) => BigInt(from) <= BigInt(number) && BigInt(number) <= BigInt(to))
  return [...new Set(some.flatMap(([, { code }]) => code ?? []))].join(', ') || undefined
}

const mostNumbers = 20_000
const firstWaitMs = 5_000

export type RetrySchedule = ReturnType<typeof createRetrySchedule>

export function createRetrySchedule(auditMs: number) {
  const tries = boundedMap<string, { readonly count: number; readonly triedAt: number; readonly dueAt: number }>(mostNumbers)
  return {
    isDue: (number: string) => (tries.peek(number)?.dueAt ?? 0) <= performance.now(),
    later(number: string, gapClass: GapClass | undefined, againInMs: number | undefined): void {
      const count = tries.peek(number)?.count ?? 0
      const most = gapClass === 'unobserved' ? 12 * auditMs : auditMs
      const wait = Math.min(backoffMs(count, Math.min(firstWaitMs, auditMs), most), againInMs ?? Infinity)
      const now = performance.now()
      tries.set(number, { count: count + 1, triedAt: now, dueAt: now + wait })
    },
    forget: (number: string) => void tries.delete(number),
    prune(wanted: Intervals): void {
      for (const number of [...tries.keys()]) if (!overlaps(wanted, BigInt(number))) tries.delete(number)
    },
    hurry(): void {
      const now = performance.now()
      for (const [number, one] of [...tries.entries()]) if (one.triedAt < now - firstWaitMs) tries.set(number, { ...one, dueAt: now })
    },
    get nextAt(): number {
      let at = Infinity
      for (const { dueAt } of tries.values()) at = Math.min(at, dueAt)
      return at
    },
  }
}
