import { isResolved } from '../../domain/stream/numbers.ts'
import type { StreamState } from '../../domain/stream/stream.ts'
import { latestRun } from '../../temporal/client/closed-transfers.ts'
import { type ListedTransfer, runningTransfers, statusOf } from '../../temporal/client/stream-transfers.ts'
import type { SignedSource } from '../../bridges/source-port.ts'
import { seenRequests, withStatus } from '../number-status.ts'
import { closedRequests, type OutcomesDeps } from '../transfer-outcomes.ts'
import { deliveredByTarget } from './delivered-by-target.ts'
import type { FetchOutcome } from './fetch-missing.ts'

export interface LostTransfersDeps extends OutcomesDeps {
  readonly source: Pick<SignedSource, 'config' | 'bridge' | 'sourceChain' | 'emitter' | 'delivered'>
  /** How long a number must be without a transfer before it is lost, ms; 0 where it is asked once. Default `graceMs`. */
  readonly lostAfterMs?: number
}

/** The visibility store lags, and another process's clock may too, ms. */
export const graceMs = 15_000
/** How long a number whose transfer is gone is looked for in quick succession, ms; then with every audit. */
const suspectMs = 20 * graceMs
/** In one audit. */
const mostReopened = 20

export function createLostTransfers({ source, client, lostAfterMs = graceMs }: LostTransfersDeps) {
  const missedSince = new Map<string, number>()
  return {
    /** `find` has seen numbers that it gives a little more time: ask again in `graceMs`. */
    get suspects(): boolean {
      const recently = Date.now() - suspectMs
      return [...missedSince.values()].some((at) => at > recently)
    },
    /** Open numbers without a running transfer for a while: their messages are to be fetched and submitted again. */
    async find({ open }: StreamState): Promise<readonly string[]> {
      const now = Date.now()
      const running = new Set((await runningTransfers(client, source)).map(({ number }) => number))
      const missed = new Set(open.map(({ number }) => number).filter((number) => !running.has(number)))
      for (const number of missedSince.keys()) if (!missed.has(number)) missedSince.delete(number)
      for (const number of missed) if (!missedSince.has(number)) missedSince.set(number, now)
      return [...missed].filter((number) => (missedSince.get(number) ?? now) <= now - lostAfterMs)
    },
  }
}

/**
 * Records the transfers that the submitter knew already and that ended undelivered: the visibility store may have forgotten them.
 * @returns how many
 */
export async function recordEnded(
  { client, streamClient }: Pick<OutcomesDeps, 'client' | 'streamClient'>,
  outcomes: ReadonlyMap<string, FetchOutcome>,
): Promise<number> {
  const ended: Pick<ListedTransfer, 'id' | 'number'>[] = []
  for (const [number, outcome] of outcomes) {
    if (outcome.kind !== 'started' || outcome.status !== 'known') continue
    const latest = await latestRun(client, outcome.id)
    if (latest === 'rejected' || latest === 'declined' || latest === 'cancelled') ended.push({ id: outcome.id, number })
  }
  const requests = await closedRequests(client, ended)
  if (requests.length > 0) await streamClient.apply(requests)
  return requests.length
}

/**
 * Resolved numbers whose transfers run again, since their effect is gone from the target's finalized state: recorded as undone, and open.
 * @returns how many
 */
export async function reopenUndone({ source, client, streamClient }: LostTransfersDeps, state: StreamState): Promise<number> {
  const running = await runningTransfers(client, source)
  const again = running.filter(({ number }) => isResolved(state, number)).slice(0, mostReopened)
  const transfers = await Promise.all(again.map(async (one) => (await statusOf(client, one)).transfer))
  const { done, unread } = await deliveredByTarget(source, transfers)
  const undone = transfers.map(({ sequence }) => sequence).filter((number) => !done.has(number) && !unread.has(number))
  if (undone.length === 0) return 0
  await streamClient.apply([
    ...undone.map((number) => ({ kind: 'undone' as const, numbers: [[number, number] as const] })),
    ...seenRequests(withStatus('started', undone)),
  ])
  return undone.length
}
