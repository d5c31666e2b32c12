import type { SignedSource } from '../../../../bridges/port.ts'
import { awaitsNewSignatures } from '../../../../domain/catalogue/errors.ts'
import { limits } from '../../../../domain/stream/gaps.ts'
import { type Intervals, intersection, joinIntervals, singles, subtractIntervals } from '../../../../domain/stream/intervals.ts'
import { isResolved, listsAllOrders } from '../../../../domain/stream/numbers.ts'
import { intervalsOutside, outsideReason } from '../../../../domain/stream/outside-window.ts'
import type { StreamState } from '../../../../domain/stream/stream.ts'
import { runningTransfers } from '../../../../temporal/client/streams/stream-transfers.ts'
import type { Transfer } from '../../../../domain/transfer/transfer.ts'
import { latestRun } from '../../../../temporal/client/transfers/closed-runs.ts'
import { transferId } from '../../../../temporal/contracts/names.ts'
import { type AuditCursor, createAuditCursor } from '../../audit-cursor.ts'
import { seenRequests, withStatus } from '../../number-status.ts'
import { closedRequests, isUndelivered, type OutcomesDeps } from '../../transfer-outcomes.ts'
import type { SignedDeps } from '../deps.ts'
import { deliveredByTarget, fetchMessages, foundIn } from '../gaps/fetch-messages.ts'
import type { ProvedTransfers } from './proved-transfers.ts'

export interface LostTransfersDeps extends OutcomesDeps {
  readonly source: Pick<SignedSource, 'config' | 'bridge' | 'sourceChain' | 'emitter' | 'delivered'>
  /** An open number counts as lost after this time without a running transfer. 0 for a single audit. */
  readonly lostAfterMs?: number
  readonly proved: Pick<ProvedTransfers, 'ownOrUnread' | 'messages'>
}

/** Margin for the lag of Temporal's lists and of clocks, ms. */
export const graceMs = 15_000
const suspectMs = 20 * graceMs
const mostReopened = 20
const mostFetched = limits.open

export function createLostTransfers({ source, client, proved, lostAfterMs = graceMs }: LostTransfersDeps) {
  const cursors = { open: createAuditCursor(), others: createAuditCursor() }
  /** `at`: when the numbers were first missed. */
  let missed: readonly { readonly at: number; readonly numbers: Intervals }[] = []

  async function findLost(state: StreamState): Promise<Intervals> {
    const now = performance.now()
    const opened = new Set(state.open.map(({ number }) => number))
    const isStarted = ({ number }: { readonly number: string }) => opened.has(number) || outsideReason(state, number) !== undefined
    // A stranger's run may claim the same number.
    const own = await proved.ownOrUnread((await runningTransfers(client, source)).filter(isStarted))
    const running = singles(own.map(({ number }) => number))
    const all = subtractIntervals(joinIntervals([...singles(opened), ...intervalsOutside(state).flat()]), running)
    const known = missed.map(({ at, numbers }) => ({ at, numbers: intersection(numbers, all) }))
    const more = { at: now, numbers: subtractIntervals(all, joinIntervals(known.flatMap(({ numbers }) => numbers))) }
    missed = [...known, more].filter(({ numbers }) => numbers.length > 0)
    return joinIntervals(missed.filter(({ at }) => at <= now - lostAfterMs).flatMap(({ numbers }) => numbers))
  }

  return {
    /** Whether numbers may be lost, so that the caller must call `find` again after `graceMs`. */
    get suspects(): boolean {
      return missed.some(({ at }) => at > performance.now() - suspectMs)
    },
    /** Numbers whose messages must be fetched again. Open numbers come first, because they count against `maxOpen`. */
    async find(state: StreamState, awaiting: readonly string[] = []): Promise<readonly string[]> {
      const lost = await findLost(state)
      const open = singles(state.open.map(({ number }) => number))
      const waiting = intervalsOutside(state, ({ code }) => awaitsNewSignatures(code)).flat()
      const others = joinIntervals([...subtractIntervals(lost, open), ...singles(awaiting), ...waiting])
      const first = cursors.open.take(intersection(lost, open), mostFetched / 2)
      return [...new Set([...first, ...cursors.others.take(others, mostFetched - first.length)])]
    },
  }
}

/**
 * Fetches the messages of lost transfers, and starts these transfers again. If the stream no longer lists all orders, a
 * condensed number without a run may have been cancelled, and is not restarted.
 */
export async function restartLost(deps: LostTransfersDeps & SignedDeps, numbers: readonly string[], state: StreamState) {
  const { source, client, streamClient, logger } = deps
  const areOrdersKnown = listsAllOrders(state)
  const mayStart = async (transfer: Transfer) =>
    areOrdersKnown || !outsideReason(state, transfer.sequence)?.condensed || (await latestRun(client, transferId(transfer))) !== 'gone'
  const fetched = await fetchMessages({ ...deps, mayStart }, numbers)
  const seen = seenRequests(foundIn(fetched))
  if (seen.length > 0) await streamClient.apply(seen)
  const submitted = [...fetched].flatMap(([number, one]) => (one.kind === 'started' ? [{ ...one, number }] : []))
  const again = submitted.filter(({ status }) => status === 'started').map(({ number }) => number)
  const lost = { stream: source.config.stream, count: again.length, numbers: again.join(', ') }
  if (again.length > 0) logger.warn('transfers of open numbers were lost and are started again', { code: 'TRANSFERS_LOST', ...lost })
  const ended: typeof submitted = []
  for (const one of submitted) if (one.status === 'known' && isUndelivered(await latestRun(client, one.id))) ended.push(one)
  const closed = await closedRequests(client, ended)
  if (closed.length > 0) await streamClient.apply(closed)
  return { restarted: again.length, closed: closed.length }
}

/** Reports resolved numbers as `undone` if their transfers run again and the target does not show their deliveries. */
export async function reopenUndone(deps: LostTransfersDeps, state: StreamState, cursor: AuditCursor): Promise<number> {
  const { source, client, streamClient, proved } = deps
  const running = await runningTransfers(client, source)
  const messages = await proved.messages(running.filter(({ number }) => isResolved(state, number)))
  const again = new Map(messages.map((one) => [one.sequence, one]))
  const transfers = cursor.take(singles(again.keys()), mostReopened).flatMap((number) => again.get(number) ?? [])
  const { done, unread } = await deliveredByTarget(source, transfers)
  const undone = transfers.map(({ sequence }) => sequence).filter((number) => !done.has(number) && !unread.has(number))
  if (undone.length === 0) return 0
  await streamClient.apply([
    ...undone.map((number) => ({ kind: 'undone' as const, numbers: [[number, number] as const] })),
    ...seenRequests(withStatus('started', undone)),
  ])
  return undone.length
}
