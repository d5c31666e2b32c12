import { awaitsNewSignatures } from '../../domain/catalogue/errors.ts'
import { orderOf } from '../../domain/order.ts'
import { outsideReason, intervalsOutside } from '../../domain/stream/outside-window.ts'
import { hasGap, limits } from '../../domain/stream/gaps.ts'
import { takeNumbers } from '../../domain/stream/intervals.ts'
import type { RequestOf, StreamRequest, StreamState } from '../../domain/stream/stream.ts'
import type { TemporalClient } from '../../temporal/client/connection/client.ts'
import { type endedSince, type ListedTransfer, type parkedPage, statusOf } from '../../temporal/client/streams/stream-transfers.ts'
import type { TransferStatus } from '../../temporal/contracts/transfer.ts'
import { createLongWaits, type LongWaitsDeps } from './long-waits.ts'
import { mapLimited } from '../../runtime/map-limited.ts'
import { type NumberStatus, seenRequests, withStatus } from './number-status.ts'
import { createParkedCodes } from './parked-codes.ts'
import { createParkedRounds } from './parked-rounds.ts'
import type { StreamClient } from './stream-client.ts'

export interface OutcomesDeps extends LongWaitsDeps {
  readonly streamClient: Pick<StreamClient, 'apply'>
}

/**
 * How far a transfer may be behind in the visibility store (Elasticsearch under load), and another process's clock, ms; and how far most are. So far back goes a
 * look once in `lagMs`, and each other: in a burst every transfer that ended would else be listed twenty times.
 */
const [lagMs, usualLagMs] = [60_000, 5_000] as const
/** How far back the first look goes, ms: over a restart or an upgrade. An audit finds transfers that ended before, one by one. */
const firstLookMs = 60 * lagMs
const numberOf = ({ number }: ListedTransfer) => number
const readsAtOnce = 20
/** Most numbers that are recorded as running again in one look. */
const mostReleased = 50
/** Longest reason that a stream takes (domain/stream/checks.ts). */
const longestReason = 1_000

/**
 * Records how transfers of a stream ended, and which are parked: two queries of the visibility store per look, three where more than a page are parked, and
 * one of each transfer that is newly parked or ended undelivered. However many numbers are aside, a look costs no more.
 * @param listEnded `endedSince`, or one that lists fewer
 * @param own those listed that the stream's numbers mean: another message may claim a number
 */
