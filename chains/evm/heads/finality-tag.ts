import type { BlockRef } from '../../port.ts'
import type { Nodes } from '../nodes/nodes.ts'
import type { BlockCache } from './block-cache.ts'
import { fetchBlockOfAll } from './blocks.ts'

/**
 * The height that more than half of the nodes tag `finalized`, where the final block is the one that we keep (ours may be of a fork that no node has any more). Never
 * above our head. `onRise`: more than half have come to tag a higher block.
 */
export function createFinalityTag(
  nodes: Pick<Nodes, 'readers' | 'askAll'>,
  kept: Pick<BlockCache, 'latest' | 'lowest' | 'isCanonical'>,
  onRise: (height: number) => void,
) {
  let agreed: number | undefined
  let asking: Promise<void> | undefined
  /** Counts resets: answers from before one are void. */
  let era = 0

  const needed = () => Math.floor(nodes.readers / 2) + 1
  const isKept = (block: BlockRef) => kept.isCanonical(block) === true

  async function ask(own: BlockRef): Promise<void> {
    const started = era
    const tags = nodes.readers > 1 ? await fetchBlockOfAll(nodes, 'finalized', (blocks) => agreedBy(blocks) >= own.height) : [own]
    const height = Math.min(own.height, agreedBy(tags), kept.latest?.height ?? -1)
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
    return heights[needed() - 1] ?? -1
  }

  /** A tag is of another block than ours, or above our head. Do more than half of the nodes have ours? One may lie, or be on a fork of its own. */
  async function isOurs(height: number): Promise<boolean> {
    const shown = await fetchBlockOfAll(nodes, height)
    return shown.filter((block) => block?.height === height && isKept(block)).length >= needed()
  }

  return {
    /** Takes the tag of the node that was asked for the head. Asks the others only above what is agreed, and waits for them only the first time. */
    async update(own: BlockRef | undefined): Promise<number | undefined> {
      if (own !== undefined && own.height > (agreed ?? -1)) {
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
