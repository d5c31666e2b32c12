import type { BlockRef } from '../port.ts'
import { readBlockAt } from './head-path.ts'
import { toQuantity } from './hex.ts'
import type { NodeAnswer, Nodes } from './nodes.ts'

/**
 * The height that more than half of the nodes tag `finalized`: what one of them holds final may still be open for the others. It is taken where the
 * tagged block is the one that we keep at its height: after a fork that we have not followed yet, ours is of a branch that no node has any more.
 */
export interface FinalityTag {
  /**
   * Told of the tag of the node that was asked for the head. Asks the others only when it is above what is agreed, and waits for them only the
   * first time.
   */
  update(own: BlockRef | undefined): Promise<number | undefined>
  /** The chain below the tag was replaced: what was agreed is void. */
  reset(): void
}

/**
 * @param keptAt hash of the block that is kept at a height; undefined: none is
 * @param onRise called when more than half have come to tag a higher block
 */
export function createFinalityTag(
  nodes: Nodes,
  keptAt: (height: number) => string | undefined,
  onRise: (height: number) => void,
): FinalityTag {
  let agreed: number | undefined
  let asking: Promise<void> | undefined
  /** Counts resets: answers from before one are void. */
  let era = 0

  const needed = () => Math.floor(nodes.readers / 2) + 1
  const isKept = ({ height, hash }: BlockRef) => (keptAt(height) ?? hash) === hash

  async function ask(own: BlockRef): Promise<void> {
    const started = era
    const highest = (answers: readonly NodeAnswer[]) =>
      answers
        .flatMap(blockOf)
        .map(({ height }) => height)
        .sort((a, b) => b - a)[needed() - 1] ?? -1
    const answers = await nodes.askAll('eth_getBlockByNumber', ['finalized', false], (_, all) => highest(all) >= own.height)
    const height = Math.min(own.height, highest(answers))
    if (era !== started || height <= (agreed ?? -1)) return
    const tagged = [own, ...answers.flatMap(blockOf)].filter((block) => block.height === height)
    if (!tagged.every(isKept) && !(await isOurs(height))) return
    if (era !== started) return
    agreed = height
    onRise(height)
  }

  /** A tag is of another block than ours. Do more than half of the nodes have ours all the same? One may lie, or be on a fork of its own. */
  async function isOurs(height: number): Promise<boolean> {
    const answers = await nodes.askAll('eth_getBlockByNumber', [toQuantity(height), false])
    return answers.flatMap(blockOf).filter(isKept).length >= needed()
  }

  return {
    async update(own) {
      if (own === undefined) return agreed
      if (nodes.readers === 1) return isKept(own) ? (agreed = own.height) : agreed
      if (own.height > (agreed ?? -1)) {
        asking ??= ask(own).finally(() => (asking = undefined))
        if (agreed === undefined) await asking
      }
      return agreed
    },
    reset() {
      era++
      agreed = undefined
    },
  }
}

function blockOf(answer: NodeAnswer): BlockRef[] {
  if (!answer.ok) return []
  try {
    const block = readBlockAt(answer.result)
    return block ? [block] : []
  } catch {
    return []
  }
}
