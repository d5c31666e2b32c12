import { awaitsNewSignatures } from '../../domain/catalogue/errors.ts'
import type { Logger } from '../../observability/logger.ts'
import type { TemporalClient } from '../../temporal/client/connection/client.ts'
import { type ListedTransfer, statusOf } from '../../temporal/client/streams/stream-transfers.ts'
import { mapLimited } from '../../runtime/map-limited.ts'

/** Most queries of one call, and at once; longest query, ms; wait after a transfer did not answer, ms. */
const limits = { queries: 50, atOnce: 20, queryMs: 5_000, silentMs: 60_000 } as const

/** Reads the codes of parked transfers. A run keeps its code, so it is queried once. */
export function createParkedCodes(client: TemporalClient, stream: string, logger: Logger) {
  const codes = new Map<string, { readonly number: string; readonly code: string }>()
  const silentUntil = new Map<string, number>()

  async function query(listed: ListedTransfer): Promise<void> {
    const { runId, number } = listed
    try {
      const { state, code = 'INTERNAL' } = await statusOf(client, listed, limits.queryMs)
      if (state === 'parked') codes.set(runId, { number, code })
    } catch (error) {
      // No worker of its target chain answers. Other numbers do not wait for it.
      silentUntil.set(runId, Date.now() + limits.silentMs)
      logger.debug('a parked transfer does not answer', { stream, number, error: String(error) })
    }
  }

  return {
    async of(parked: readonly ListedTransfer[]): Promise<ReadonlyMap<string, string>> {
      const runs = new Set(parked.map(({ runId }) => runId))
      for (const known of [codes, silentUntil]) for (const runId of known.keys()) if (!runs.has(runId)) known.delete(runId)
      const now = Date.now()
      const unknown = parked.filter(({ runId }) => !codes.has(runId) && (silentUntil.get(runId) ?? 0) <= now)
      await mapLimited(unknown.slice(0, limits.queries), limits.atOnce, query)
      return new Map([...codes.values()].map(({ number, code }) => [number, code]))
    },
    /** Numbers that are parked until guardians of a newer set sign their message. */
    get awaitingSignatures(): readonly string[] {
      return [...codes.values()].flatMap(({ number, code }) => (awaitsNewSignatures(code) ? [number] : []))
    },
  }
}
