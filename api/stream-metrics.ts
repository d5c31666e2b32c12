import type { Client } from '@temporalio/client'
import { reportStream } from '../streams/report.ts'
import type { Metrics } from '../observability/metrics.ts'
import type { Heights } from './streams.ts'
import { listStreams, sourceOf } from './streams.ts'

/** One query per stream and refresh: scrapes that come sooner get the last figures. */
const refreshMs = 10_000
/** A scraper waits 10 s by default, and the other figures must not be late for these. */
const timeoutMs = 2_000

/**
 * Brings `portage_stream_*` up to date in a process that feeds no stream itself, so that they are served where the API is. Never throws: without
 * Temporal the last figures stay.
 */
export function createStreamMetrics(client: Client, metrics: Metrics, heights: Heights): () => Promise<void> {
  let refreshedAt = -Infinity
  let refreshing: Promise<void> | undefined
  const refresh = async (): Promise<void> => {
    for (const row of await listStreams(client, heights)) {
      if (!('problem' in row)) reportStream(metrics, row.stream, row, { finalized: heights(sourceOf(row.stream)) })
    }
  }
  return async () => {
    if (Date.now() - refreshedAt < refreshMs) return
    refreshing ??= refresh()
      .catch(() => {})
      .finally(() => {
        refreshedAt = Date.now()
        refreshing = undefined
      })
    let timer: NodeJS.Timeout | undefined
    await Promise.race([refreshing, new Promise((resolve) => (timer = setTimeout(resolve, timeoutMs)))])
    clearTimeout(timer)
  }
}
