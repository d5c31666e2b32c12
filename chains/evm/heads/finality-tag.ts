import type { BlockRef } from '../../port.ts'
import type { Nodes } from '../nodes/nodes.ts'
import type { BlockCache } from './block-cache.ts'
import { fetchBlockOfAll } from './blocks.ts'

const idlePolls = 8

/** Finds the height that most nodes call `finalized`, if most nodes also have the cached block of this height. */
export function createFinalityTag(
  nodes: Pick<Nodes, 'readers' | 'needed' | 'askAll'>,
  kept: Pick<BlockCache, 'latest' | 'lowest' | 'isCanonical'>,
  onRise: (height: number) => void,
) {
  let agreed: number | undefined
  let asking: Promise<void> | undefined
  let idle = 0
  let resets = 0

  const isAbove = (block: BlockRef) => block.height > (agreed ?? -1)
  const isKept = (block: BlockRef) => kept.isCanonical(block) === true

  async function ask(own: BlockRef | undefined): Promise<void> {
    const resetsBefore = resets
    const most = own && isAbove(own) ? own.height : Infinity
    const tags = nodes.readers > 1 ? await fetchBlockOfAll(nodes, 'finalized', (blocks) => agreedBy(blocks) >= most) : [own]
    const height = Math.min(most, agreedBy(tags), kept.latest?.height ?? -1)
    if (resets !== resetsBefore || height <= (agreed ?? -1)) return
    const tagged = [own, ...tags].filter((block) => block?.height === height)
    const known = tagged.length > 0 && tagged.every((block) => block && isKept(block))
    if (height >= kept.lowest && !known && !(await isOurs(height))) return
    if (resets !== resetsBefore) return
    agreed = height
    onRise(height)
  }

  function agreedBy(tags: readonly (BlockRef | undefined)[]): number {
    const heights = tags.map((block) => block?.height ?? -1).sort((a, b) => b - a)
    return heights[nodes.needed - 1] ?? -1
  }

  async function isOurs(height: number): Promise<boolean> {
    const shown = await fetchBlockOfAll(nodes, height)
    return shown.filter((block) => block?.height === height && isKept(block)).length >= nodes.needed
  }

  return {
    /**
     * Takes a node's final block, and returns the agreed height. Also asks all nodes at intervals, so that one node
     * cannot stop finality.
     */
    async update(own: BlockRef | undefined): Promise<number | undefined> {
      const isRise = own !== undefined && isAbove(own)
      idle = isRise ? 0 : idle + 1
      if (isRise || (nodes.readers > 1 && idle % idlePolls === 0)) {
        asking ??= ask(own).finally(() => (asking = undefined))
        // Awaits only the first height, because `onRise` reports later ones. With one node, awaits every height.
        if (agreed === undefined || nodes.readers === 1) await asking
      }
      return agreed
    },
    reset() {
      resets++
      agreed = undefined
    },
  }
}
