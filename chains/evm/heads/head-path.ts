import { longestGap } from '../nodes/head-lags.ts'
import type { Nodes } from '../nodes/nodes.ts'
import type { BlockCache } from './block-cache.ts'
import { type EvmBlock, fetchBlock } from './blocks.ts'

/** Blocks read in one batch while a gap or a fork is filled. */
const batchSize = 50
/** A fork is looked for this far back at first, then four times as far. */
const firstStep = 4

/** The blocks from a common ancestor to a new head. */
interface Path {
  /** Ascending, linked by parent hash; the last is the new head. */
  readonly blocks: readonly EvmBlock[]
  /** Height of the highest cached block that stays; undefined if the path meets none. */
  readonly ancestor: number | undefined
  /** True when the path goes past cached blocks of other hashes. */
  readonly forked: boolean
}

/**
 * Reads what lies between the cached blocks and a new head, in bounded batches. Undefined when the answers do not link (the chain moved, or two
 * nodes disagree): the next poll tries again. Throws as `Nodes.request` does.
 */
export async function findPath(nodes: Nodes, kept: BlockCache, target: EvmBlock): Promise<Path | undefined> {
  const head = kept.latest
  // Watched transactions are looked up by their receipts instead.
  if (!head || target.height - head.height > longestGap) return { blocks: [target], ancestor: undefined, forked: false }
  let blocks: EvmBlock[] = [target]
  let step = firstStep
  for (;;) {
    const joined = join(kept, blocks)
    if (joined) return joined
    const lowest = blocks[0] as EvmBlock
    const gap = lowest.height - 1 - head.height
    const size = gap > 0 ? Math.min(gap, batchSize) : Math.min(step, batchSize, lowest.height)
    if (gap <= 0) step *= 4
    const heights = Array.from({ length: size }, (_, index) => lowest.height - size + index)
    const found = await Promise.all(heights.map((height) => fetchBlock(nodes, height)))
    if (found.some((block, index) => block?.height !== heights[index])) return undefined
    blocks = [...(found as EvmBlock[]), ...blocks]
    if (!linked(blocks)) return undefined
  }
}

/** Where do these blocks meet the kept ones? Undefined: not yet, read further back. */
function join(kept: BlockCache, blocks: readonly EvmBlock[]): Path | undefined {
  // The highest block that we have already is the ancestor (a fork search may have gone back further than needed, or the head retreated).
  const known = blocks.findLastIndex((block) => kept.at(block.height)?.hash === block.hash)
  if (known >= 0) return { blocks: blocks.slice(known + 1), ancestor: blocks[known]?.height, forked: true }
  const lowest = blocks[0] as EvmBlock
  const parent = kept.at(lowest.height - 1)
  if (parent?.hash === lowest.parentHash) return { blocks, ancestor: parent.height, forked: false }
  // Below all that is kept, or at genesis: nothing of ours stays.
  if (lowest.height <= kept.lowest || lowest.height === 0) return { blocks, ancestor: undefined, forked: true }
  return undefined
}

function linked(blocks: readonly EvmBlock[]): boolean {
  return blocks.every((block, index) => index === 0 || block.parentHash === blocks[index - 1]?.hash)
}
