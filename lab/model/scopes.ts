import type { LaneScope } from './lane-replay.ts'
import type { ModelName } from './options.ts'
import type { StreamScope } from './stream-replay.ts'

/** `config`: a file of lab/model/bounds, whose first comment names the included faults. */
export interface Scope {
  readonly model: ModelName
  readonly config: string
}

export const modules: Readonly<Record<ModelName, string>> = { lane: 'Lane', stream: 'Stream' }

export const scopes: readonly Scope[] = [
  { model: 'lane', config: 'lane-processes.cfg' },
  { model: 'lane', config: 'lane-transfers.cfg' },
  { model: 'lane', config: 'lane-chain.cfg' },
  { model: 'lane', config: 'lane-loss.cfg' },
  { model: 'lane', config: 'lane-settles.cfg' },
  { model: 'stream', config: 'stream-blocks.cfg' },
  { model: 'stream', config: 'stream-spy.cfg' },
  { model: 'stream', config: 'stream-names.cfg' },
  { model: 'stream', config: 'stream-loss.cfg' },
  { model: 'stream', config: 'stream-ends.cfg' },
]

/** These bounds equal those in lane-runs.cfg, and are larger than those of the exhaustive checks. */
export const laneRuns: LaneScope = { nonces: 4, window: 3, rounds: 3, transfers: ['t1', 't2', 't3'] }
/** These bounds equal those in stream-runs.cfg. */
export const streamRuns: StreamScope = { numbers: 5, maxOpen: 3, scans: true }
