import { awaitsNewSignatures, isErrorCode, knownCode, waitsForItself } from '../../domain/catalogue/errors.ts'
import { room } from '../../domain/stream/numbers.ts'
import type { StreamRequest, StreamState } from '../../domain/stream/stream.ts'
import type { Logger } from '../../observability/logger.ts'
import { boundedMap } from '../../runtime/bounded-map.ts'
import { mapLimited } from '../../runtime/map-limited.ts'
import type { TemporalClient } from '../../temporal/client/connection/client.ts'
import { type ListedTransfer, statusOf, type StreamOfTransfers, waitingPage } from '../../temporal/client/streams/stream-transfers.ts'

export interface WaitingTransfersDeps {
  readonly source: StreamOfTransfers
  readonly client: TemporalClient
  readonly logger: Logger
  /**
   * If at most half of the window is free, a transfer that waits for a reason that concerns only itself leaves the
   * window if its run began at least this long ago (ms). Default: 600,000.
   */
  readonly outsideAfterMs?: number | undefined
}

/**
 * Replaces `outsideAfterMs` while the window is almost full, because strangers can submit many messages that nobody
 * signs.
 */
const outsideIfFullMs = 60_000
const limits = { listed: 1_000, queries: 50, atOnce: 20, queryMs: 5_000, againMs: 60_000, everyMs: 10_000 } as const

async function askStatus({ client, logger }: Pick<WaitingTransfersDeps, 'client' | 'logger'>, one: ListedTransfer) {
  try {
    return await statusOf(client, one, limits.queryMs)
  } catch (error) {
    logger.debug('a transfer does not answer', { transfer: one.id, error: String(error) })
    return undefined
  }
}

function forgetOthers(known: Map<string, unknown>, listed: readonly ListedTransfer[]): void {
  const runs = new Set(listed.map(({ runId }) => runId))
  for (const runId of known.keys()) if (!runs.has(runId)) known.delete(runId)
}

/**
 * Reads the error codes of parked transfers. While a run stays parked, its code does not change, so a run whose code is
 * known is not queried again.
 */
export function createParkedCodes(deps: Pick<WaitingTransfersDeps, 'client' | 'logger'>) {
  const codes = new Map<string, { readonly number: string; readonly code: string }>()
  const silentUntil = new Map<string, number>()

  return {
    async of(parked: readonly ListedTransfer[]): Promise<ReadonlyMap<string, string>> {
      for (const known of [codes, silentUntil]) forgetOthers(known, parked)
      const now = performance.now()
      const dueAt = ({ runId }: ListedTransfer) => silentUntil.get(runId) ?? 0
      const unknown = parked.filter((one) => !codes.has(one.runId) && dueAt(one) <= now).toSorted((a, b) => dueAt(a) - dueAt(b))
      await mapLimited(unknown.slice(0, limits.queries), limits.atOnce, async (one) => {
        const status = await askStatus(deps, one)
        silentUntil.set(one.runId, performance.now() + (status ? 0 : limits.againMs))
        if (status?.state === 'parked') codes.set(one.runId, { number: one.number, code: knownCode(status.code) })
      })
      return new Map([...codes.values()].map(({ number, code }) => [number, code]))
    },
    get awaitingSignatures(): readonly string[] {
      return [...codes.values()].flatMap(({ number, code }) => (awaitsNewSignatures(code) ? [number] : []))
    },
  }
}

/**
 * Returns a function that finds the transfers to move outside the window: if room is short, those that wait for a
 * reason of their own, such as a missing wrapper or a revert. Strangers may create any number of such transfers, so
 * each call lists one page, in turn the newest and an older one.
 */
export function createWaitingTransfers(deps: WaitingTransfersDeps) {
  const { client, source, outsideAfterMs = 600_000 } = deps
  const askedAt = boundedMap<string, number>(10_000)
  let searchedAt = -Infinity
  let older: number | undefined
  let isOlderNext = false

  return async function findWaiting(state: StreamState): Promise<readonly StreamRequest[]> {
    const now = performance.now()
    if (room(state) > state.maxOpen / 2 || now - searchedAt < Math.min(limits.everyMs, outsideAfterMs)) return []
    searchedAt = now
    const afterMs = room(state) > state.maxOpen / 10 ? outsideAfterMs : Math.min(outsideAfterMs, outsideIfFullMs)
    const open = new Set(state.open.map(({ number }) => number))
    const from = isOlderNext ? older : undefined
    const page = await waitingPage(client, source, limits.listed, Math.min(from ?? Infinity, Date.now() - afterMs))
    isOlderNext = from === undefined
    if (from !== undefined || older === undefined) older = page.before
    const listed = page.listed.filter(({ number }) => open.has(number))
    const lastAt = ({ runId }: ListedTransfer) => askedAt.get(runId) ?? -Infinity
    const due = listed.filter((one) => now - lastAt(one) >= limits.againMs).toSorted((a, b) => lastAt(a) - lastAt(b))
    const requests = await mapLimited(due.slice(0, limits.queries), limits.atOnce, async (one): Promise<StreamRequest[]> => {
      askedAt.set(one.runId, now)
      const { state: present, code } = (await askStatus(deps, one)) ?? {}
      const isOwn = present === 'waiting' && isErrorCode(code) && waitsForItself(code)
      return isOwn ? [{ kind: 'parked', number: one.number, code, waits: true }] : []
    })
    return requests.flat()
  }
}
