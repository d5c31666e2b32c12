import { toQuantity } from '../hex.ts'
import type { Nodes } from '../nodes/nodes.ts'
import type { BlockCache, EvmBlock } from './block-cache.ts'
import { findPath, readBlockAt } from './head-path.ts'
import { isBelievable } from './head-sanity.ts'

/** A lower head of another branch is believed after so many polls in a row; one of ours, which may only lag, after more. */
const pollsOfFork = 3
const pollsOfRetreat = 10

/** What a poll has found. */
export interface Step {
  readonly applied: readonly EvmBlock[]
  /** Newest first. */
  readonly rolledBack: readonly EvmBlock[]
  /** Blocks that were final are among those that were rolled back. */
  readonly replaced: boolean
  /** Continuity broke: blocks were skipped, or rolled back below the kept ones. */
  readonly broken?: boolean
}

export const nothingNew: Step = { applied: [], rolledBack: [], replaced: false }

export interface FollowOptions {
  readonly nodes: Nodes
  readonly kept: BlockCache
  readonly finalized: () => number
  /** The node that was asked was seen to be late: the nodes are to be compared soon. */
  readonly onLate: () => void
  /** Blocks are kept that no event has had yet. */
  readonly onKept: () => void
}

/** Keeps what lies between the cached blocks and a head, if that head is believed. */
export function createFollow({ nodes, kept, finalized, onLate, onKept }: FollowOptions) {
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
    const answers = await nodes.askAll('eth_getBlockByNumber', [toQuantity(head.height), false])
    return !answers.some((answer) => answer.ok && answer.result !== null && readBlockAt(answer.result)?.hash === head.hash)
  }

  /**
   * A fork that takes back what was final is believed when more than half of the nodes show another block at the finalized height, in some polls
   * in a row: the chain was replaced, or reorganised deeper than its finality. Else it is a node on a fork of its own.
   */
  async function isFinalityBroken(): Promise<boolean> {
    const final = kept.at(finalized())
    if (!final) return true
    const answers = await nodes.askAll('eth_getBlockByNumber', [toQuantity(final.height), false])
    const others = answers.filter((answer) => answer.ok && readBlockAt(answer.result)?.hash !== final.hash)
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
    onKept()
    const replaced = (rolledBack.at(-1)?.height ?? Infinity) <= finalized()
    return { applied: blocks, rolledBack, replaced, broken: ancestor === undefined && head !== undefined }
  }
}
