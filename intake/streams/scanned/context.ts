import type { Bridge, Endpoint, PlacedSource, ScannedSource } from '../../../bridges/port.ts'
import type { Chain, Heads } from '../../../chains/port.ts'
import { RelayerError } from '../../../domain/catalogue/errors.ts'
import type { StreamView } from '../../../domain/stream/stream.ts'
import type { ChainName } from '../../../domain/transfer/transfer.ts'
import type { HaltRoute } from '../../submit/halt-route.ts'
import type { Submitter } from '../../submit/submitter.ts'
import { keptRead } from '../../../runtime/shared-read.ts'
import { retentionHours } from '../../../temporal/client/transfers/closed-runs.ts'
import { firstSince } from '../first-block.ts'
import { type AuditCursor, createAuditCursor } from '../audit-cursor.ts'
import { waitFor } from '../loop.ts'
import type { AgentAlarm } from '../stream-metrics.ts'
import type { WaitingTransfersDeps } from '../waiting-transfers.ts'
import type { StreamClient } from '../stream-client.ts'
import { asBlockSource, type BlockSource } from './placed.ts'
import { createStreamCache, type StreamCache } from './stream-cache.ts'

export type FollowedChain = Pick<Chain, 'name' | 'blockTimeMs'> & { readonly heads: Pick<Heads, 'current' | 'subscribe'> }

/** Only a scanned source has a route. A contradiction of its completions halts the route. */
export interface Route {
  readonly source: Pick<ScannedSource, 'targetChain' | 'completed' | 'contradiction'>
  readonly target: FollowedChain
}

export interface Target {
  readonly chain: FollowedChain
  readonly endpoint: Pick<Endpoint, 'delivered' | 'mayShow'>
}

export interface ScannedDeps extends Pick<WaitingTransfersDeps, 'client' | 'logger' | 'outsideAfterMs'> {
  readonly source: ScannedSource | PlacedSource
  readonly sourceChain: FollowedChain & Pick<Chain, 'block' | 'denies'>
  readonly targets: ReadonlyMap<ChainName, Target>
  readonly submitter: Submitter
  /** Decodes messages of the source's bridge. */
  readonly decode: Bridge['decode']
  readonly haltRoute: HaltRoute
  readonly rangeBlocks: number
  /** How far back (ms) a placed source without `start` begins. */
  readonly lookBackMs: number
}

export interface ScannedContext extends Omit<ScannedDeps, 'source' | 'rangeBlocks' | 'lookBackMs'> {
  readonly source: BlockSource
  readonly route?: Route | undefined
  readonly streamClient: Pick<StreamClient, 'view' | 'era' | 'state' | 'apply' | 'changed'>
  readonly cache: StreamCache
  readonly ranges: Readonly<Record<'source' | 'target', ReturnType<typeof createRangeSize>>>
  readonly finality: ReturnType<typeof createFinalityTimes>
  /** First block whose transfers still have runs in Temporal, even if they have ended. */
  readonly remembered: () => Promise<number>
  readonly cursors: Readonly<Record<'outside' | 'resumed' | 'gaps' | 'blocks', AuditCursor>>
  readonly alarms: Set<AgentAlarm>
  readonly stopping: AbortSignal
}

export type ReadingContext = Omit<ScannedContext, 'targets' | 'cursors' | 'remembered'>

const rememberedForMs = 3_600_000
/** Temporal's minimum retention, used if the namespace cannot be read. */
const leastRetentionHours = 24
/** Part of the retention. The rest is a margin for runs that closed soon after their block. */
const rememberedPart = 0.75

function createRemembered({ client, sourceChain }: Pick<ScannedDeps, 'client' | 'sourceChain'>): () => Promise<number> {
  const read = async () => {
    const retentionMs = (await retentionHours(client).catch(() => leastRetentionHours)) * 3_600_000
    return firstSince(sourceChain, Date.now() - rememberedPart * retentionMs, finalizedOf(sourceChain))
  }
  return keptRead(read, { fromAnswer: (answer) => (answer === undefined ? 0 : rememberedForMs) })
}

