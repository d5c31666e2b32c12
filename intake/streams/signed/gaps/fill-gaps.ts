import { countIn, type Interval, type Intervals, joinIntervals, overlaps, subtractIntervals } from '../../../../domain/stream/intervals.ts'
import type { Gap, StreamState } from '../../../../domain/stream/stream.ts'
import { noNumbers, type NumberCounts } from '../../number-status.ts'
import { createAuditCursor } from '../../audit-cursor.ts'
import type { GapsDeps, SignedDeps } from '../deps.ts'
import { fetchMessages, type FetchOutcome } from './fetch-messages.ts'
import { createFetchRecorder, createRetrySchedule } from './record-fetched.ts'
import { createUnderWay, type UnderWayDeps } from './under-way.ts'
import { createManyMissing } from '../look-back.ts'

export interface GapReport extends Readonly<NumberCounts> {
  readonly absent: number
  /** ms, as `performance.now`. Absent: no round is due until another number is missing. */
  readonly nextAt?: number
}

export const nothingFilled: GapReport = { ...noNumbers, absent: 0 }

const atOnce = 50
const mostPerRound = 2_000
/**
 * Both ends of a gap are looked up. Of the numbers between, an audit looks up only `mostOfMiddle`, because a source may
 * skip many numbers.
 */
const mostOfEnd = 5_000n
const mostOfMiddle = 200
/**
 * Minimum age of a gap that is looked up, ms. Messages of one block arrive in any order, so a new gap may close by
 * itself.
 */
export const settleMs = 2_000
const receivedMs = 10_000

/** Looks for missing numbers in recent blocks (if many are missing), then in running transfers, then at servers. */
export function createGapFiller(deps: GapsDeps & UnderWayDeps, auditMs: number) {
  const { streamClient, freshMs = settleMs, isReceived = () => false } = deps
  const schedule = createRetrySchedule(auditMs)
  const record = createFetchRecorder(deps, schedule)
  const manyMissing = createManyMissing(deps)
  const underWay = createUnderWay(deps)
  const middle = createAuditCursor()
  let above = -1n
  let receivedAgainAt = Infinity

  /** If the clocks differ a lot, no gap counts as new. */
  const isFresh = (since: number) => Math.abs(Date.now() - since) < freshMs

  function* due({ gaps, open }: StreamState, isAudit: boolean): Generator<bigint> {
    const opened = new Set(open.map(({ number }) => number))
    const isWanted = (number: bigint) => {
      const name = String(number)
      if (opened.has(name)) return false
      if (!isReceived(name)) return true
      receivedAgainAt = performance.now() + receivedMs
      return false
    }
    const { ends, middles } = partsOf(gaps.filter(({ at }) => !isFresh(at)))
    for (let left = isAudit ? Math.min(mostOfMiddle, Number(countIn(middles))) : 0; left > 0; left--)
      yield* middle.take(middles, 1).map(BigInt).filter(isWanted)
    for (const [from, to] of ends)
      for (let at = from > above ? from : above + 1n; at <= to; at++) if (schedule.isDue(String(at)) && isWanted(at)) yield at
  }

  function nextAt({ gaps }: StreamState, isUnfinished: boolean): Pick<GapReport, 'nextAt'> {
    const freshUntil = gaps.some(({ at }) => isFresh(at)) ? performance.now() + freshMs : Infinity
    const at = isUnfinished ? performance.now() + 1_000 : Math.min(freshUntil, receivedAgainAt, schedule.nextAt)
    return Number.isFinite(at) ? { nextAt: at } : {}
  }

  return {
    /** Makes all numbers due, except those that were tried in the last 5 s. */
    hurry: schedule.hurry,
    /** @param upTo highest number in the source's finalized state, if it is known */
    async fillGaps(found: StreamState, upTo: string | undefined, isAudit = false): Promise<GapReport> {
      const { state, counts: byBlocks } = await manyMissing.resolve(found, () => underWay.listed(found))
      const counts = { ...byBlocks, absent: 0 }
      let done = 0
      const { ends } = partsOf(state.gaps)
      schedule.prune(ends)
      receivedAgainAt = Infinity
      const numbers = due(state, isAudit)
      for (;;) {
        // Transfers start before they are recorded, so the stream must have room for them.
        const room = Math.min(atOnce, streamClient.view?.room ?? atOnce)
        const taken = take(numbers, room)
        const batch = taken.map(String)
        if (batch.length > 0) {
          const outcomes = await findAll(deps, batch, await underWay.of(batch))
          for (const status of await record(outcomes, upTo, state)) counts[status]++
          for (const { kind } of outcomes.values()) if (kind === 'absent') counts.absent++
          for (const number of taken) if (!overlaps(ends, number)) schedule.forget(String(number))
        }
        done += batch.length
        const isLast = room > 0 && batch.length < room
        if (batch.length > 0) above = isLast ? -1n : (taken.findLast((number) => overlaps(ends, number)) ?? above)
        if (isLast || room === 0 || done >= mostPerRound) return { ...counts, ...nextAt(state, room === 0 || done >= mostPerRound) }
      }
    },
  }
}

async function findAll(deps: SignedDeps, numbers: readonly string[], underWay: ReadonlyMap<string, string>) {
  const unknown = numbers.filter((number) => !underWay.has(number))
  const fetched = await fetchMessages(deps, unknown)
  const known = [...underWay].map(([number, id]): [string, FetchOutcome] => [number, { kind: 'started', id, status: 'known' }])
  return new Map([...fetched, ...known])
}

/** Only the ends of a whole range are always looked up, so adjacent gaps are joined first. */
function partsOf(gaps: readonly Pick<Gap, 'from' | 'to'>[]): { readonly ends: Intervals; readonly middles: Intervals } {
  const all = joinIntervals(gaps.map(({ from, to }): Interval => [BigInt(from), BigInt(to)]))
  const reach = mostOfEnd + 1n
  const middles = all.flatMap(([from, to]): Interval[] => (to - from < 2n * reach ? [] : [[from + reach, to - reach]]))
  return { ends: subtractIntervals(all, middles), middles }
}

function take(numbers: Generator<bigint>, count: number): bigint[] {
  const taken: bigint[] = []
  while (taken.length < count) {
    const next = numbers.next()
    if (next.done) break
    taken.push(next.value)
  }
  return taken
}
