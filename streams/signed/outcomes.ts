import { awaitsNewSignatures } from '../../domain/errors.ts'
import { isResolved } from '../../domain/stream/numbers.ts'
import type { OpenNumber, StreamRequest, StreamState } from '../../domain/stream/stream.ts'
import { isOutcome } from '../../domain/transfer/transfer.ts'
import type { TemporalClient } from '../../temporal/client/client.ts'
import { latestRun } from '../../temporal/client/closed-transfers.ts'
import { forEachLimited } from '../for-each-limited.ts'
import { type NumberStatus, seenRequest } from '../number-status.ts'
import { parkedAndEnded, runningTransfers, type ListedTransfer, statusOf } from '../../temporal/client/stream-transfers.ts'
import { toClosed } from '../transfer-outcomes.ts'
import { deliveredByTarget } from './delivered-by-target.ts'
import type { SignedDeps } from './deps.ts'
import type { FetchOutcome } from './fetch-missing.ts'

export interface Outcomes {
  /**
   * Tells how transfers of the stream have ended, and which are parked: one query of the visibility store, and one of each transfer that is newly parked
   * or ended undelivered. Throws what the Temporal client throws.
   */
  look(state: StreamState): Promise<void>
  /** Open numbers that no running transfer belongs to, nor one that was told of just now: the message is fetched and brought through the door again. */
  lost(state: StreamState): Promise<readonly string[]>
  /** Those that the door knew again, and whose transfers ended undelivered: nobody else tells it once the store has forgotten. */
  settle(outcomes: ReadonlyMap<string, FetchOutcome>): Promise<number>
  /** Resolved numbers whose transfers run again, since what had delivered them is gone from the target's finalized state; told as undone, and open. */
  reopen(state: StreamState): Promise<number>
  /** `lost` has seen some that it gives a little more time: ask again in `graceMs`. */
  readonly suspects: boolean
  /** Numbers that are parked since the guardians who signed their messages are replaced. */
  readonly aged: readonly string[]
}

export interface OutcomesDeps extends Pick<SignedDeps, 'source' | 'streamClient' | 'logger'> {
  readonly client: TemporalClient
  /** So long a number must be missed before it is lost, ms; 0 where nobody asks twice. Default `graceMs`. */
  readonly lostAfterMs?: number
}

/** The visibility store lags, and so may another process's clock, ms. */
export const graceMs = 15_000
/** At the first look, ms: what ended before is found as `lost`. */
const firstLookMs = 600_000
/** So long a number whose transfer is gone is looked for in quick succession, ms. */
const suspectMs = 20 * graceMs
/** In one audit. */
const mostReopened = 20
/** Parked transfers that are asked for their code: in one look, at once, and how long one may take, ms. One that did not answer is left alone for `silentMs`. */
const mostQueried = 50
const queriedAtOnce = 20
const queryMs = 5_000
const silentMs = 60_000

