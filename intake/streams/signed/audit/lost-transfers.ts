import { outsideReason, intervalsOutside } from '../../../../domain/stream/outside-window.ts'
import { limits } from '../../../../domain/stream/gaps.ts'
import { isResolved } from '../../../../domain/stream/numbers.ts'
import { takeNumbers, subtractNumbers } from '../../../../domain/stream/intervals.ts'
import type { StreamState } from '../../../../domain/stream/stream.ts'
import { latestRun } from '../../../../temporal/client/transfers/closed-runs.ts'
import { runningTransfers } from '../../../../temporal/client/streams/stream-transfers.ts'
import type { SignedSource } from '../../../../bridges/source-port.ts'
import { seenRequests, withStatus } from '../../number-status.ts'
import { closedRequests, isUndelivered, type OutcomesDeps } from '../../transfer-outcomes.ts'
import { deliveredByTarget } from '../gaps/delivered-by-target.ts'
import type { SignedDeps } from '../deps.ts'
import { fetchMissing, foundIn } from '../gaps/fetch-missing.ts'
import type { ProvedTransfers } from './proved-transfers.ts'

export interface LostTransfersDeps extends OutcomesDeps {
  readonly source: Pick<SignedSource, 'config' | 'bridge' | 'sourceChain' | 'emitter' | 'delivered'>
  /** How long a number must be without a transfer before it is lost, ms; 0 where it is asked once. Default `graceMs`. */
  readonly lostAfterMs?: number
  readonly proved: Pick<ProvedTransfers, 'ownOrUnread' | 'messages'>
}

/** The visibility store lags, and another process's clock may too, ms. */
export const graceMs = 15_000
/** How long a number whose transfer is gone is looked for in quick succession, ms; then with every audit. */
const suspectMs = 20 * graceMs
/** In one audit. */
const mostReopened = 20

export function createLostTransfers({ source, client, proved, lostAfterMs = graceMs }: LostTransfersDeps) {
  let missedSince = new Map<string, number>()
  return {
    /** `find` has seen numbers that it gives a little more time: ask again in `graceMs`. */
    get suspects(): boolean {
      return [...missedSince.values()].some((at) => at > Date.now() - suspectMs)
    },
    /** Open numbers without a running transfer for a while: their messages are to be fetched and submitted again. */
    async find(state: StreamState): Promise<readonly string[]> {
      const now = Date.now()
      const opened = new Set(state.open.map(({ number }) => number))
      const isMeant = ({ number }: { readonly number: string }) => opened.has(number) || outsideReason(state, number) !== undefined
      // A stranger's run under a number does not make its own transfer run.
      const own = await proved.ownOrUnread((await runningTransfers(client, source)).filter(isMeant))
      const running = new Set(own.map(({ number }) => number))
      const numbers = [...running].map(BigInt)
      // No more than an audit fetches: those that are aside may be any number.
      const aside = intervalsOutside(state).flatMap((runs) => takeNumbers(subtractNumbers(runs, numbers), 0n, limits.open).map(String))
      const missed = [...[...opened].filter((number) => !running.has(number)), ...aside]
      missedSince = new Map(missed.map((number) => [number, missedSince.get(number) ?? now]))
      return missed.filter((number) => (missedSince.get(number) ?? now) <= now - lostAfterMs)
    },
  }
}

/** Fetches and submits again numbers that were recorded as started, and that have no transfer. Returns how many it started, and recorded as ended. */
export async function restartLost(deps: LostTransfersDeps & SignedDeps, numbers: readonly string[]) {
  const { source, client, streamClient, logger } = deps
  const fetched = await fetchMissing(deps, numbers)
  const seen = seenRequests(foundIn(fetched))
  if (seen.length > 0) await streamClient.apply(seen)
  const submitted = [...fetched].flatMap(([number, one]) => (one.kind === 'started' ? [{ ...one, number }] : []))
  const again = submitted.filter(({ status }) => status === 'started').map(({ number }) => number)
  if (again.length > 0)
    logger.warn('open transfers were gone and are started again', {
      code: 'TRANSFERS_LOST',
      ...{ stream: source.config.stream, count: again.length, numbers: again.join(', ') },
    })
  // The visibility store may have forgotten those that ended undelivered.
  const ended: typeof submitted = []
  for (const one of submitted) if (one.status === 'known' && isUndelivered(await latestRun(client, one.id))) ended.push(one)
  const closed = await closedRequests(client, ended)
  if (closed.length > 0) await streamClient.apply(closed)
  return { restarted: again.length, closed: closed.length }
}

/** Records resolved numbers whose transfers run again, since their effect is gone from the target, as undone and open. Returns how many. */
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
