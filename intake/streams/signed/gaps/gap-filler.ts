import { knownCode, toRelayerError } from '../../../../domain/catalogue/errors.ts'
import { addInterval, type IntervalSet } from '../../../../domain/stream/intervals.ts'
import type { StreamRequest, StreamState } from '../../../../domain/stream/stream.ts'
import { type NumberStatus, seenRequests, withStatus } from '../../number-status.ts'
import { type BlockedTransfer, unstartedRequests } from './blocked.ts'
import { type ClassifiedGaps, classifications, classifyGaps } from './classify-gaps.ts'
import type { SignedDeps } from '../deps.ts'
import { fetchMissing, type FetchOutcome, foundIn } from './fetch-missing.ts'
import { createPublishedLogs } from '../published-logs.ts'
import { createRetrySchedule } from './retry-schedule.ts'
import { type ExpectedOfSpy, unheardOf } from '../spy-silence.ts'
import type { UnderWay } from './under-way.ts'
import { problemOf } from '../../../../observability/severity.ts'

/** What one look at the gaps came to, in numbers. absent: no server that could be asked has them. */
export interface GapReport extends Readonly<Record<NumberStatus | 'absent', number>> {
  /** When the next look is due, ms since the epoch; absent: when something new is missing. */
  readonly nextAt?: number
}

/** At a time: recorded together, and what a crash may repeat. */
const atOnce = 50
/** In one look; the next one goes on above. */
const mostPerLook = 2_000
/**
 * At each end of a gap: what is found there brings those between nearer. A number that a source gives out far above the others (its contract is broken, or
 * not its own any more) makes a gap that no server can be asked through, and that must not keep the servers busy for ever.
 */
const mostOfEnd = 5_000n
/** Messages of one block come in any order, and together: a gap is given so long to close by itself, ms. */
export const settleMs = 2_000
/** What the spy told is recorded when there is room; so long after a look that left it out comes the next, ms, should it be forgotten. */
const heardMs = 10_000

export interface GapsDeps extends SignedDeps {
  /** How long a gap is given to close by itself, ms; 0 where it is asked once. */
  readonly freshMs?: number
  /** Whether this process started the number's transfer by the spy and is about to record it. Default: never. */
  readonly isHeard?: (number: string) => boolean
  /** Why what this process heard by the spy cannot be started; undefined: it has not heard it, or has started it. Default: never heard. */
  readonly delayed?: (number: string) => BlockedTransfer | undefined
  /** Whether the spy should have told this process a message of this time, and has not. Default: never. */
  readonly isUnheard?: ExpectedOfSpy['isUnheard']
}

const nothingRuns: Pick<UnderWay, 'of'> = { of: async () => new Map() }

type Absent = Extract<FetchOutcome, { kind: 'absent' }>

export function createGapFiller(deps: GapsDeps, auditMs: number) {
  const { streamClient, freshMs = settleMs, isHeard = () => false } = deps
  const schedule = createRetrySchedule(auditMs)
  const record = createFetchRecorder(deps, schedule)
  /** Where a look that did not come to the end goes on. */
  let above = -1n
  /** When numbers that the last look left out are looked at again. */
  let heardAgainAt = Infinity

  /** Known for a moment only: the spy may be about to tell it. Times of a clock that is far from this one are not compared. */
  const isFresh = (since: number) => Math.abs(Date.now() - since) < freshMs

  function* due({ gaps, open }: StreamState): Generator<string> {
    const taken = new Set(open.map(({ number }) => number))
    // Neighbours of different states are one: its ends were looked at, and not what lies between.
    const stretches = gaps.filter(({ at }) => !isFresh(at)).reduce<IntervalSet>((all, { from, to }) => addInterval(all, from, to), [])
    for (const [from, to] of stretches) {
      for (const number of endsOf(BigInt(from), BigInt(to), above)) {
        if (!schedule.isDue(number) || taken.has(number)) continue
        if (isHeard(number)) heardAgainAt = Date.now() + heardMs
        else yield number
      }
    }
  }

  return {
    /** Something may have brought what is missing (the spy was away): all that was not asked for just now is due. */
    hurry: () => schedule.hurry(),
    /**
     * Looks for every number of the gaps that is due, and records what it finds after every few of them, so that a crash loses little. Throws what reads
     * throw; what was recorded stays.
     * @param upTo the source's highest number at its finalized state, as last asked
     * @param underWay which numbers have transfers that run: they are recorded, and not looked for
     */
    async look(state: StreamState, upTo: string | undefined, underWay: Pick<UnderWay, 'of'> = nothingRuns): Promise<GapReport> {
      const counts: Record<NumberStatus | 'absent', number> = { started: 0, delivered: 0, ignored: 0, absent: 0 }
      let [looked, full] = [0, false]
      schedule.prune(state.gaps)
      heardAgainAt = Infinity
      const numbers = due(state)
      for (let last = false; !last && looked < mostPerLook;) {
        // A transfer starts before it is recorded: no more than there is room for.
        const room = Math.min(atOnce, streamClient.view?.room ?? atOnce)
        full = room === 0
        if (full) break
        const batch = take(numbers, room)
        last = batch.length < room
        if (batch.length === 0) break
        looked += batch.length
        const outcomes = await findAll(deps, batch, await underWay.of(batch))
        for (const status of await record(outcomes, upTo, state)) counts[status]++
        for (const { kind } of outcomes.values()) if (kind === 'absent') counts.absent++
        above = last ? -1n : BigInt(batch.at(-1) ?? -1)
      }
      const freshUntil = state.gaps.some(({ at }) => isFresh(at)) ? Date.now() + freshMs : Infinity
      const isUnfinished = full || looked >= mostPerLook
      const nextAt = isUnfinished ? Date.now() + 1_000 : Math.min(freshUntil, heardAgainAt, schedule.nextAt)
      return { ...counts, ...(Number.isFinite(nextAt) && { nextAt }) }
    },
  }
}

