import type { BlockRef } from '../../port.ts'
import type { Nodes } from '../nodes/nodes.ts'
import type { BlockCache } from './block-cache.ts'
import { fetchBlockOfAll } from './blocks.ts'

/** Polls without a higher tag of the first node after which all nodes are asked. */
const idlePolls = 8

/**
 * The height that more than half of the nodes tag `finalized`, if our block at that height is theirs: ours may be of an
 * abandoned fork. Never above our head. `onRise`: the agreed height rose.
 */
export function createFinalityTag(
  nodes: Pick<Nodes, 'readers' | 'needed' | 'askAll'>,
  kept: Pick<BlockCache, 'latest' | 'lowest' | 'isCanonical'>,
  onRise: (height: number) => void,
) {
  let agreed: number | undefined
  let asking: Promise<void> | undefined
  /** Polls in a row without a higher tag of the first node. */
  let idle = 0
  /** Counts resets, which void earlier answers. */
  let era = 0

  const isAbove = (block: BlockRef) => block.height > (agreed ?? -1)
  const isKept = (block: BlockRef) => kept.isCanonical(block) === true

  async function ask(own: BlockRef | undefined): Promise<void> {
    const started = era
    const most = own && isAbove(own) ? own.height : Infinity
    const tags = nodes.readers > 1 ? await fetchBlockOfAll(nodes, 'finalized', (blocks) => agreedBy(blocks) >= most) : [own]
    const height = Math.min(most, agreedBy(tags), kept.latest?.height ?? -1)
    if (era !== started || height <= (agreed ?? -1)) return
    const tagged = [own, ...tags].filter((block) => block?.height === height)
    const known = tagged.length > 0 && tagged.every((block) => block && isKept(block))
    // A height below the cached blocks makes no cached block final.
    if (height >= kept.lowest && !known && !(await isOurs(height))) return
    if (era !== started) return
    agreed = height
    onRise(height)
  }

  /** The highest height that more than half have tagged or passed. */
  function agreedBy(tags: readonly (BlockRef | undefined)[]): number {
    const heights = tags.map((block) => block?.height ?? -1).sort((a, b) => b - a)
    return heights[nodes.needed - 1] ?? -1
  }

  /** Whether more than half of the nodes have our block at a tagged height. One node may lie or be on its own fork. */
  async function isOurs(height: number): Promise<boolean> {
    const shown = await fetchBlockOfAll(nodes, height)
    return shown.filter((block) => block?.height === height && isKept(block)).length >= nodes.needed
  }

  return {
    /**
     * Takes the first node's tag. Asks the others if it rose, and at intervals if it did not: one node must not stop
     * finality. Waits for them only the first time.
     */
    async update(own: BlockRef | undefined): Promise<number | undefined> {
      const isRise = own !== undefined && isAbove(own)
      idle = isRise ? 0 : idle + 1
      if (isRise || (nodes.readers > 1 && idle % idlePolls === 0)) {
        asking ??= ask(own).finally(() => (asking = undefined))
        // A single node has already answered.
        if (agreed === undefined || nodes.readers === 1) await asking
      }
      return agreed
    },
    /** The chain below the tag was replaced. */
    reset() {
      era++
      agreed = undefined
    },
  }
}