export function createOutcomes({ source, streamClient, client, logger, lostAfterMs = graceMs }: OutcomesDeps): Outcomes {
  const of = { bridge: source.bridge, sourceChain: source.sourceChain, emitter: source.emitter }
  /** Codes of parked runs: they stay parked with them until they run again. */
  const codes = new Map<string, { readonly number: string; readonly code: string }>()
  const silentUntil = new Map<string, number>()
  const firstMissed = new Map<string, number>()
  let since = Date.now() - firstLookMs

  /** The code of each that is parked, as far as it can be asked for. */
  async function parkedCodes(parked: readonly ListedTransfer[]): Promise<ReadonlyMap<string, string>> {
    const now = Date.now()
    const unknown = parked.filter(({ runId }) => !codes.has(runId) && (silentUntil.get(runId) ?? 0) <= now).slice(0, mostQueried)
    await forEachLimited(unknown, queriedAtOnce, async (standing) => {
      const { runId, number } = standing
      try {
        const { state, code } = await statusOf(client, standing, queryMs)
        if (state === 'parked' && code !== undefined) codes.set(runId, { number, code })
      } catch (error) {
        // No worker of its target chain answers: that is in nobody else's way.
        silentUntil.set(runId, Date.now() + silentMs)
        logger.debug('a parked transfer does not answer', { stream: source.config.stream, number, error: String(error) })
      }
    })
    const runs = new Set(parked.map(({ runId }) => runId))
    for (const runId of codes.keys()) if (!runs.has(runId)) codes.delete(runId)
    for (const runId of silentUntil.keys()) if (!runs.has(runId)) silentUntil.delete(runId)
    return new Map(
      parked.flatMap(({ runId, number }) => [codes.get(runId)].flatMap((known) => (known ? [[number, known.code] as const] : []))),
    )
  }

  async function tellParked(
    open: readonly OpenNumber[],
    parked: readonly ListedTransfer[],
    known: ReadonlyMap<string, string>,
  ): Promise<void> {
    const told = new Map(open.map((one) => [one.number, one.parked]))
    const numbers = new Set(parked.map(({ number }) => number))
    const started = [...numbers].filter((number) => !told.has(number)).map((number) => [number, 'started'] as const)
    const fresh = [...known].filter(([number, code]) => told.get(number) !== code)
    const released = open.filter((one) => one.parked !== undefined && !numbers.has(one.number))
    await tell(started, [
      ...fresh.map(([number, code]) => ({ kind: 'parked' as const, number, code })),
      ...released.map(({ number }) => ({ kind: 'unparked' as const, number })),
    ])
  }

  async function tell(seen: readonly (readonly [string, NumberStatus])[], requests: readonly StreamRequest[]): Promise<void> {
    const all = [...(seen.length > 0 ? [seenRequest(seen)] : []), ...requests]
    if (all.length > 0) await streamClient.apply(all)
  }

  return {
    get aged() {
      return [...codes.values()].flatMap(({ number, code }) => (awaitsNewSignatures(code) ? [number] : []))
    },
    get suspects() {
      // What is missed for longer was looked for again and again: from now on with every audit.
      const soon = Date.now() - suspectMs
      return [...firstMissed.values()].some((at) => at > soon)
    },
    async look({ open, gaps }) {
      const from = since
      const now = Date.now()
      const standings = await parkedAndEnded(client, of, from)
      const opened = new Map(open.map((one) => [one.number, one]))
      const isMissing = (number: string) =>
        gaps.some((gap) => gap.state !== 'undone' && BigInt(gap.from) <= BigInt(number) && BigInt(number) <= BigInt(gap.to))
      const seen: [string, NumberStatus][] = []
      const requests: StreamRequest[] = []
      for (const standing of standings) {
        const { number, state, running } = standing
        if (running || (!opened.has(number) && !isMissing(number))) continue
        if (state === 'delivered') seen.push([number, 'delivered'])
        else {
          const closed = toClosed(number, await statusOf(client, standing))
          if (closed) requests.push(closed)
        }
      }
      // What is over needs no worker of any chain, and waits for none.
      await tell(seen, requests)
      const parked = standings.filter(({ running, number }) => running && (opened.has(number) || isMissing(number)))
      await tellParked(open, parked, await parkedCodes(parked))
      since = now - graceMs
    },
    async lost({ open }) {
      const now = Date.now()
      const running = new Set((await runningTransfers(client, of)).map(({ number }) => number))
      const missed = open.flatMap(({ number }) => (running.has(number) ? [] : [number]))
      for (const number of firstMissed.keys()) if (!missed.includes(number)) firstMissed.delete(number)
      for (const number of missed) if (!firstMissed.has(number)) firstMissed.set(number, now)
      return missed.filter((number) => (firstMissed.get(number) ?? now) <= now - lostAfterMs)
    },
    async settle(outcomes) {
      const requests: StreamRequest[] = []
      for (const [number, outcome] of outcomes) {
        if (outcome.kind !== 'started' || outcome.status !== 'known') continue
        const latest = await latestRun(client, outcome.id)
        if (latest === 'running' || latest === 'undone' || latest === 'gone' || latest === 'delivered' || !isOutcome(latest)) continue
        const request = toClosed(number, await statusOf(client, { id: outcome.id, running: false }))
        if (request) requests.push(request)
      }
      if (requests.length > 0) await streamClient.apply(requests)
      return requests.length
    },
    async reopen(state) {
      const again = (await runningTransfers(client, of)).filter(({ number }) => isResolved(state, number)).slice(0, mostReopened)
      const transfers = await Promise.all(again.map(async (one) => (await statusOf(client, one)).transfer))
      const { done, unread } = await deliveredByTarget(source, transfers)
      const undone = transfers.flatMap(({ sequence }) => (done.has(sequence) || unread.has(sequence) ? [] : [sequence]))
      if (undone.length === 0) return 0
      await streamClient.apply([
        ...undone.map((number) => ({ kind: 'undone' as const, numbers: [[number, number] as const] })),
        seenRequest(undone.map((number) => [number, 'started'])),
      ])
      return undone.length
    },
  }
}
