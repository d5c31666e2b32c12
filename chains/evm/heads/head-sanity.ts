import { toQuantity } from '../hex.ts'
import { readBlockAt } from './head-path.ts'
import type { EvmBlock } from './block-cache.ts'
import { longestGap } from '../nodes/head-lags.ts'
import type { Nodes } from '../nodes/nodes.ts'

/** An honest node may be so many blocks behind the one with the highest head. */
const slack = 64

/**
 * A head that is far above ours, and the first head, are linked to no known block: one node's word. A far one is believed when more than half of the
 * nodes have come as far; the first one unless more than half say that they have not (some may be down when a process starts).
 * @param head ours; absent: there is none yet
 */
export async function isBelievable(nodes: Nodes, head: EvmBlock | undefined, target: EvmBlock): Promise<boolean> {
  if (nodes.readers < 2 || (head && target.height - head.height <= longestGap)) return true
  const height = Math.max(0, target.height - slack)
  const answers = await nodes.askAll('eth_getBlockByNumber', [toQuantity(height), false])
  const told = answers.filter((answer) => answer.ok)
  const there = told.filter(({ result }) => isAt(result, height)).length
  return head ? there * 2 > nodes.readers : (told.length - there) * 2 <= nodes.readers
}

function isAt(result: unknown, height: number): boolean {
  try {
    return readBlockAt(result)?.height === height
  } catch {
    return false
  }
}
