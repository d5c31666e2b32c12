import type { BlockRef } from '../../port.ts'
import type { Nodes } from '../nodes/nodes.ts'
import { majorityHeight } from '../../heads.ts'
import type { BlockCache } from './block-cache.ts'
import type { EvmBlock } from './blocks.ts'

const mostAbove = 256

export interface ShownHead {
  readonly node: string
  readonly block: EvmBlock
}

/** At the height of more than half of `readers`, the block with the most votes. Undefined: no answer. */
export function chooseHead(shown: readonly ShownHead[], readers: number, kept: Pick<BlockCache, 'at'>): EvmBlock | undefined {
  const blocks = shown.map(({ block }) => block)
  const height = majorityHeight(
    blocks.map((block) => block.height),
    readers,
  )
  const isOurs = (block: EvmBlock) => kept.at(block.height)?.hash === block.hash || kept.at(block.height - 1)?.hash === block.parentHash
  const rated = blocks
    .filter((block) => block.height === height)
    .map((block) => ({ block, votes: votesFor(block, blocks), ours: Number(isOurs(block)), same: sameContent(block, blocks) }))
  return rated.sort((a, b) => b.votes - a.votes || b.ours - a.ours || b.same - a.same)[0]?.block
}

function votesFor({ hash, height }: EvmBlock, blocks: readonly EvmBlock[]): number {
  return blocks.filter((other) => other.hash === hash || (other.height === height + 1 && other.parentHash === hash)).length
}

export function sameContent({ hash, transactions }: EvmBlock, blocks: readonly EvmBlock[]): number {
  const list = transactions.join()
  return blocks.filter((other) => other.hash === hash && other.transactions.join() === list).length
}

/** How far the nodes share our chain. An invented branch is one node's only. */
export function createShownHeads(nodes: Pick<Nodes, 'readers' | 'voterNames'>, kept: Pick<BlockCache, 'isCanonical' | 'latest'>) {
  const shared = new Map<string, number>()
  /** Heads above ours, oldest first. Compared once ours gets there. */
  const above = new Map<string, readonly BlockRef[]>()

  function judge(node: string, block: BlockRef): void {
    if (kept.isCanonical(block)) shared.set(node, Math.max(shared.get(node) ?? 0, block.height))
  }

  return {
    /** Call after our head was updated. */
    note(shown: readonly ShownHead[]): void {
      const height = kept.latest?.height ?? -1
      for (const { node, block } of shown) {
        judge(node, block)
        judge(node, { height: block.height - 1, hash: block.parentHash })
        if (block.height > height) above.set(node, [...(above.get(node) ?? []), block].slice(-mostAbove))
      }
      for (const [node, blocks] of above) {
        for (const block of blocks) if (block.height <= height) judge(node, block)
        above.set(
          node,
          blocks.filter((block) => block.height > height),
        )
      }
    },
    /** Height up to which more than half share our chain. Undefined: too few do. */
    get reached(): number | undefined {
      const heights = nodes.voterNames.flatMap((name) => shared.get(name) ?? [])
      return heights.length * 2 > nodes.readers ? majorityHeight(heights, nodes.readers) : undefined
    },
    rolledBackTo(height: number): void {
      for (const [node, highest] of shared) shared.set(node, Math.min(highest, height))
    },
  }
}
