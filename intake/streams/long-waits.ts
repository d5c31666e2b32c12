import { waitsForItself } from '../../domain/catalogue/errors.ts'
import { room } from '../../domain/stream/numbers.ts'
import type { StreamConfig, StreamRequest, StreamState } from '../../domain/stream/stream.ts'
import type { Logger } from '../../observability/logger.ts'
import type { TemporalClient } from '../../temporal/client/connection/client.ts'
import { longWaiting, statusOf, type StreamOfTransfers } from '../../temporal/client/streams/stream-transfers.ts'
import { mapLimited } from '../../runtime/map-limited.ts'

export interface LongWaitsDeps {
  readonly source: StreamOfTransfers & { readonly config: Pick<StreamConfig, 'stream'> }
  readonly client: TemporalClient
  readonly logger: Logger
  /** How long a transfer waits for what is its own before its number is put aside, ms. */
  readonly asideAfterMs?: number | undefined
}

/** A transfer that has waited for so long for what is its own leaves its room to others, ms. Default of `asideAfterMs`. */
export const defaultAsideAfterMs = 600_000
/** Most queries in one look, and at once; how long one may take, ms; how soon the same run is asked again, ms; between two looks, ms. */
const limits = { queries: 50, atOnce: 20, queryMs: 5_000, againMs: 60_000, everyMs: 10_000 } as const

/**
 * The open numbers whose transfers have waited for long for something of their own (a token without a wrapper, a call that reverts), as requests that put
 * them aside. Looked for only while room is short, so that quiet times cost nothing. What all of a route wait for puts nothing aside: the stream waits as well.
 */
export function createLongWaits({ client, source, logger, asideAfterMs = defaultAsideAfterMs }: LongWaitsDeps) {
  const askedAt = new Map<string, number>()
  let lookedAt = -Infinity

  return async function findLongWaits(state: StreamState): Promise<readonly StreamRequest[]> {
    const now = Date.now()
    if (room(state) > state.maxOpen / 2 || now - lookedAt < Math.min(limits.everyMs, asideAfterMs)) return []
    lookedAt = now
    const open = new Set(state.open.map(({ number }) => number))
    const listed = (await longWaiting(client, source, now - asideAfterMs)).filter(({ number }) => open.has(number))
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