/** What runs is known, and the rest is fetched. */
async function findAll(
  deps: SignedDeps,
  numbers: readonly string[],
  underWay: ReadonlyMap<string, string>,
): Promise<ReadonlyMap<string, FetchOutcome>> {
  const fetched = await fetchMissing(
    deps,
    numbers.filter((number) => !underWay.has(number)),
  )
  const known = numbers.flatMap((number): [string, FetchOutcome][] => {
    const id = underWay.get(number)
    return id === undefined ? [] : [[number, { kind: 'started', id, status: 'known' }]]
  })
  return new Map([...fetched, ...known])
}

/** Records what a search for missing numbers found, and classifies the rest. Answers with the statuses that the stream has taken. */
function createFetchRecorder(deps: GapsDeps, schedule: ReturnType<typeof createRetrySchedule>) {
  const { source, streamClient, logger, delayed = () => undefined, isUnheard } = deps
  const { stream } = source.config
  const logs = createPublishedLogs(deps)

  /** The source does not answer: what was found is recorded without it, and the gaps are classified later. */
  function unclassified(thrown: unknown): ClassifiedGaps {
    const error = toRelayerError(thrown)
    if (!error.retriable) throw error
    logger.warn('missing numbers cannot be classified now', { stream, ...problemOf(error) })
    return { ignored: [], delivered: [], classes: new Map() }
  }

  return async (outcomes: ReadonlyMap<string, FetchOutcome>, upTo: string | undefined, state: StreamState): Promise<NumberStatus[]> => {
    const absent = new Map([...outcomes].flatMap(([number, one]) => (one.kind === 'absent' ? [[number, one] as const] : [])))
    const blocked = blockedOf(outcomes, delayed)
    // What is here is not missing: nobody else has to say why.
    const unknown = [...absent.keys()].filter((number) => !blocked.has(number))
    const { ignored, delivered, classes } = await classifyGaps(deps, logs, unknown, upTo).catch(unclassified)
    const resolved = [...withStatus('ignored', ignored), ...withStatus('delivered', delivered)]
    const seen = [...foundIn(outcomes), ...resolved]
    const named = [...classifications(classes, state.gaps), ...unstartedRequests(blocked, state.gaps)]
    const requests: StreamRequest[] = [...seenRequests(seen, { missedBySpy: unheardOf(outcomes, isUnheard) }), ...named]
    const response = requests.length > 0 ? await streamClient.apply(requests) : undefined
    // Full: recorded with the next look, as their transfers run.
    const isRecorded = response?.answers[0]?.kind === 'done'
    if (isRecorded) for (const [number] of seen) schedule.forget(number)
    for (const [number] of resolved) absent.delete(number)
    for (const [number, { againInMs }] of absent) schedule.later(number, classes.get(number), againInMs)
    for (const [number, one] of outcomes) if (one.kind === 'unknown') schedule.later(number, undefined, one.againInMs)
    for (const status of new Set(seen.map(([, each]) => each))) {
      const numbers = seen.filter(([, each]) => each === status).map(([number]) => number)
      logger.info('missing numbers are found', { stream, status, numbers: numbers.join(', ') })
    }
    for (const { from, to, state: name, code, chain } of named) {
      const count = Number(BigInt(to) - BigInt(from) + 1n)
      if (code !== undefined) {
        const about = { code: knownCode(code), stream, from, to, count, chain }
        logger.warn('messages are here, and their transfers cannot be started now', about)
      } else {
        const remedy = `portage stream show ${stream} says why each is missing; docs/operate/streams.md ("Is anything missed?") what to do.`
        const about = { code: 'NUMBERS_MISSING', stream, from, to, count, state: name } as const
        logger.warn('numbers are missing', { ...about, refused: refusalCodes(absent, from, to), remedy })
      }
    }
    return isRecorded ? seen.map(([, status]) => status) : []
  }
}

/** The numbers above `above` at both ends of a gap, ascending. */
function* endsOf(from: bigint, to: bigint, above: bigint): Generator<string> {
  const lowEnd = from + mostOfEnd < to ? from + mostOfEnd : to
  const highStart = to - mostOfEnd > lowEnd ? to - mostOfEnd : lowEnd + 1n
  for (const [start, end] of [[from, lowEnd] as const, [highStart, to] as const])
    for (let at = start > above ? start : above + 1n; at <= end; at++) yield String(at)
}

/** Those of these numbers whose messages are here: fetched now, or heard by this process. */
function blockedOf(
  outcomes: ReadonlyMap<string, FetchOutcome>,
  delayed: NonNullable<GapsDeps['delayed']>,
): ReadonlyMap<string, BlockedTransfer> {
  const blocked = new Map<string, BlockedTransfer>()
  for (const [number, one] of outcomes) {
    if (one.kind !== 'absent' && one.kind !== 'unknown') continue
    const why = (one.kind === 'unknown' ? one.blocked : undefined) ?? delayed(number)
    if (why) blocked.set(number, why)
  }
  return blocked
}

function take(numbers: Generator<string>, count: number): string[] {
  const taken: string[] = []
  for (let next = numbers.next(); !next.done; next = numbers.next()) if (taken.push(next.value) === count) break
  return taken
}

/** The codes that the last copies of these numbers were refused with; undefined: none. */
function refusalCodes(absent: ReadonlyMap<string, Absent>, from: string, to: string): string | undefined {
  const some = [...absent].filter(([number]) => BigInt(from) <= BigInt(number) && BigInt(number) <= BigInt(to))
  return [...new Set(some.flatMap(([, { code }]) => code ?? []))].join(', ') || undefined
}
