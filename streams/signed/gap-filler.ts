import { backoffMs } from '../../domain/backoff.ts'
import { toRelayerError } from '../../domain/errors.ts'
import type { StreamRequest, StreamState } from '../../domain/stream/stream.ts'
import { type NumberStatus, seenRequest } from '../number-status.ts'
import type { SignedDeps } from './deps.ts'
import { fetchMissing, type FetchOutcome } from './fetch-missing.ts'
import { createPublishedLogs } from './published-logs.ts'
import { classifications, type GapClass, type ClassifiedGaps, classifyGaps } from './classify-gaps.ts'

/** What one look at the gaps came to, in numbers. */
export interface GapReport {
  readonly started: number
  readonly delivered: number
  readonly ignored: number
  /** Nobody who could be asked has them. */
  readonly absent: number
  /** When the next look is worth it, ms since the epoch; absent: when something new is missing. */
  readonly nextAt?: number
}

export interface GapFiller {
  /**
   * Looks for every number of the gaps whose time has come; tells what it finds after every few of them, so that a crash loses little.
   * Numbers that nobody has are asked for less and less often. Throws what reads throw; what was told stays.
   * @param upTo the source's highest number at its finalized state, as last asked
   */
  look(state: StreamState, upTo: string | undefined): Promise<GapReport>
  /** Something changed that may have brought what is missing (the spy was away): all that was not asked for just now is due. */
  hurry(): void
}

/** At a time: what is told together, and what a crash may repeat. */
const atOnce = 50
/** In one look; the next one goes on above. */
const mostPerLook = 2_000
const mostTries = 20_000
/** Messages of one block come in any order, and together: a gap is given so long to close by itself, ms. */
export const settleMs = 2_000
/** First wait before a number is asked for again, ms; and how long a number that was just asked for is left alone at least. */
const firstWaitMs = 5_000

export interface GapsDeps extends SignedDeps {
  /** So long a gap is given to close by itself, ms; 0 where nobody asks twice. Default `settleMs`. */
  readonly freshMs?: number
}

