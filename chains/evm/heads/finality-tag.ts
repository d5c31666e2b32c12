import type { BlockRef } from '../../port.ts'
import type { Nodes } from '../nodes/nodes.ts'
import type { BlockCache } from './block-cache.ts'
import { fetchBlockOfAll } from './blocks.ts'

/** All nodes are asked for their tags after so many polls in which the first showed nothing new. */
const idlePolls = 8

/**
 * The height that more than half of the nodes tag `finalized`, where the final block is the one that we keep (ours may be of a fork that no node has any more). Never
 * above our head. `onRise`: more than half have come to tag a higher block.
 */
export function createFinalityTag(
  nodes: Pick<Nodes, 'readers' | 'needed' | 'askAll'>,
  kept: Pick<BlockCache, 'latest' | 'lowest' | 'isCanonical'>,
  onRise: (height: number) => void,
) {
  let agreed: number | undefined
  let asking: Promise<void> | undefined
  /** Polls in a row in which the node that is asked first showed nothing new. */
  let idle = 0
  /** Counts resets: answers from before one are void. */
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
    // Below all that is kept, nothing of ours becomes final by it.
    if (height >= kept.lowest && !known && !(await isOurs(height))) return
    if (era !== started) return
    agreed = height
    onRise(height)
  }

  /** The highest that more than half tag, or have passed. */
  function agreedBy(tags: readonly (BlockRef | undefined)[]): number {
    const heights = tags.map((block) => block?.height ?? -1).sort((a, b) => b - a)
    return heights[nodes.needed - 1] ?? -1
  }

  /** A tag is of another block than ours, or above our head. Do more than half of the nodes have ours? One may lie, or be on a fork of its own. */
  async function isOurs(height: number): Promise<boolean> {
    const shown = await fetchBlockOfAll(nodes, height)
    return shown.filter((block) => block?.height === height && isKept(block)).length >= nodes.needed
  }

  return {
    /**
     * Takes the tag of the node that is asked first. Asks the others above what is agreed, and now and then where it stands still: it alone must not stop
     * finality. Waits for them only the first time.
     */
    async update(own: BlockRef | undefined): Promise<number | undefined> {
      const isRise = own !== undefined && isAbove(own)
      idle = isRise ? 0 : idle + 1
      if (isRise || (nodes.readers > 1 && idle % idlePolls === 0)) {
        asking ??= ask(own).finally(() => (asking = undefined))
        // A single node has said already what it has to say.
        if (agreed === undefined || nodes.readers === 1) await asking
      }
      return agreed
    },
    /** The chain below the tag was replaced: what was agreed is void. */
    reset() {
      era++
      agreed = undefined
    },
  }
}
