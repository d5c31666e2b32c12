import { awaitsNewSignatures } from '../domain/errors.ts'
import { orderOf } from '../domain/order.ts'
import { asideNumbers } from '../domain/stream/aside.ts'
import type { RequestOf, StreamRequest, StreamState } from '../domain/stream/stream.ts'
import type { TemporalClient } from '../temporal/client/client.ts'
import { type ListedTransfer, type parkedAndEnded, statusOf } from '../temporal/client/stream-transfers.ts'
import type { TransferStatus } from '../temporal/contracts/transfer.ts'
import { createLongWaits, type LongWaitsDeps } from './long-waits.ts'
import { mapLimited } from './map-limited.ts'
import { type NumberStatus, seenRequests, withStatus } from './number-status.ts'
import { createParkedCodes } from './parked-codes.ts'
import type { StreamClient } from './stream-client.ts'

export interface OutcomesDeps extends LongWaitsDeps {
  readonly streamClient: Pick<StreamClient, 'apply'>
}

/** How far a transfer may be behind in the visibility store (Elasticsearch under load), and another process's clock, ms. */
const lagMs = 60_000
/** How far back the first look goes, ms: over a restart or an upgrade. An audit finds transfers that ended before, one by one. */
const firstLookMs = 60 * lagMs
const numberOf = ({ number }: ListedTransfer) => number
const readsAtOnce = 20
/** Most numbers that are recorded as running again in one look. */
const mostReleased = 50
/** Longest reason that a stream takes (domain/stream/checks.ts). */
const longestReason = 1_000

/**
 * Records how transfers of a stream ended, and which are parked: one query of the visibility store per look, and one of each transfer that is newly
 * parked or ended undelivered.
 * @param own those listed that the stream's numbers mean: another message may claim a number
 */
export function createOutcomeReporter(
  { source, streamClient, client, logger, asideAfterMs }: OutcomesDeps,
  list: typeof parkedAndEnded,
  own = async (listed: readonly ListedTransfer[]) => listed,
) {
  const { stream } = source.config
  const codes = createParkedCodes(client, stream, logger)
  const findLongWaits = createLongWaits({ source, client, logger, asideAfterMs })
  let awaitingAside: readonly string[] = []
  let since = Date.now() - firstLookMs

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
      return [...codes.awaitingSignatures, ...awaitingAside]
    },
    /** One look. Throws what the Temporal client throws. @param era of the stream's client when the state was asked for */
    async look(state: StreamState, era?: number): Promise<void> {
      const { open, gaps } = state
      const now = Date.now()
      const opened = new Map(open.map((one) => [one.number, one.parked]))
      const isMissing = (number: string) =>
        gaps.some((gap) => gap.state !== 'undone' && BigInt(gap.from) <= BigInt(number) && BigInt(number) <= BigInt(gap.to))
      const aside = new Map([...asideNumbers(state)].map(({ number, why }) => [number, why]))
      const all = await list(client, source, since)
      const stillParked = new Set(all.flatMap(({ number, running }) => (running && aside.has(number) ? [number] : [])))
      // What is aside and parked is known: it is neither compared with its source nor asked for its code at each look.
      const wanted = ({ number, running }: ListedTransfer) =>
        opened.has(number) || isMissing(number) || (aside.has(number) && (!running || aside.get(number)?.waits === true))
      const listed = await own(all.filter(wanted))
      const parked = listed.filter(({ running }) => running)
      const ended = listed.filter(({ running }) => !running)
      const delivered = ended.filter(({ state }) => state === 'delivered')
      const undelivered = ended.filter(({ state }) => state !== 'delivered')
      // Recorded before any parked transfer is queried: that may wait for a worker.
      await record(withStatus('delivered', delivered.map(numberOf)), await closedRequests(client, undelivered), era)
      const known = [...(await codes.of(parked))]
      const numbers = new Set(parked.map(numberOf))
      const started = [...numbers].filter((number) => !opened.has(number) && !aside.has(number))
      const over = new Set(ended.map(numberOf))
      const released = [
        ...open.flatMap((one) => (one.parked !== undefined && !numbers.has(one.number) ? [one.number] : [])),
        ...[...aside].flatMap(([number, { waits }]) => (waits || stillParked.has(number) || over.has(number) ? [] : [number])),
      ]
      awaitingAside = [...aside].flatMap(([number, { code }]) => (awaitsNewSignatures(code) ? [number] : []))
      const changed = [
        ...known.flatMap(([number, code]) => (opened.get(number) === code ? [] : [{ kind: 'parked' as const, number, code }])),
        ...released.slice(0, mostReleased).map((number) => ({ kind: 'unparked' as const, number })),
        ...(await findLongWaits(state)),
      ]
      await record(withStatus('started', started), changed, era)
      since = now - lagMs
    },
  }
}

/** The requests for those that ended undelivered. Throws what the Temporal client throws. */
export async function closedRequests(
  client: TemporalClient,
  ended: readonly Pick<ListedTransfer, 'id' | 'number'>[],
): Promise<readonly StreamRequest[]> {
  const requests = await mapLimited(ended, readsAtOnce, async ({ number, id }) =>
    toClosed(number, await statusOf(client, { id, running: false })),
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
  { state, reason, code, cancelledBy }: Pick<TransferStatus, 'state' | 'reason' | 'code' | 'cancelledBy'>,
): RequestOf<'closed'> | undefined {
  if (!isUndelivered(state)) return undefined
  const by = state === 'cancelled' ? orderOf(cancelledBy).by : undefined
  return { kind: 'closed', number, outcome: state, reason: (reason || code || state).slice(0, longestReason), ...(by && { by }) }
}