export function createGapFiller(deps: GapsDeps, auditMs: number): GapFiller {
  const { source, streamClient, logger, chain, freshMs = settleMs } = deps
  const { stream } = source.config
  const logs = createPublishedLogs(deps)
  const tries = new Map<string, { readonly count: number; readonly triedAt: number; readonly dueAt: number }>()
  /** Where a look that did not come to the end goes on. */
  let above = -1n

  function* due({ gaps, open }: StreamState): Generator<string> {
    const taken = new Set(open.map(({ number }) => number))
    for (const { from, to, at: since } of gaps) {
      if (isFresh(since)) continue
      for (let at = BigInt(from) > above ? BigInt(from) : above + 1n; at <= BigInt(to); at++) {
        const number = String(at)
        if (isDue(number) && !taken.has(number)) yield number
      }
    }
  }

  /** Known for a moment only: what a spy is about to tell needs no look. A clock that is far from ours says nothing. */
  const isFresh = (since: number) => Math.abs(Date.now() - since) < freshMs

  /** What was found otherwise needs no look, and no time for one. */
  function prune({ gaps }: StreamState): void {
    const ranges = gaps.map(({ from, to }) => [BigInt(from), BigInt(to)] as const)
    for (const number of tries.keys()) {
      const at = BigInt(number)
      if (!ranges.some(([from, to]) => from <= at && at <= to)) tries.delete(number)
    }
  }

  const isDue = (number: string) => (tries.get(number)?.dueAt ?? 0) <= Date.now()

  /** @param name of the gap; not-final ones come soon, held ones when the Governor lets go, which the spy tells as well */
  function later(number: string, name: GapClass | undefined, againInMs: number | undefined): void {
    const count = tries.get(number)?.count ?? 0
    const most = name === 'unobserved' ? 12 * auditMs : auditMs
    const wait = Math.min(backoffMs(count, Math.min(firstWaitMs, auditMs), most), againInMs ?? Infinity)
    const now = Date.now()
    tries.set(number, { count: count + 1, triedAt: now, dueAt: now + wait })
    for (const oldest of tries.keys()) {
      if (tries.size <= mostTries) break
      tries.delete(oldest)
    }
  }

  /** The source does not answer: what was found is told without it, and names come later. */
  function unnamed(thrown: unknown): ClassifiedGaps {
    const error = toRelayerError(thrown)
    if (!error.retriable) throw error
    logger.warn('numbers that are missing cannot be named now', { stream, error: error.message })
    return { ignored: [], delivered: [], names: new Map() }
  }

  async function tell(outcomes: ReadonlyMap<string, FetchOutcome>, upTo: string | undefined, state: StreamState): Promise<NumberStatus[]> {
    const seen = [...outcomes].flatMap(([number, { kind }]) => (kind === 'absent' || kind === 'unknown' ? [] : [[number, kind] as const]))
    const absent = [...outcomes].flatMap(([number, one]) => (one.kind === 'absent' ? [[number, one] as const] : []))
    const finalized = chain.heads.current?.finalized
    const missing = absent.map(([number]) => number)
    const { ignored, delivered, names } = await classifyGaps({ ...deps, logs }, missing, { upTo, finalized }).catch(unnamed)
    const resolved = [
      ...ignored.map((number) => [number, 'ignored'] as const),
      ...delivered.map((number) => [number, 'delivered'] as const),
    ]
    const all: (readonly [string, NumberStatus])[] = [...seen, ...resolved]
    const named = classifications(names, state.gaps)
    const requests: StreamRequest[] = [...(all.length > 0 ? [seenRequest(all)] : []), ...named]
    const told = requests.length > 0 ? await streamClient.apply(requests) : undefined
    // Full: told again with the next look, as their transfers run.
    const isTold = told?.answers[0]?.kind === 'done'
    for (const [number] of all) if (isTold) tries.delete(number)
    const over = new Set([...ignored, ...delivered])
    for (const [number, { againInMs }] of absent) if (!over.has(number)) later(number, names.get(number), againInMs)
    for (const [number, one] of outcomes) if (one.kind === 'unknown') later(number, undefined, one.againInMs)
    for (const how of new Set(all.map(([, each]) => each))) {
      const numbers = all.filter(([, each]) => each === how).map(([number]) => number)
      logger.info('numbers that were missing are found', { stream, how, numbers: numbers.join(', ') })
    }
    for (const { from, to, state: name } of named)
      logger.warn('numbers are missing', { stream, from, to, state: name, ...codes(absent, from, to) })
    return isTold ? all.map(([, how]) => how) : []
  }

  return {
    async look(state, upTo) {
      const counts: Record<NumberStatus | 'absent', number> = { started: 0, delivered: 0, ignored: 0, absent: 0 }
      let [looked, full] = [0, false]
      prune(state)
      const numbers = due(state)
      for (let last = false; !last && looked < mostPerLook;) {
        // A transfer starts before it is told: no more than there is room for.
        const room = Math.min(atOnce, streamClient.view?.room ?? atOnce)
        full = room === 0
        if (full) break
        const batch = take(numbers, room)
        last = batch.length < room
        if (batch.length === 0) break
        looked += batch.length
        const outcomes = await fetchMissing(deps, batch)
        for (const how of await tell(outcomes, upTo, state)) counts[how]++
        for (const { kind } of outcomes.values()) if (kind === 'absent') counts.absent++
        above = last ? -1n : BigInt(batch.at(-1) ?? -1)
      }
      const isUnfinished = full || looked >= mostPerLook
      const fresh = state.gaps.some(({ at }) => isFresh(at)) ? [Date.now() + freshMs] : []
      const soonest = Math.min(...fresh, ...[...tries.values()].map(({ dueAt }) => dueAt))
      const nextAt = isUnfinished ? Date.now() + 1_000 : soonest
      return { ...counts, ...(Number.isFinite(nextAt) && { nextAt }) }
    },
    hurry() {
      const now = Date.now()
      for (const [number, one] of tries) if (one.triedAt < now - firstWaitMs) tries.set(number, { ...one, dueAt: now })
    },
  }
}

function take(numbers: Generator<string>, count: number): string[] {
  const taken: string[] = []
  while (taken.length < count) {
    const { value, done } = numbers.next()
    if (done) break
    taken.push(value)
  }
  return taken
}

/** What the last copies of these numbers were refused for, where there was one: it tells people more than "nobody has it". */
function codes(
  absent: readonly (readonly [string, Extract<FetchOutcome, { kind: 'absent' }>])[],
  from: string,
  to: string,
): { refused?: string } {
  const refused = absent.flatMap(([number, { code }]) =>
    code && BigInt(from) <= BigInt(number) && BigInt(number) <= BigInt(to) ? [code] : [],
  )
  return refused.length > 0 ? { refused: [...new Set(refused)].join(', ') } : {}
}
