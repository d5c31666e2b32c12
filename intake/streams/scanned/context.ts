import type { Endpoint, ScannedSource } from '../../../bridges/port.ts'
import type { Chain, Heads } from '../../../chains/port.ts'
import { RelayerError } from '../../../domain/catalogue/errors.ts'
import type { StreamView } from '../../../domain/stream/stream.ts'
import type { HaltRoute } from '../../submit/halt-route.ts'
import type { Submitter } from '../../submit/submitter.ts'
import { type AuditCursor, createAuditCursor } from '../audit-cursor.ts'
import { waitFor } from '../loop.ts'
import type { AgentAlarm } from '../stream-metrics.ts'
import type { WaitingTransfersDeps } from '../waiting-transfers.ts'
import type { StreamClient } from '../stream-client.ts'
import { createRangeSize } from './range-size.ts'
import { createStreamCache, type StreamCache } from './stream-cache.ts'

export type FollowedChain = Pick<Chain, 'name' | 'blockTimeMs'> & { readonly heads: Pick<Heads, 'current' | 'subscribe'> }

export interface ScannedDeps extends Pick<WaitingTransfersDeps, 'client' | 'logger' | 'outsideAfterMs'> {
  readonly source: Omit<ScannedSource, 'kind'>
  readonly sourceChain: FollowedChain & Pick<Chain, 'block' | 'denies'>
  readonly targetChain: FollowedChain
  readonly endpoint: Pick<Endpoint, 'delivered'>
  readonly submitter: Submitter
  readonly haltRoute: HaltRoute
  readonly rangeBlocks: number
}

export interface ScannedContext extends Omit<ScannedDeps, 'rangeBlocks'> {
  readonly streamClient: Pick<StreamClient, 'view' | 'era' | 'state' | 'apply' | 'changed'>
  readonly cache: StreamCache
  readonly ranges: Readonly<Record<'source' | 'target', ReturnType<typeof createRangeSize>>>
  readonly finality: ReturnType<typeof createFinalityTimes>
  readonly cursors: Readonly<Record<'outside' | 'resumed' | 'gaps', AuditCursor>>
  readonly alarms: Set<AgentAlarm>
  readonly stopping: AbortSignal
}

export type ReadingContext = Omit<ScannedContext, 'client' | 'endpoint' | 'cursors'>

export function createScannedContext(
  { rangeBlocks, ...deps }: ScannedDeps,
  { streamClient, alarms, stopping }: Pick<ScannedContext, 'streamClient' | 'alarms' | 'stopping'>,
): ScannedContext {
  const ranges = { source: createRangeSize(rangeBlocks), target: createRangeSize(rangeBlocks) }
  const cursors = { outside: createAuditCursor(), resumed: createAuditCursor(), gaps: createAuditCursor() }
  return { ...deps, streamClient, alarms, stopping, cache: createStreamCache(), ranges, finality: createFinalityTimes(), cursors }
}

/** Makes a new stream follow completions from the target's finalized head on, before any transfer starts. */
export async function viewOf({ streamClient, targetChain }: Pick<ScannedContext, 'streamClient' | 'targetChain'>): Promise<StreamView> {
  if (!streamClient.view) await streamClient.state()
  const known = streamClient.view
  if (known?.targetHeight !== undefined) return known
  const from = finalizedOf(targetChain)
  const response = await streamClient.apply([{ kind: 'completed', numbers: [], from, to: from }])
  if (!response) throw new RelayerError('STREAM_UNREACHABLE', { detail: 'it went back while it was asked' })
  return response.view
}

/** Throws NODE_UNAVAILABLE before the first block. */
export function finalizedOf({ name, heads }: Pick<FollowedChain, 'name' | 'heads'>): number {
  const { current } = heads
  if (!current) throw new RelayerError('NODE_UNAVAILABLE', { detail: 'No block was seen yet.', facts: { chain: name } })
  return current.finalized
}

/** Resolves at the next head, or after four block times, because a stalled chain has no next head. */
export function nextHead({ heads, blockTimeMs }: FollowedChain, stopping: AbortSignal): Promise<void> {
  return waitFor((listener) => heads.subscribe(listener), Math.max(1_000, 4 * blockTimeMs), stopping)
}

const mostKept = 64

export function createFinalityTimes(now: () => number = Date.now) {
  const seen: { readonly height: number; readonly at: number }[] = []
  return {
    see(finalized: number): void {
      // Finality only goes back if the chain was replaced.
      while ((seen.at(-1)?.height ?? -1) > finalized) seen.pop()
      if (seen.at(-1)?.height === finalized) return
      seen.push({ height: finalized, at: now() })
      if (seen.length > mostKept) seen.shift()
    },
    /** When the height became final, ms since the epoch. Undefined if it is not final, or became final too long ago. */
    since(height: number): number | undefined {
      const first = seen.findIndex((one) => one.height >= height)
      return first <= 0 ? undefined : seen[first]?.at
    },
  }
}
