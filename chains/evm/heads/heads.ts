import { setTimeout as sleep } from 'node:timers/promises'
import { RelayerError } from '../../../domain/errors.ts'
import { type FinalityPolicy, finalizedHeight } from '../../../domain/finality.ts'
import type { BlockRef, HeadEvent, Heads } from '../../port.ts'
import { createFinalityTag } from './finality-tag.ts'
import { isBelievable } from './head-sanity.ts'
import { findPath, readBlockAt } from './head-path.ts'
import { toQuantity } from '../hex.ts'
import { type EvmBlock, BlockCache, readBlock } from './block-cache.ts'
import { RpcError } from '../nodes/node-errors.ts'
import type { Nodes } from '../nodes/nodes.ts'

/** A lower head that denies our block is a fork after so many polls in a row; one that merely lags behind, after more. */
const pollsToDenial = 3
const pollsToRetreat = 10
/** How often the heads of the nodes are compared, ms (chainlink-evm NodePool PollInterval). */
const rankEveryMs = 10_000
/** At most so often, where the one that is asked was seen to be late, ms. */
const lateRankMs = 1_000
/** How many observations of the finality lag are remembered. */
const lagsKept = 128

export interface HeadsOptions {
  readonly chain: string
  readonly nodes: Nodes
  readonly finality: FinalityPolicy
  readonly blockTimeMs: number
  readonly connectTimeoutMs?: number
}

/** The tracker with what the rest of the adapter shares. */
export interface EvmHeads extends Heads {
  readonly kept: BlockCache
  /** Called after every poll, changed or not: the one clock of those who must try again. */
  onPoll(listener: () => void): void
  /** True once after each time that continuity broke: blocks were skipped or rolled back below the kept ones. */
  readonly breaks: number
  /** Blocks between the head and the finalized height, the most seen lately. */
  readonly finalityLag: number
  /** When the latest head was first seen, ms since the epoch. */
  readonly latestSeenAt: number
}

/** What a poll has found. */
interface Step {
  readonly applied: readonly EvmBlock[]
  /** Newest first. */
  readonly rolledBack: readonly EvmBlock[]
  /** Blocks that were final are among those that were rolled back. */
  readonly replaced: boolean
}

const nothingNew: Step = { applied: [], rolledBack: [], replaced: false }

