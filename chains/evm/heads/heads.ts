import { setTimeout as sleep } from 'node:timers/promises'
import { RelayerError } from '../../../domain/errors.ts'
import type { FinalityPolicy } from '../../../domain/finality.ts'
import type { BlockRef, Heads } from '../../port.ts'
import { isolate } from '../isolate.ts'
import { RpcError } from '../nodes/node-errors.ts'
import type { Nodes } from '../nodes/nodes.ts'
import { BlockCache, readBlock } from './block-cache.ts'
import { createFinalityTag } from './finality-tag.ts'
import { createFollow, nothingNew } from './follow.ts'
import { createHeadEvents } from './head-events.ts'

/** How often the heads of the nodes are compared, ms (chainlink-evm NodePool PollInterval). */
const rankEveryMs = 10_000
/** At most so often where the node that is asked was seen to be late, ms. */
const lateRankMs = 1_000

export interface HeadsOptions {
  readonly chain: string
  readonly nodes: Nodes
  readonly finality: FinalityPolicy
  readonly blockTimeMs: number
  readonly connectTimeoutMs?: number
}

/** The head tracker, with what the rest of the adapter shares. */
export interface EvmHeads extends Heads {
  readonly kept: BlockCache
  /** Called after every poll, changed or not: the clock of all retries on this chain. */
  onPoll(listener: () => void): void
  /** Grows each time that continuity breaks: blocks were skipped, or rolled back below the kept ones. */
  readonly breaks: number
  /** Blocks between the head and the finalized height, the most seen lately. */
  readonly finalityLag: number
  /** When the latest head was first seen, ms since the epoch. */
  readonly latestSeenAt: number
}

/** One poll loop at half the block time; see `Heads` in the port. */
export function createHeads({ chain, nodes, finality, blockTimeMs, connectTimeoutMs = 15_000 }: HeadsOptions): EvmHeads {
  const intervalMs = Math.min(4_000, Math.max(100, blockTimeMs / 2))
  const kept = new BlockCache()
  const events = createHeadEvents(kept, finality)
  const pollListeners = new Set<() => void>()
  const rank = createRank(nodes, kept)
  const poller = createPoller({ nodes, kept, finality, events, onLate: () => rank(lateRankMs) })
  let stopping: AbortController | undefined

  async function loop(signal: AbortSignal): Promise<void> {
    let tookMs = 0
    while (await pause(Math.max(10, intervalMs - tookMs), signal)) {
      const started = Date.now()
      rank(rankEveryMs)
      // A failed poll changes nothing: the next one, perhaps of another node, tells what happened meanwhile.
      await poller.poll(signal).catch(() => undefined)
      tookMs = Date.now() - started
      if (signal.aborted) return
      for (const listener of pollListeners) isolate(listener)
    }
  }

  /** Polls until there is a first block. Throws NODE_UNAVAILABLE, or why the last poll failed, if none came in time. */
  async function firstBlock(signal: AbortSignal): Promise<void> {
    const deadline = Date.now() + connectTimeoutMs
    do {
      const failure: unknown = await poller.poll(signal).catch((error: unknown) => error)
      if (events.current || signal.aborted) return
      if (Date.now() < deadline) continue
      stopping = undefined
      throw failure instanceof RelayerError ? failure : new RelayerError('NODE_UNAVAILABLE', { facts: { chain }, cause: failure })
    } while (await pause(Math.min(intervalMs, 500), signal))
  }

  return {
    kept,
    get current() {
      return events.current
    },
    get breaks() {
      return poller.breaks
    },
    get finalityLag() {
      return events.finalityLag
    },
    get latestSeenAt() {
      return poller.latestSeenAt
    },
    async start() {
      if (stopping) return
      stopping = new AbortController()
      const { signal } = stopping
      await firstBlock(signal)
      if (!signal.aborted) void loop(signal)
    },
    stop() {
      stopping?.abort()
      stopping = undefined
    },
    subscribe: events.subscribe,
    onPoll(listener) {
      pollListeners.add(listener)
    },
  }
}

type PollerOptions = Pick<HeadsOptions, 'nodes' | 'finality'> & {
  readonly kept: BlockCache
  readonly events: ReturnType<typeof createHeadEvents>
  readonly onLate: () => void
}

/** One look at the chain: its head, then its finality. */
function createPoller({ nodes, kept, finality, events, onLate }: PollerOptions) {
  /** Of the poll that is under way, or was the last: one that was stopped publishes nothing. */
  let polling: AbortSignal | undefined
  /** Blocks are kept that no event has had yet: the poll that found them publishes them. */
  let unpublished = false
  let breaks = 0
  let latestSeenAt = 0
  const onKept = () => {
    unpublished = true
    latestSeenAt = Date.now()
  }
  const follow = createFollow({ nodes, kept, finalized: () => events.current?.finalized ?? 0, onLate, onKept })
  const tag = createFinalityTag(nodes, kept, (height) => unpublished || polling?.aborted || events.publish(nothingNew, height))

  return {
    get breaks() {
      return breaks
    },
    get latestSeenAt() {
      return latestSeenAt
    },
    async poll(signal: AbortSignal): Promise<void> {
      polling = signal
      const [latest, tagged] = await Promise.all([
        nodes.request('eth_getBlockByNumber', ['latest', false]).then(readBlock),
        finality.kind === 'tag' ? readFinalized(nodes) : undefined,
      ])
      if (signal.aborted) return
      const step = await follow(latest, signal)
      if (step.broken) breaks++
      if (step.replaced) tag.reset()
      // The head first: a tag says nothing of ours until it is known to be on the same branch.
      const agreed = finality.kind === 'tag' ? await tag.update(tagged) : undefined
      if (signal.aborted) return
      // What was agreed of the other chain is void, and until more of this one is known, the node's own word is all there is.
      const own = step.replaced && tagged && kept.isCanonical(tagged) ? tagged.height : undefined
      unpublished = false
      events.publish(step, agreed ?? own)
    },
  }
}

async function readFinalized(nodes: Nodes): Promise<BlockRef | undefined> {
  try {
    const block = await nodes.request('eth_getBlockByNumber', ['finalized', false])
    return block === null ? undefined : readBlock(block)
  } catch (error) {
    // Young chains answer "finalized block not found" until the first epoch is final.
    if (error instanceof RpcError) return undefined
    throw error
  }
}

/** Compares the heads of the nodes, if that was not done in the last so many ms. */
function createRank(nodes: Nodes, kept: BlockCache): (everyMs: number) => void {
  let rankedAt = 0
  return (everyMs) => {
    if (Date.now() - rankedAt < everyMs) return
    rankedAt = Date.now()
    void nodes.rank(kept.latest?.height)
  }
}

/** False: it was ended by the signal. */
async function pause(ms: number, signal: AbortSignal): Promise<boolean> {
  await sleep(ms, undefined, { signal }).catch(() => undefined)
  return !signal.aborted
}
