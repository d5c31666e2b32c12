import { waitsForItself } from '../../domain/catalogue/errors.ts'
import { room } from '../../domain/stream/numbers.ts'
import type { StreamConfig, StreamRequest, StreamState } from '../../domain/stream/stream.ts'
import type { Logger } from '../../observability/logger.ts'
import { mapLimited } from '../../runtime/map-limited.ts'
import type { TemporalClient } from '../../temporal/client/connection/client.ts'
import { longWaiting, statusOf, type StreamOfTransfers } from '../../temporal/client/streams/stream-transfers.ts'

export interface WaitingTransfersDeps {
  readonly source: StreamOfTransfers & { readonly config: Pick<StreamConfig, 'stream'> }
  readonly client: TemporalClient
  readonly logger: Logger
  /** A transfer that waits this long for something of its own moves outside the window, ms. Default ten minutes. */
  readonly outsideAfterMs?: number | undefined
}

/** Most queries of one step, and at once; longest query, ms; between queries of one run, ms; between steps, ms. */
const limits = { queries: 50, atOnce: 20, queryMs: 5_000, againMs: 60_000, everyMs: 10_000 } as const

/** While room is short, moves transfers that wait for something of their own (a wrapper, a reverting call) outside. */
export function createWaitingTransfers({ client, source, logger, outsideAfterMs = 600_000 }: WaitingTransfersDeps) {
  const askedAt = new Map<string, number>()
  let searchedAt = -Infinity

  return async function findWaiting(state: StreamState): Promise<readonly StreamRequest[]> {
    const now = Date.now()
    if (room(state) > state.maxOpen / 2 || now - searchedAt < Math.min(limits.everyMs, outsideAfterMs)) return []
    searchedAt = now
    const open = new Set(state.open.map(({ number }) => number))
    const listed = (await longWaiting(client, source, now - outsideAfterMs)).filter(({ number }) => open.has(number))
    const runs = new Set(listed.map(({ runId }) => runId))
    for (const runId of askedAt.keys()) if (!runs.has(runId)) askedAt.delete(runId)
    const due = listed.filter(({ runId }) => now - (askedAt.get(runId) ?? -Infinity) >= limits.againMs).slice(0, limits.queries)
    const requests = await mapLimited(due, limits.atOnce, async (one): Promise<StreamRequest | undefined> => {
      askedAt.set(one.runId, now)
      try {
        const { state: now, code } = await statusOf(client, one, limits.queryMs)
        const isOwn = now === 'waiting' && code !== undefined && waitsForItself(code)
        return isOwn ? { kind: 'parked', number: one.number, code, waits: true } : undefined
      } catch (error) {
        logger.debug('a waiting transfer does not answer', { stream: source.config.stream, number: one.number, error: String(error) })
        return undefined
      }
    })
    return requests.filter((request) => request !== undefined)
  }
}
