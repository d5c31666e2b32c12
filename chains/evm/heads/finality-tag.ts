import type { BlockRef } from '../../port.ts'
import type { Nodes } from '../nodes/nodes.ts'
import type { BlockCache } from './block-cache.ts'
import { fetchBlockOfAll } from './blocks.ts'

/** All nodes are asked after this many polls without a higher tag. */
const idlePolls = 8

/** The `finalized` height of more than half of the nodes, if they have our block there, since ours may be a fork. */
export function createFinalityTag(
  nodes: Pick<Nodes, 'readers' | 'needed' | 'askAll'>,
  kept: Pick<BlockCache, 'latest' | 'lowest' | 'isCanonical'>,
  onRise: (height: number) => void,
) {
  let agreed: number | undefined
  let asking: Promise<void> | undefined
  let idle = 0
  /** Counts resets. Answers to questions from before a reset are dropped. */
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
    // A height below the cached blocks needs no check, because it makes no cached block final.
    if (height >= kept.lowest && !known && !(await isOurs(height))) return
    if (era !== started) return
    agreed = height
    onRise(height)
  }

  function agreedBy(tags: readonly (BlockRef | undefined)[]): number {
    const heights = tags.map((block) => block?.height ?? -1).sort((a, b) => b - a)
    return heights[nodes.needed - 1] ?? -1
  }

  /** One node may lie or be on its own fork, so more than half must have our block at the tagged height. */
  async function isOurs(height: number): Promise<boolean> {
    const shown = await fetchBlockOfAll(nodes, height)
    return shown.filter((block) => block?.height === height && isKept(block)).length >= nodes.needed
  }

  return {
    /** Asks the other nodes if the first node's tag rose, and at intervals, since one node must not stop finality. */
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
    reset() {
      era++
      agreed = undefined
    },
  }
}
