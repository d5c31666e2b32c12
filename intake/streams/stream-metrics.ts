import { gapStates, type StreamAlarm, type StreamView } from '../../domain/stream/stream.ts'
import type { Metrics } from '../../observability/metrics.ts'

/**
 * `checkpoint`: the checkpoint cannot be used or written. `mismatch`: a route's contracts contradict each other.
 * `refused`: nodes refuse the logs of a single block.
 */
export type AgentAlarm = 'checkpoint' | 'mismatch' | 'refused'

interface StreamFacts {
  readonly finalized?: number | undefined
  readonly alarms?: Iterable<AgentAlarm>
  /** ms, as `performance.now`. */
  readonly checkpointAt?: number | undefined
}

const streamAlarms: readonly StreamAlarm[] = ['forked', 'vanished', 'hidden', 'unknown-completion', 'distrusted', 'crowded']
const alarmKinds: readonly (StreamAlarm | AgentAlarm)[] = [...streamAlarms, 'checkpoint', 'mismatch', 'refused']

export function reportStream(metrics: Metrics, stream: string, view: StreamView | undefined, report: StreamFacts): void {
  const raised = new Set<string>([...(view?.alarms ?? []), ...(report.alarms ?? [])])
  if (view || raised.size > 0) for (const kind of alarmKinds) metrics.portage_stream_alarm.set({ stream, kind }, raised.has(kind) ? 1 : 0)
  if (!view) return
  const { finalized, checkpointAt } = report
  const { nextHeight, completedNumber, completedHeight, gaps, oldestGapAt } = view
  const secondsSince = (at: number) => Math.max(0, Date.now() - at) / 1_000
  if (nextHeight !== undefined) {
    metrics.portage_stream_cursor_height.set({ stream }, nextHeight - 1)
    if (finalized !== undefined) metrics.portage_stream_lag_blocks.set({ stream }, Math.max(0, finalized - nextHeight + 1))
  }
  metrics.portage_stream_open.set({ stream }, view.open)
  metrics.portage_stream_parked.set({ stream }, view.parked)
  for (const state of gapStates) metrics.portage_stream_gaps.set({ stream, state }, Number(gaps[state] ?? 0))
  metrics.portage_stream_oldest_gap_seconds.set({ stream }, oldestGapAt === undefined ? 0 : secondsSince(oldestGapAt))
  if (completedNumber !== undefined) metrics.portage_stream_completed_nonce_height.set({ stream }, Number(completedNumber))
  if (completedHeight !== undefined) metrics.portage_stream_completed_block_height.set({ stream }, completedHeight)
  metrics.portage_stream_backfill_left_blocks.set({ stream }, view.backfill.left)
  metrics.portage_stream_paused.set({ stream }, view.paused ? 1 : 0)
  if (checkpointAt !== undefined) metrics.portage_stream_checkpoint_age_seconds.set({ stream }, (performance.now() - checkpointAt) / 1_000)
}
