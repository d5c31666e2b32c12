import { setTimeout as sleep } from 'node:timers/promises'
import { RelayerError } from '../../../domain/errors.ts'
import type { FinalityPolicy } from '../../../domain/finality.ts'
import { isolate } from '../isolate.ts'
import { RpcError } from '../nodes/node-errors.ts'
import type { Nodes } from '../nodes/nodes.ts'
import { type BlockCache, createBlockCache } from './block-cache.ts'
import { blockCall, type EvmBlock, fetchBlock, readBlock } from './blocks.ts'
import { createFinalityTag } from './finality-tag.ts'
import { createFollow, nothingNew } from './follow.ts'
import { createHeadEvents } from './head-events.ts'

/** How often the heads of the nodes are compared, ms (chainlink-evm NodePool PollInterval). */
const rankEveryMs = 10_000
/** At most so often where the node that is asked was seen to be late, ms. */
const lateRankMs = 1_000
/** Longest wait for the first block, ms. */
const connectTimeoutMs = 15_000

/** The head tracker, with what the rest of the adapter shares. */
export type EvmHeads = ReturnType<typeof createHeads>

/** One poll loop at half the block time; see `Heads` in the port. */
export function createHeads(chain: string, nodes: Nodes, finality: FinalityPolicy, blockTimeMs: number) {
  const intervalMs = Math.min(4_000, Math.max(100, blockTimeMs / 2))
  const kept = createBlockCache()
  const events = createHeadEvents(kept, finality)
  const pollListeners = new Set<() => void>()
  const poll = createPoll(nodes, kept, finality, events, () => rank(lateRankMs))
  let stopping: AbortController | undefined
  let rankedAt = 0

  /** Compares the heads of the nodes, if that was not done in the last so many ms. */
  function rank(everyMs: number): void {
    if (Date.now() - rankedAt < everyMs) return
    rankedAt = Date.now()
    void nodes.rank(kept.latest?.height)
  }

  async function loop(signal: AbortSignal): Promise<void> {
    let tookMs = 0
    while (await pause(Math.max(10, intervalMs - tookMs), signal)) {
      const started = Date.now()
      rank(rankEveryMs)
      // A failed poll changes nothing: the next one, perhaps of another node, tells what happened meanwhile.
      await poll(signal).catch(() => undefined)
      tookMs = Date.now() - started
      if (signal.aborted) return
      for (const listener of pollListeners) isolate(listener)
    }
  }

  /** Polls until there is a first block. Throws NODE_UNAVAILABLE, or why the last poll failed, if none came in time. */
  async function firstBlock(signal: AbortSignal): Promise<void> {
    const deadline = Date.now() + connectTimeoutMs
    do {
      const failure: unknown = await poll(signal).catch((error: unknown) => error)
      if (events.current || signal.aborted) return
      if (Date.now() < deadline) continue
      stopping = undefined
      throw failure instanceof RelayerError ? failure : new RelayerError('NODE_UNAVAILABLE', { facts: { chain }, cause: failure })
    } while (await pause(Math.min(intervalMs, 500), signal))
  }

  // Onto the events themselves: their values change, and a copy would not.
  return Object.assign(events, {
    kept,
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
    /** Called after every poll, changed or not: the clock of all retries on this chain. */
    onPoll(listener: () => void) {
      pollListeners.add(listener)
    },
  })
}

/** One look at the chain: its head, then its finality. */
function createPoll(
  nodes: Nodes,
  kept: BlockCache,
  finality: FinalityPolicy,
  events: ReturnType<typeof createHeadEvents>,
  onLate: () => void,
) {
  /** Of the poll that is under way, or was the last: one that was stopped publishes nothing. */
  let polling: AbortSignal | undefined
  const follow = createFollow(nodes, kept, () => events.current?.finalized ?? 0, onLate)
  const tag = createFinalityTag(nodes, kept, (height) => {
    // Blocks that no event has had yet are published by the poll that found them.
    const isPublished = kept.latest === events.current?.latest
    if (isPublished && !polling?.aborted) events.publish(nothingNew, height)
  })

  return async function poll(signal: AbortSignal): Promise<void> {
    polling = signal
    const { method, params } = blockCall('latest')
    const [latest, tagged] = await Promise.all([
      nodes.request(method, params()).then(readBlock),
      finality.kind === 'tag' ? readFinalized(nodes) : undefined,
    ])
    if (signal.aborted) return
    const step = await follow(latest, signal)
    if (step.replaced) tag.reset()
    // The head first: a tag says nothing of ours until it is known to be on the same branch.
    const agreed = finality.kind === 'tag' ? await tag.update(tagged) : undefined
    if (signal.aborted) return
    // What was agreed of the other chain is void, and until more of this one is known, the node's own word is all there is.
    const own = step.replaced && tagged && kept.isCanonical(tagged) ? tagged.height : undefined
    events.publish(step, agreed ?? own)
  }
}

async function readFinalized(nodes: Nodes): Promise<EvmBlock | undefined> {
  try {
    return await fetchBlock(nodes, 'finalized')
  } catch (error) {
    // Young chains answer "finalized block not found" until the first epoch is final.
    if (error instanceof RpcError) return undefined
    throw error
  }
}

/** False: it was ended by the signal. */
async function pause(ms: number, signal: AbortSignal): Promise<boolean> {
  await sleep(ms, undefined, { signal }).catch(() => undefined)
  return !signal.aborted
}