/** One poll loop at half the block time; see `Heads` in the port. */
export function createHeads(options: HeadsOptions): EvmHeads {
  const { nodes, finality } = options
  const intervalMs = Math.min(4_000, Math.max(100, options.blockTimeMs / 2))
  const kept = new BlockCache()
  const listeners = new Set<(event: HeadEvent) => void>()
  const pollListeners = new Set<() => void>()
  const lags: number[] = []
  const tag = createFinalityTag(nodes, kept, (height) => unpublished || stopping.signal.aborted || publish(nothingNew, height))
  let current: HeadEvent | undefined
  let stopping = new AbortController()
  let running = false
  /** Blocks are kept that nobody was told of yet: the poll that found them does it. */
  let unpublished = false
  let lowerPolls = 0
  let brokenPolls = 0
  let rankedAt = 0
  let breaks = 0
  let latestSeenAt = 0

  async function poll(): Promise<void> {
    // Of this start: one that was stopped under way is over, also when polling has begun again.
    const { signal } = stopping
    const [latest, tagged] = await Promise.all([
      nodes.request('eth_getBlockByNumber', ['latest', false]).then(readBlock),
      finality.kind === 'tag' ? readFinalized() : undefined,
    ])
    if (signal.aborted) return
    const step = await follow(latest, signal)
    // The head first: a tag says nothing of ours until it is known to be on the same branch.
    const agreed = finality.kind === 'tag' ? await tag.update(tagged) : undefined
    if (signal.aborted) return
    // What was agreed of the other chain is void, and until more of this one is known, the node's own word is all there is.
    const own = step.replaced && tagged && kept.isCanonical(tagged) ? tagged.height : undefined
    publish(step, agreed ?? own)
  }

  async function readFinalized(): Promise<BlockRef | undefined> {
    try {
      const block = await nodes.request('eth_getBlockByNumber', ['finalized', false])
      return block === null ? undefined : readBlock(block)
    } catch (error) {
      // Young chains answer "finalized block not found" until the first epoch is final.
      if (error instanceof RpcError) return undefined
      throw error
    }
  }

  /** Keeps what lies between the kept blocks and a head, if that is believed. */
  async function follow(target: EvmBlock, signal: AbortSignal): Promise<Step> {
    const head = kept.latest
    if (!head || target.height >= head.height) lowerPolls = 0
    else if (!(await isRetreat(target, head))) return nothingNew
    if (head?.hash === target.hash) return nothingNew
    if (!(await isBelievable(nodes, head, target))) {
      rankNodes(lateRankMs)
      return nothingNew
    }
    const path = await findPath(nodes, kept, target)
    if (!path || signal.aborted) return nothingNew
    const final = current?.finalized ?? 0
    if (path.forked && (path.ancestor ?? -1) < final && !(await isFinalityBroken())) return nothingNew
    const rolledBack = path.ancestor === undefined ? (path.forked ? kept.rollBackTo(-1) : []) : kept.rollBackTo(path.ancestor)
    kept.append(path.blocks)
    unpublished = true
    if (path.ancestor === undefined && head) breaks++
    latestSeenAt = Date.now()
    const replaced = (rolledBack.at(-1)?.height ?? Infinity) <= final
    if (replaced) tag.reset()
    return { applied: path.blocks, rolledBack, replaced }
  }

  /**
   * A head below ours: a node that lags, or a chain that really went back (evm_revert, a node that lost its last blocks)? It has gone back when
   * that lasts for some polls and no node vouches for our head any more.
   */
  async function isRetreat(target: EvmBlock, head: EvmBlock): Promise<boolean> {
    lowerPolls++
    rankNodes(lateRankMs)
    const denied = kept.at(target.height)?.hash !== target.hash
    if (lowerPolls < (denied ? pollsToDenial : pollsToRetreat)) return false
    const answers = await nodes.askAll('eth_getBlockByNumber', [toQuantity(head.height), false])
    return !answers.some((answer) => answer.ok && answer.result !== null && readBlockAt(answer.result)?.hash === head.hash)
  }

  /**
   * A fork that takes back what was final is believed when more than half of the nodes show another block at the finalized height, in some polls
   * in a row: the chain was replaced, or reorganised deeper than its finality. Else it is a node on a fork of its own.
   */
  async function isFinalityBroken(): Promise<boolean> {
    const final = kept.at(current?.finalized ?? 0)
    if (!final) return true
    const answers = await nodes.askAll('eth_getBlockByNumber', [toQuantity(final.height), false])
    const others = answers.filter((answer) => answer.ok && readBlockAt(answer.result)?.hash !== final.hash)
    brokenPolls = others.length * 2 > nodes.readers ? brokenPolls + 1 : 0
    if (brokenPolls < pollsToDenial) return false
    brokenPolls = 0
    return true
  }

  function publish({ applied, rolledBack, replaced }: Step, tagged: number | undefined): void {
    unpublished = false
    const latest = kept.latest
    if (!latest) return
    const before = current?.finalized ?? 0
    const computed = finalizedHeight(finality, latest.height, tagged)
    // Finality only grows, unless the chain below it was replaced: what was agreed before is of the other chain then.
    const finalized = Math.min(latest.height, replaced ? computed : Math.max(before, computed))
    if (current && applied.length === 0 && rolledBack.length === 0 && finalized === before) return
    lags.push(latest.height - finalized)
    if (lags.length > lagsKept) lags.shift()
    kept.prune(finalized)
    const event: HeadEvent = { applied, rolledBack: rolledBack.map(({ height, hash }) => ({ height, hash })), latest, finalized }
    current = event
    for (const listener of [...listeners]) isolate(() => listener(event))
  }

  function rankNodes(everyMs: number): void {
    if (Date.now() - rankedAt < everyMs) return
    rankedAt = Date.now()
    void nodes.rank(kept.latest?.height)
  }

  async function loop(signal: AbortSignal): Promise<void> {
    let tookMs = 0
    for (;;) {
      await sleep(Math.max(10, intervalMs - tookMs), undefined, { signal }).catch(() => undefined)
      if (signal.aborted) return
      const started = Date.now()
      rankNodes(rankEveryMs)
      // A failed poll changes nothing: the next one, perhaps of another node, tells what happened meanwhile.
      await poll().catch(() => undefined)
      tookMs = Date.now() - started
      if (signal.aborted) return
      for (const listener of pollListeners) isolate(listener)
    }
  }

  return {
    kept,
    get current() {
      return current
    },
    get breaks() {
      return breaks
    },
    get finalityLag() {
      return Math.max(0, ...lags)
    },
    get latestSeenAt() {
      return latestSeenAt
    },
    async start() {
      if (running) return
      running = true
      stopping = new AbortController()
      const deadline = Date.now() + (options.connectTimeoutMs ?? 15_000)
      for (;;) {
        const failure = await poll().then(
          () => undefined,
          (error: unknown) => error,
        )
        if (stopping.signal.aborted) return
        if (current) break
        if (Date.now() >= deadline) {
          running = false
          throw failure instanceof RelayerError
            ? failure
            : new RelayerError('NODE_UNAVAILABLE', { facts: { chain: options.chain }, cause: failure })
        }
        await sleep(Math.min(intervalMs, 500), undefined, { signal: stopping.signal }).catch(() => undefined)
      }
      void loop(stopping.signal)
    },
    stop() {
      running = false
      stopping.abort()
    },
    subscribe(listener) {
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },
    onPoll(listener) {
      pollListeners.add(listener)
    },
  }
}

/** A listener's throw is its own problem; it surfaces as a warning of the process, not in the loop. */
function isolate(listener: () => void): void {
  try {
    listener()
  } catch (error) {
    process.emitWarning(error instanceof Error ? error : String(error))
  }
}
