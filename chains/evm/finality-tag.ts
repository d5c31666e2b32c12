import { readBlockAt } from './head-path.ts'
import type { NodeAnswer, Nodes } from './nodes.ts'

/** The height that more than half of the nodes tag `finalized`: what one of them holds final may still be open for the others. */
export interface FinalityTag {
  /**
   * Told of the tag of the node that was asked for the head. Asks the others only when it is above what is agreed, and waits for them only the
   * first time.
   */
  update(own: number | undefined): Promise<number | undefined>
  /** The chain below the tag was replaced: what was agreed is void. */
  reset(): void
}

/** @param onRise called when more than half have come to tag a higher block */
export function createFinalityTag(nodes: Nodes, onRise: (height: number) => void): FinalityTag {
  let agreed: number | undefined
  let asking: Promise<void> | undefined
  /** Counts resets: answers from before one are void. */
  let era = 0

  async function ask(own: number): Promise<void> {
    const started = era
    const needed = Math.floor(nodes.readers / 2) + 1
    const highest = (answers: readonly NodeAnswer[]) => answers.flatMap(heightOf).sort((a, b) => b - a)[needed - 1] ?? -1
    const answers = await nodes.askAll('eth_getBlockByNumber', ['finalized', false], (_, all) => highest(all) >= own)
    const height = Math.min(own, highest(answers))
    if (era !== started || height <= (agreed ?? -1)) return
    agreed = height
    onRise(height)
  }

  return {
    async update(own) {
      if (own === undefined) return agreed
      if (nodes.readers === 1) return (agreed = own)
      if (own > (agreed ?? -1)) {
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

function heightOf(answer: NodeAnswer): number[] {
  if (!answer.ok) return []
  try {
    const block = readBlockAt(answer.result)
    return block ? [block.height] : []
  } catch {
    return []
  }
}
