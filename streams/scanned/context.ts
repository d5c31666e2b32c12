import type { Endpoint } from '../../bridges/port.ts'
import type { ScannedSource } from '../../bridges/source-port.ts'
import type { Chain } from '../../chains/port.ts'
import { RelayerError } from '../../domain/errors.ts'
import type { StreamView } from '../../domain/stream/stream.ts'
import type { Logger } from '../../observability/logger.ts'
import type { HaltRoute } from '../../intake/halt-route.ts'
import type { Submitter } from '../../intake/submitter.ts'
import type { TemporalClient } from '../../temporal/client/client.ts'
import type { AgentAlarm } from '../report.ts'
import type { StreamClient } from '../stream-client.ts'
import { StreamCache } from './stream-cache.ts'
import { RangeSize } from './range-size.ts'

/** What feeds the stream of a scanned source. */
export interface ScannedDeps {
  readonly source: ScannedSource
  readonly sourceChain: Chain
  readonly targetChain: Chain
  /** Of the bridge on the target chain. */
  readonly endpoint: Pick<Endpoint, 'delivered'>
  readonly streamClient: StreamClient
  readonly submitter: Submitter
  readonly client: TemporalClient
  readonly haltRoute: HaltRoute
  readonly logger: Logger
  /** Most blocks of one read of logs. */
  readonly rangeBlocks: number
}

/** The loops of one stream in one process, and what they share. */
export interface ScannedContext extends ScannedDeps {
  readonly cache: StreamCache
  readonly ranges: { readonly source: RangeSize; readonly target: RangeSize }
  readonly alarms: Set<AgentAlarm>
  readonly stopping: AbortSignal
}

export function createScannedContext(deps: ScannedDeps, stopping: AbortSignal): ScannedContext {
  const { rangeBlocks } = deps
  const ranges = { source: new RangeSize(rangeBlocks), target: new RangeSize(rangeBlocks) }
  return { ...deps, cache: new StreamCache(), ranges, alarms: new Set(), stopping }
}

/**
 * The stream as it was last heard of. One that is not there comes into being here, with the target block from which completions are followed: the
 * finalized head of now, before any transfer is started. What was completed up to there is found by reads of its id.
 */
export async function viewOf({ streamClient, targetChain }: ScannedContext): Promise<StreamView> {
  if (!streamClient.view) await streamClient.state()
  const known = streamClient.view
  if (known?.targetHeight !== undefined) return known
  const from = finalizedOf(targetChain)
  const told = await streamClient.apply([{ kind: 'completed', numbers: [], from, to: from }])
  if (!told) throw new RelayerError('STREAM_UNREACHABLE', { detail: 'it went back while it was asked' })
  return told.view
}

/** Throws NODE_UNAVAILABLE before the first block. */
export function finalizedOf({ name, heads }: Chain): number {
  const { current } = heads
  if (!current) throw new RelayerError('NODE_UNAVAILABLE', { detail: 'No block was seen yet.', facts: { chain: name } })
  return current.finalized
}

/** Resolves at the next change of the chain's head, or after four times the time that a block takes: a chain that stands still says no more later. */
export function nextHead({ heads, blockTimeMs }: Chain, stopping: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      clearTimeout(timer)
      end()
      stopping.removeEventListener('abort', done)
      resolve()
    }
    const timer = setTimeout(done, Math.max(1_000, 4 * blockTimeMs))
    const end = heads.subscribe(done)
    stopping.addEventListener('abort', done)
    if (stopping.aborted) done()
  })
}