export function createOutcomeReporter(
  { source, streamClient, client, logger, asideAfterMs }: OutcomesDeps,
  listEnded: typeof endedSince,
  own = async (listed: readonly ListedTransfer[]) => listed,
  listParked?: typeof parkedPage,
) {
  const { stream } = source.config
  const codes = createParkedCodes(client, stream, logger)
  const parkedRounds = createParkedRounds(client, source, listParked)
  const findLongWaits = createLongWaits({ source, client, logger, asideAfterMs })
  let awaitingAside: readonly bigint[] = []
  const window = createWindow()

  async function record(
    seen: readonly (readonly [string, NumberStatus])[],
    requests: readonly StreamRequest[],
    era?: number,
  ): Promise<void> {
    const all = [...seenRequests(seen), ...requests]
    if (all.length > 0) await streamClient.apply(all, era)
    for (const { kind, ...facts } of requests) logger.info(`a transfer of a stream is ${kind}`, { stream, ...facts })
  }

  return {
    /** Numbers that are parked until guardians of a newer set sign their message. */
    get awaitingSignatures(): readonly string[] {
      return [...codes.awaitingSignatures, ...awaitingAside.map(String)]
    },
    /** One look. Throws what the Temporal client throws. @param era of the stream's client when the state was asked for */
    async look(state: StreamState, era?: number): Promise<void> {
      const { open, gaps } = state
      const opened = new Map(open.map((one) => [one.number, one.parked]))
      const missing = gaps.filter((gap) => gap.state !== 'undone')
      const parkedLook = await parkedRounds.look(state)
      const { since, looked } = window.now()
      const all = [...parkedLook.listed, ...(await listEnded(client, source, since))]
      // What is aside and parked is known: it is neither compared with its source nor asked for its code at each look.
      const wanted = ({ number, running }: ListedTransfer) => {
        const aside = outsideReason(state, number)
        return opened.has(number) || hasGap(missing, BigInt(number)) || (aside !== undefined && (!running || aside.waits === true))
      }
      const listed = await own(all.filter(wanted))
      const parked = listed.filter(({ running }) => running)
      const ended = listed.filter(({ running }) => !running)
      const delivered = ended.filter(({ state }) => state === 'delivered')
      const undelivered = ended.filter(({ state }) => state !== 'delivered')
      // Recorded before any parked transfer is queried: that may wait for a worker.
      await record(withStatus('delivered', delivered.map(numberOf)), await closedRequests(client, undelivered), era)
      const known = [...(await codes.of(parked))]
      const numbers = new Set(parked.map(numberOf))
      const started = [...numbers].filter((number) => !opened.has(number) && !outsideReason(state, number))
      const over = new Set(ended.map(numberOf))
      const released = parkedLook.end(numbers, mostReleased).filter((number) => !over.has(number))
      const awaiting = intervalsOutside(state, ({ code }) => awaitsNewSignatures(code))
      const last = awaitingAside.at(-1) ?? 0n
      // Others each time, where they are many: an audit fetches what is known by then.
      awaitingAside = awaiting.flatMap((runs) => takeNumbers(runs, last + 1n, limits.open))
      const changed = [
        ...known.flatMap(([number, code]) => (opened.get(number) === code ? [] : [{ kind: 'parked' as const, number, code }])),
        ...released.map((number) => ({ kind: 'unparked' as const, number })),
        ...(await findLongWaits(state)),
      ]
      await record(withStatus('started', started), changed, era)
      looked()
    },
  }
}

/** Since when a look lists what ended, ms since the epoch. Only a look that came to its end moves it on. */
function createWindow() {
  let [since, longSince] = [Date.now() - firstLookMs, Date.now() - firstLookMs]
  let longAt = 0
  return {
    now(): { readonly since: number; looked(): void } {
      const now = Date.now()
      const isLong = now >= longAt
      return {
        since: isLong ? longSince : since,
        looked() {
          since = now - usualLagMs
          if (isLong) [longSince, longAt] = [now - lagMs, now + lagMs]
        },
      }
    },
  }
}

/** The requests for those that ended undelivered. Throws what the Temporal client throws. */
export async function closedRequests(
  client: TemporalClient,
  ended: readonly (Pick<ListedTransfer, 'id' | 'number'> & Partial<Pick<ListedTransfer, 'runId'>>)[],
): Promise<readonly StreamRequest[]> {
  const requests = await mapLimited(ended, readsAtOnce, async ({ number, id, runId }) =>
    // Of the run that was listed: a later one of the same id may run for ever. A worker of a stranger may have ended it with any result.
    toClosed(
      number,
      ((await statusOf(client, { id, ...(runId !== undefined && { runId }), running: false })) as TransferStatus | undefined | null) ?? {},
    ),
  )
  return requests.filter((request) => request !== undefined)
}

/** Whether a transfer ended without a delivery. */
export function isUndelivered(state: string | undefined): state is RequestOf<'closed'>['outcome'] {
  return state === 'rejected' || state === 'declined' || state === 'cancelled'
}

/** The request that records a transfer that ended undelivered; undefined: it did not. */
export function toClosed(
  number: string,
  { state, reason, code, cancelledBy }: Partial<Pick<TransferStatus, 'state' | 'code' | 'cancelledBy'>> & { readonly reason?: unknown },
): RequestOf<'closed'> | undefined {
  if (!isUndelivered(state)) return undefined
  const why = typeof reason === 'string' ? reason : ''
  const by = state === 'cancelled' ? orderOf(cancelledBy).by : undefined
  return { kind: 'closed', number, outcome: state, reason: (why || code || state).slice(0, longestReason), ...(by && { by }) }
}