export function createScannedContext(
  { rangeBlocks, lookBackMs: _, source, ...deps }: ScannedDeps,
  { streamClient, alarms, stopping }: Pick<ScannedContext, 'streamClient' | 'alarms' | 'stopping'>,
): ScannedContext {
  const ranges = { source: createRangeSize(rangeBlocks), target: createRangeSize(rangeBlocks) }
  const cursors = { outside: createAuditCursor(), resumed: createAuditCursor(), gaps: createAuditCursor(), blocks: createAuditCursor() }
  const finalized = () => finalizedOf(deps.sourceChain)
  const blocks = asBlockSource(source, finalized, () => ranges.source.blocks)
  const made = { cache: createStreamCache(), ranges, finality: createFinalityTimes(), cursors, remembered: createRemembered(deps) }
  return { ...deps, ...made, source: blocks, route: routeOf(source, deps.targets), streamClient, alarms, stopping }
}

function routeOf(source: ScannedSource | PlacedSource, targets: ScannedDeps['targets']): Route | undefined {
  if (source.kind === 'placed') return undefined
  const target = targets.get(source.targetChain)?.chain
  if (!target) throw new Error(`${source.config.stream} has no target`)
  return { source, target }
}

/**
 * The view of the stream. Begins the stream if there is none. On a route, completions are followed before any transfer
 * starts.
 */
export async function viewOf({ streamClient, route, source }: ReadingContext): Promise<StreamView> {
  if (!streamClient.view) await streamClient.state()
  const known = streamClient.view
  if (known && (!route || known.targetHeight !== undefined)) return known
  const { stream, origin, maxOpen } = source.config
  const from = route && finalizedOf(route.target)
  const response = await streamClient.apply([
    from === undefined ? { kind: 'configured', stream, origin, maxOpen } : { kind: 'completed', numbers: [], from, to: from },
  ])
  if (!response) throw new RelayerError('STREAM_UNREACHABLE', { detail: 'the stream went back during the request' })
  return response.view
}

/** Height of the newest final block. Throws NODE_UNAVAILABLE before the first block. */
export function finalizedOf({ name, heads }: Pick<FollowedChain, 'name' | 'heads'>): number {
  const { current } = heads
  if (!current) throw new RelayerError('NODE_UNAVAILABLE', { detail: 'No block has been seen yet.', facts: { chain: name } })
  return current.finalized
}

/** Resolves at the next head, or after four block times if the chain has stalled. */
export function nextHead({ heads, blockTimeMs }: FollowedChain, stopping: AbortSignal): Promise<void> {
  return waitFor((listener) => heads.subscribe(listener), Math.max(1_000, 4 * blockTimeMs), stopping)
}

const mostKept = 64

export function createFinalityTimes(now: () => number = Date.now) {
  const seen: { readonly height: number; readonly at: number }[] = []
  return {
    see(finalized: number): void {
      // Finality goes back only if the chain was replaced.
      while ((seen.at(-1)?.height ?? -1) > finalized) seen.pop()
      if (seen.at(-1)?.height === finalized) return
      seen.push({ height: finalized, at: now() })
      if (seen.length > mostKept) seen.shift()
    },
    /** Time (ms since the epoch) when the height became final. Undefined if it is not final, or not remembered. */
    since(height: number): number | undefined {
      const first = seen.findIndex((one) => one.height >= height)
      return first <= 0 ? undefined : seen[first]?.at
    },
  }
}

const answersBeforeGrowth = 4

export function createRangeSize(most: number) {
  let size = most
  let answers = 0
  return {
    get blocks(): number {
      return size
    },
    /** False if the refused range is a single block. */
    refused(blocks: number): boolean {
      answers = 0
      size = Math.max(1, Math.floor(blocks / 2))
      return blocks > 1
    },
    answered(blocks: number): void {
      // An answer for a shorter range does not show that longer ranges work.
      if (blocks < size || size === most || ++answers < answersBeforeGrowth) return
      answers = 0
      size = Math.min(most, size * 2)
    },
  }
}
