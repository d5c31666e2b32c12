import { addInterval, type IntervalSet } from '../../../../domain/stream/intervals.ts'
import type { StreamState } from '../../../../domain/stream/stream.ts'
import { noNumbers, type NumberCounts } from '../../number-status.ts'
import type { GapsDeps, SignedDeps } from '../deps.ts'
import { fetchMessages, type FetchOutcome } from './fetch-messages.ts'
import { createFetchRecorder, createRetrySchedule } from './record-fetched.ts'
import { createUnderWay, type UnderWayDeps } from './under-way.ts'
import { createManyMissing } from '../look-back.ts'

export interface GapReport extends Readonly<NumberCounts> {
  readonly absent: number
  /** When the next round is due, ms since the epoch. Absent if none is due until another number is missing. */
  readonly nextAt?: number
}

export const nothingFilled: GapReport = { ...noNumbers, absent: 0 }

const atOnce = 50
const mostPerRound = 2_000
/** A source may skip numbers at will, so only this many at each end of a gap are looked up. */
const mostOfEnd = 5_000n
/** Messages of one block come in any order, so a gap may close by itself. */
export const settleMs = 2_000
const receivedMs = 10_000

/** Fills gaps from recent blocks if many numbers are missing, then from running transfers, then from servers. */
export function createGapFiller(deps: GapsDeps & UnderWayDeps, auditMs: number) {
  const { streamClient, freshMs = settleMs, isReceived = () => false } = deps
  const schedule = createRetrySchedule(auditMs)
  const record = createFetchRecorder(deps, schedule)
  const manyMissing = createManyMissing(deps)
  const underWay = createUnderWay(deps)
  let above = -1n
  let receivedAgainAt = Infinity

  /** If the clocks differ much, no gap counts as new. */
  const isFresh = (since: number) => Math.abs(Date.now() - since) < freshMs

  function* due({ gaps, open }: StreamState): Generator<string> {
    const opened = new Set(open.map(({ number }) => number))
    // Joins adjacent gaps, because only the numbers at the ends of the whole range are looked up.
    const stretches = gaps.filter(({ at }) => !isFresh(at)).reduce<IntervalSet>((all, { from, to }) => addInterval(all, from, to), [])
    for (const [from, to] of stretches) {
      for (const number of endsOf(BigInt(from), BigInt(to), above)) {
        if (!schedule.isDue(number) || opened.has(number)) continue
        if (isReceived(number)) receivedAgainAt = Date.now() + receivedMs
        else yield number
      }
    }
  }

  function nextAt({ gaps }: StreamState, isUnfinished: boolean): Pick<GapReport, 'nextAt'> {
    const freshUntil = gaps.some(({ at }) => isFresh(at)) ? Date.now() + freshMs : Infinity
    const at = isUnfinished ? Date.now() + 1_000 : Math.min(freshUntil, receivedAgainAt, schedule.nextAt)
    return Number.isFinite(at) ? { nextAt: at } : {}
  }

  return {
    /** Call this after a reconnect, because the spy may have sent messages while it was disconnected. */
    hurry: schedule.hurry,
    /** Records each batch, so that an error loses no earlier batch. `upTo` is the highest finalized number. */
    async fillGaps(found: StreamState, upTo: string | undefined): Promise<GapReport> {
      const { state, counts: byBlocks } = await manyMissing.resolve(found, () => underWay.listed(found))
      const counts = { ...byBlocks, absent: 0 }
      let done = 0
      schedule.prune(state.gaps)
      receivedAgainAt = Infinity
      const numbers = due(state)
      for (;;) {
        // Transfers start before they are recorded, so no more messages are fetched than the stream has room for.
        const room = Math.min(atOnce, streamClient.view?.room ?? atOnce)
        const batch = take(numbers, room)
        if (batch.length > 0) {
          const outcomes = await findAll(deps, batch, await underWay.of(batch))
          for (const status of await record(outcomes, upTo, state)) counts[status]++
          for (const { kind } of outcomes.values()) if (kind === 'absent') counts.absent++
        }
        done += batch.length
        const isLast = room > 0 && batch.length < room
        if (batch.length > 0) above = isLast ? -1n : BigInt(batch.at(-1) ?? -1)
        if (isLast || room === 0 || done >= mostPerRound) return { ...counts, ...nextAt(state, room === 0 || done >= mostPerRound) }
      }
    },
  }
}

async function findAll(deps: SignedDeps, numbers: readonly string[], underWay: ReadonlyMap<string, string>) {
  const unknown = numbers.filter((number) => !underWay.has(number))
  const fetched = await fetchMessages(deps, unknown)
  const known = numbers.flatMap((number): [string, FetchOutcome][] => {
    const id = underWay.get(number)
    return id === undefined ? [] : [[number, { kind: 'started', id, status: 'known' }]]
  })
  return new Map([...fetched, ...known])
}

function* endsOf(from: bigint, to: bigint, above: bigint): Generator<string> {
  const lowEnd = from + mostOfEnd < to ? from + mostOfEnd : to
  const highStart = to - mostOfEnd > lowEnd ? to - mostOfEnd : lowEnd + 1n
  for (const [start, end] of [[from, lowEnd] as const, [highStart, to] as const])
    for (let at = start > above ? start : above + 1n; at <= end; at++) yield String(at)
}

function take(numbers: Generator<string>, count: number): string[] {
  const taken: string[] = []
  while (taken.length < count) {
    const next = numbers.next()
    if (next.done) break
    taken.push(next.value)
  }
  return taken
}
