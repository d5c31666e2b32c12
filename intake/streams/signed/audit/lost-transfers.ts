import type { SignedSource } from '../../../../bridges/port.ts'
import { limits } from '../../../../domain/stream/gaps.ts'
import { subtractNumbers, takeNumbers } from '../../../../domain/stream/intervals.ts'
import { isResolved } from '../../../../domain/stream/numbers.ts'
import { intervalsOutside, outsideReason } from '../../../../domain/stream/outside-window.ts'
import type { StreamState } from '../../../../domain/stream/stream.ts'
import { runningTransfers } from '../../../../temporal/client/streams/stream-transfers.ts'
import { latestRun } from '../../../../temporal/client/transfers/closed-runs.ts'
import { seenRequests, withStatus } from '../../number-status.ts'
import { closedRequests, isUndelivered, type OutcomesDeps } from '../../transfer-outcomes.ts'
import type { SignedDeps } from '../deps.ts'
import { deliveredByTarget, fetchMessages, foundIn } from '../gaps/fetch-messages.ts'
import type { ProvedTransfers } from './proved-transfers.ts'

export interface LostTransfersDeps extends OutcomesDeps {
  readonly source: Pick<SignedSource, 'config' | 'bridge' | 'sourceChain' | 'emitter' | 'delivered'>
  /** After this time without a running transfer, ms, a number is lost. 0 in a single audit. Default `graceMs`. */
  readonly lostAfterMs?: number
  readonly proved: Pick<ProvedTransfers, 'ownOrUnread' | 'messages'>
}

/** Allowance for the lag of the visibility store, and for the clocks of other processes, ms. */
export const graceMs = 15_000
/** How long a number without a transfer is checked at short intervals, ms. */
const suspectMs = 20 * graceMs
const mostReopened = 20

export function createLostTransfers({ source, client, proved, lostAfterMs = graceMs }: LostTransfersDeps) {
  let missedSince = new Map<string, number>()
  return {
    /** Whether numbers may be lost. If so, call `find` again after `graceMs`. */
    get suspects(): boolean {
      return [...missedSince.values()].some((at) => at > Date.now() - suspectMs)
    },
    /** Open numbers that have had no running transfer for `lostAfterMs`. Their messages must be submitted again. */
    async find(state: StreamState): Promise<readonly string[]> {
      const now = Date.now()
      const opened = new Set(state.open.map(({ number }) => number))
      const isStarted = ({ number }: { readonly number: string }) => opened.has(number) || outsideReason(state, number) !== undefined
      // A stranger's run may claim the same number.
      const own = await proved.ownOrUnread((await runningTransfers(client, source)).filter(isStarted))
      const running = new Set(own.map(({ number }) => number))
      const numbers = [...running].map(BigInt)
      // There may be very many numbers outside the window, so only as many are taken as one audit fetches. Numbers of a
      // condensed interval may have been cancelled or skipped long ago.
      const outside = intervalsOutside(state, ({ condensed }) => !condensed).flatMap((some) =>
        takeNumbers(subtractNumbers(some, numbers), 0n, limits.open).map(String),
      )
      const missed = [...[...opened].filter((number) => !running.has(number)), ...outside]
      missedSince = new Map(missed.map((number) => [number, missedSince.get(number) ?? now]))
      return missed.filter((number) => (missedSince.get(number) ?? now) <= now - lostAfterMs)
    },
  }
}

/** Fetches the numbers' messages and submits them again. Returns the counts of restarted and ended transfers. */
export async function restartLost(deps: LostTransfersDeps & SignedDeps, numbers: readonly string[]) {
  const { source, client, streamClient, logger } = deps
  const fetched = await fetchMessages(deps, numbers)
  const seen = seenRequests(foundIn(fetched))
  if (seen.length > 0) await streamClient.apply(seen)
  const submitted = [...fetched].flatMap(([number, one]) => (one.kind === 'started' ? [{ ...one, number }] : []))
  const again = submitted.filter(({ status }) => status === 'started').map(({ number }) => number)
  const lost = { stream: source.config.stream, count: again.length, numbers: again.join(', ') }
  if (again.length > 0) logger.warn('transfers of open numbers were lost and are started again', { code: 'TRANSFERS_LOST', ...lost })
  // The visibility store may no longer list transfers that ended undelivered.
  const ended: typeof submitted = []
  for (const one of submitted) if (one.status === 'known' && isUndelivered(await latestRun(client, one.id))) ended.push(one)
  const closed = await closedRequests(client, ended)
  if (closed.length > 0) await streamClient.apply(closed)
  return { restarted: again.length, closed: closed.length }
}

/** Records resolved numbers as `undone` if their transfers run again and the target lacks them. Returns the count. */
export async function reopenUndone({ source, client, streamClient, proved }: LostTransfersDeps, state: StreamState): Promise<number> {
  const running = await runningTransfers(client, source)
  const again = await proved.messages(running.filter(({ number }) => isResolved(state, number)))
  const transfers = again.slice(0, mostReopened)
  const { done, unread } = await deliveredByTarget(source, transfers)
  const undone = transfers.map(({ sequence }) => sequence).filter((number) => !done.has(number) && !unread.has(number))
  if (undone.length === 0) return 0
  await streamClient.apply([
    ...undone.map((number) => ({ kind: 'undone' as const, numbers: [[number, number] as const] })),
    ...seenRequests(withStatus('started', undone)),
  ])
  return undone.length
}
