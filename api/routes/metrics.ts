import { setTimeout as delay } from 'node:timers/promises'
import { isErrorCode } from '../../domain/catalogue/errors.ts'
import { createParkedCodes } from '../../intake/streams/waiting-transfers.ts'
import { reportStream } from '../../intake/streams/stream-metrics.ts'
import { listStreams, sourceOf } from '../../intake/streams/reports.ts'
import { countTransfers, parkedTransfers } from '../../temporal/client/transfers/transfer-queries.ts'
import { keptRead } from '../../runtime/shared-read.ts'
import { type Api, type ApiDeps } from '../deps.ts'

/**
 * Minimum time (ms) between counts. Each count takes eleven visibility queries, and Temporal allows only ten per
 * second.
 */
const countsMs = 30_000
const streamsMs = 10_000
/** Maximum wait for a refresh (ms), because Prometheus waits only 10 s for a whole scrape. */
const timeoutMs = 2_000
const mostParked = 1_000
const keptMs = 1_000

export function metricsRoute(app: Api, deps: ApiDeps): void {
  const { metrics } = deps
  metrics.onRefresh(createTransferCounts(deps))
  if (!deps.feedsStreams) metrics.onRefresh(createStreamMetrics(deps))
  const render = keptRead(() => metrics.render(), { fromAnswer: keptMs })
  const schema = { summary: 'Metrics in the Prometheus text format', produces: ['text/plain'] }
  app.get('/metrics', { config: { access: 'open' }, schema }, async (_, reply) =>
    reply.type('text/plain; version=0.0.4; charset=utf-8').send(await render()),
  )
}

/** Returns a refresh that never throws: while Temporal does not answer, the metrics keep their last values. */
function createTransferCounts({ client, metrics, logger }: ApiDeps): () => Promise<void> {
  const parkedCodes = createParkedCodes({ client, logger })
  const shown = new Set<string>()
  return atMostEvery(countsMs, async () => {
    const counts = await countTransfers(client, timeoutMs)
    for (const [state, count] of counts) metrics.portage_transfers.set({ state }, count)
    const parked = counts.get('parked') ?? 0
    const codes = parked === 0 ? [] : [...(await parkedCodes.of(await parkedTransfers(client, mostParked, timeoutMs))).values()]
    const byCode = countParked(codes, parked)
    for (const code of new Set([...shown, ...byCode.keys()])) metrics.portage_transfers_parked.set({ code }, byCode.get(code) ?? 0)
    for (const code of byCode.keys()) shown.add(code)
  })
}

/** Counts parked transfers by code. `unknown`: the code was not read, or is not in the catalogue (perhaps forged). */
export function countParked(codes: readonly string[], parked: number): ReadonlyMap<string, number> {
  const counts = new Map<string, number>()
  const known = codes.filter(isErrorCode)
  for (const code of known) counts.set(code, (counts.get(code) ?? 0) + 1)
  if (parked > known.length) counts.set('unknown', parked - known.length)
  return counts
}

function createStreamMetrics({ client, metrics, network }: ApiDeps): () => Promise<void> {
  const heights = (chain: string) => network.chains.get(chain)?.heads.current
  return atMostEvery(streamsMs, async () => {
    for (const row of await listStreams(client, heights)) {
      if (!('problem' in row)) reportStream(metrics, row.stream, row, { finalized: heights(sourceOf(row.stream))?.finalized })
    }
  })
}

/**
 * Refreshes at most once every `everyMs` (ms). If a refresh takes longer than `timeoutMs` (ms), the last figures stay.
 */
function atMostEvery(everyMs: number, refresh: () => Promise<void>): () => Promise<void> {
  const refreshed = keptRead(() => refresh().catch(() => {}), { fromAnswer: everyMs })
  return () => Promise.race([refreshed(), delay(timeoutMs, undefined, { ref: false })])
}
