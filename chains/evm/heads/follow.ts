import { longestGap } from '../nodes/head-lags.ts'
import type { Nodes } from '../nodes/nodes.ts'
import type { BlockCache } from './block-cache.ts'
import { type EvmBlock, fetchBlockOfAll } from './blocks.ts'
import { findPath } from './head-path.ts'

/** A lower head of another branch is believed after so many polls in a row; one of ours, which may only lag, after more. */
const pollsOfFork = 3
const pollsOfRetreat = 10
/** An honest node may be so many blocks behind the one with the highest head. */
const slack = 64

/** What a poll has found. */
export interface Step {
  readonly applied: readonly EvmBlock[]
  /** Newest first. */
  readonly rolledBack: readonly EvmBlock[]
  /** Blocks that were final are among those that were rolled back. */
  readonly replaced: boolean
  /** Continuity broke: blocks were skipped, or rolled back below the kept ones. */
  readonly broken: boolean
}

export const nothingNew: Step = { applied: [], rolledBack: [], replaced: false, broken: false }

/**
 * Keeps what lies between the cached blocks and a head, if that head is believed.
 * @param onLate the node that was asked was seen to be late: the nodes are to be compared soon
 */
export function createFollow(nodes: Nodes, kept: BlockCache, finalized: () => number, onLate: () => void) {
  let lowerPolls = 0
  let brokenPolls = 0

  /**
   * A head below ours: does the node lag, or has the chain gone back (evm_revert, a node that lost its last blocks)? It has gone back when the lower head
   * lasts for some polls and no node has our head any more.
   */
  async function isRetreat(target: EvmBlock, head: EvmBlock): Promise<boolean> {
    lowerPolls++
    onLate()
    const isFork = kept.at(target.height)?.hash !== target.hash
    if (lowerPolls < (isFork ? pollsOfFork : pollsOfRetreat)) return false
    const shown = await fetchBlockOfAll(nodes, head.height)
    return !shown.some((block) => block?.hash === head.hash)
  }

  /**
   * A fork that takes back what was final is believed when more than half of the nodes show another block at the finalized height, in some polls
   * in a row: the chain was replaced, or reorganised deeper than its finality. Else it is a node on a fork of its own.
   */
  async function isFinalityBroken(): Promise<boolean> {
    const final = kept.at(finalized())
    if (!final) return true
    const others = (await fetchBlockOfAll(nodes, final.height)).filter((block) => block?.hash !== final.hash)
    brokenPolls = others.length * 2 > nodes.readers ? brokenPolls + 1 : 0
    if (brokenPolls < pollsOfFork) return false
    brokenPolls = 0
    return true
  }

  return async function follow(target: EvmBlock, signal: AbortSignal): Promise<Step> {
    const head = kept.latest
    if (!head || target.height >= head.height) lowerPolls = 0
    else if (!(await isRetreat(target, head))) return nothingNew
    if (head?.hash === target.hash) return nothingNew
    if (!(await isBelievable(nodes, head, target))) {
      onLate()
      return nothingNew
    }
    const path = await findPath(nodes, kept, target)
    if (!path || signal.aborted) return nothingNew
    const { ancestor, forked, blocks } = path
    if (forked && (ancestor ?? -1) < finalized() && !(await isFinalityBroken())) return nothingNew
    const rolledBack = ancestor !== undefined || forked ? kept.rollBackTo(ancestor ?? -1) : []
    kept.append(blocks)
    const replaced = (rolledBack.at(-1)?.height ?? Infinity) <= finalized()
    return { applied: blocks, rolledBack, replaced, broken: ancestor === undefined && head !== undefined }
  }
}

/**
 * A head that is far above ours, and the first head, are linked to no known block: one node's word. A far one is believed when more than half of the
 * nodes have come as far; the first one unless more than half say that they have not (some may be down when a process starts).
 * @param head ours; absent: there is none yet
 */
async function isBelievable(nodes: Nodes, head: EvmBlock | undefined, target: EvmBlock): Promise<boolean> {
  if (nodes.readers < 2 || (head && target.height - head.height <= longestGap)) return true
  const height = Math.max(0, target.height - slack)
  const shown = await fetchBlockOfAll(nodes, height)
  const there = shown.filter((block) => block?.height === height).length
  return head ? there * 2 > nodes.readers : (shown.length - there) * 2 <= nodes.readers
}
