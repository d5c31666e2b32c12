import type { BlockHeader } from '../../port.ts'
import { readBlockAt } from './head-path.ts'
import { toQuantity } from '../hex.ts'
import type { Nodes } from '../nodes/nodes.ts'
import type { Quorum } from '../nodes/quorum.ts'

const method = 'eth_getBlockByNumber'

/** Reads blocks by height, without their transactions. */
export function createBlocks(nodes: Nodes, quorum: Quorum) {
  return async function block(height: number, at: 'latest' | 'agreed'): Promise<BlockHeader | undefined> {
    const params = [toQuantity(height), false] as const
    if (at === 'latest') return toHeader(await nodes.request(method, params))
    return quorum.agree({ about: `block ${height}`, method, params: () => params, read: toHeader, key: (header) => header?.hash ?? 'none' })
  }
}

function toHeader(value: unknown): BlockHeader | undefined {
  const block = readBlockAt(value)
  return block && { height: block.height, hash: block.hash, parentHash: block.parentHash, timestamp: block.timestamp }
}
