import { orderOf } from '../../domain/order.ts'
import { hasGap } from '../../domain/stream/gaps.ts'
import { outsideReason } from '../../domain/stream/outside-window.ts'
import type { RequestOf, StreamConfig, StreamRequest, StreamState } from '../../domain/stream/stream.ts'
import { mapLimited } from '../../runtime/map-limited.ts'
import { ageOf, earlier, present } from '../../runtime/moment.ts'
import { type endedSince, type ListedTransfer, type parkedPage, statusOf } from '../../temporal/client/streams/stream-transfers.ts'
import type { TransferStatus } from '../../temporal/contracts/transfer.ts'
import { isOfServer } from '../../temporal/client/connection/errors.ts'
import type { TemporalClient } from '../../temporal/client/connection/client.ts'
import { type SeenNumbers, seenRequests, withStatus } from './number-status.ts'
import { createParkedCodes, createWaitingTransfers, type WaitingTransfersDeps } from './waiting-transfers.ts'
import { createParkedRounds } from './parked-rounds.ts'
import type { StreamClient } from './stream-client.ts'

export interface OutcomesDeps extends WaitingTransfersDeps {
  readonly source: WaitingTransfersDeps['source'] & { readonly config: Pick<StreamConfig, 'stream'> }
  readonly streamClient: Pick<StreamClient, 'apply'>
}

/**
 * Maximum and usual delay of Temporal's lists. Reports overlap by the usual delay, and once a minute by the maximum
 * delay.
 */
const [lagMs, usualLagMs] = [60_000, 5_000] as const
/** Period of the first report, ms, which must cover a restart. An audit finds transfers that ended earlier. */
const firstReportMs = 60 * lagMs
const numberOf = ({ number }: ListedTransfer) => number
const readsAtOnce = 20
const mostReleased = 50
const longestReason = 1_000

/** @param own removes other messages' transfers that claim a number of the stream */
export function createOutcomeReporter(
  deps: OutcomesDeps,
  listEnded: typeof endedSince,
  own = async (listed: readonly ListedTransfer[]) => listed,
  listParked?: typeof parkedPage,
) {
  const { source, streamClient, client, logger } = deps
  const codes = createParkedCodes(deps)
  const parkedRounds = createParkedRounds(client, source, listParked)
  const findWaiting = createWaitingTransfers(deps)
  const window = createReportWindow()

  async function record(seen: SeenNumbers, requests: readonly StreamRequest[], era?: number): Promise<void> {
    const all = [...seenRequests(seen), ...requests]
    if (all.length > 0) await streamClient.apply(all, era)
    for (const { kind, ...facts } of requests) logger.info(`a transfer of a stream is ${kind}`, { stream: source.config.stream, ...facts })
  }

  return {
    get awaitingSignatures(): readonly string[] {
      return codes.awaitingSignatures
    },
    /** `era` is the stream client's era when the state was read. Throws errors of the Temporal client. */
    async report(state: StreamState, era?: number): Promise<void> {
      const opened = new Map(state.open.map((one) => [one.number, one.parked]))
      const missing = state.gaps.filter((gap) => gap.state !== 'undone')
      const parkedStep = await parkedRounds.list(state)
      const { since, done } = window.now()
      const all = [...parkedStep.listed, ...(await listEnded(client, source, since))]
      // A transfer that is outside the window because it waits may have been parked since.
      const isWanted = ({ number, running }: ListedTransfer) => {
        const outside = outsideReason(state, number)
        return opened.has(number) || hasGap(missing, BigInt(number)) || (outside !== undefined && (!running || outside.waits === true))
      }
      const listed = await own(all.filter(isWanted))
      const parked = listed.filter(({ running }) => running)
      const ended = listed.filter(({ running }) => !running)
      const isDelivered = ({ state: outcome }: ListedTransfer) => outcome === 'delivered'
      const undelivered = ended.filter((one) => !isDelivered(one))
      const closed = await closedRequests(client, undelivered)
      // Ended transfers are recorded first, because the queries below may wait for a worker.
      await record(withStatus('delivered', ended.filter(isDelivered).map(numberOf)), closed, era)
      const known = [...(await codes.of(parked))]
      const numbers = new Set(parked.map(numberOf))
      const started = [...numbers].filter((number) => !opened.has(number) && !outsideReason(state, number))
      const over = new Set(ended.map(numberOf))
      const released = parkedStep.end(numbers, mostReleased).filter((number) => !over.has(number))
      const changed = [
        ...known.flatMap(([number, code]) => (opened.get(number) === code ? [] : [{ kind: 'parked' as const, number, code }])),
        ...released.map((number) => ({ kind: 'unparked' as const, number })),
        ...(await findWaiting(state)),
      ]
      await record(withStatus('started', started), changed, era)
      done()
    },
  }
}

function createReportWindow() {
  let since = earlier(present(), firstReportMs)
  let longSince = since
  return {
    now(): { readonly since: number; done(): void } {
      const now = present()
      // A long report covers `lagMs` before the previous long report, and is due `lagMs` after it.
      const isLong = ageOf(longSince, now) >= 2 * lagMs
      return {
        since: now.wall - ageOf(isLong ? longSince : since, now),
        done() {
          since = earlier(now, usualLagMs)
          if (isLong) longSince = earlier(now, lagMs)
        },
      }
    },
  }
}

/**
 * Requests that close the numbers of transfers that ended undelivered. Leaves out runs whose result cannot be read.
 * Throws errors of Temporal's server.
 */
export async function closedRequests(
  client: TemporalClient,
  ended: readonly (Pick<ListedTransfer, 'id' | 'number'> & Partial<Pick<ListedTransfer, 'runId'>>)[],
): Promise<readonly RequestOf<'closed'>[]> {
  const requests = await mapLimited(ended, readsAtOnce, async ({ number, id, runId }) => {
    // A later run may never end, so exactly the listed run is read. A stranger's worker may return any result.
    const result = statusOf(client, { id, ...(runId !== undefined && { runId }), running: false })
    const status: Partial<TransferStatus> | null | undefined = await result.catch((error: unknown) => {
      if (isOfServer(error)) throw error
      return undefined
    })
    return toClosed(number, status ?? {}) ?? []
  })
  return requests.flat()
}

export function isUndelivered(state: unknown): state is RequestOf<'closed'>['outcome'] {
  return state === 'rejected' || state === 'declined' || state === 'cancelled'
}

/** The request that closes a number. Undefined if the transfer was delivered, or if it is not known to have ended. */
export function toClosed(
  number: string,
  { state, reason, code, cancelledBy }: Partial<Record<keyof TransferStatus, unknown>>,
): RequestOf<'closed'> | undefined {
  if (!isUndelivered(state)) return undefined
  const why = [reason, code].filter((text) => typeof text === 'string').find((text) => text !== '') ?? state
  const by = state === 'cancelled' && { by: orderOf(cancelledBy).by }
  return { kind: 'closed', number, outcome: state, reason: why.slice(0, longestReason), ...by }
}
