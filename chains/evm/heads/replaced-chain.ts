import type { BlockRef } from '../../port.ts'
import type { FinalityPolicy } from '../../../domain/finality.ts'
import { toQuantity } from '../hex.ts'
import { readBlockAt } from './head-path.ts'
import type { BlockCache } from './block-cache.ts'
import type { Nodes } from '../nodes/nodes.ts'
import type { Quorum } from '../nodes/quorum.ts'

/** A chain that is this many blocks below a block that it had finalized was replaced. Full nodes keep states for as many blocks. */
const farBelow = 128

/** See `Chain.denies`. A node that lags only a little does not know the block yet: it will show its hash, or another, when it gets there. */
export function createReplacedChainCheck(options: { nodes: Nodes; kept: BlockCache; quorum: Quorum; finality: FinalityPolicy }) {
  const { nodes, kept, quorum, finality } = options

  async function isFarBelow(height: number): Promise<boolean> {
    const tag = finality.kind === 'tag' ? 'finalized' : 'latest'
    return quorum.agree({
      about: `far below ${height}`,
      method: 'eth_getBlockByNumber',
      params: () => [tag, false],
      read: (value) => (readBlockAt(value)?.height ?? 0) + farBelow <= height,
    })
  }

  /** A node that was just started and reads the chain from its beginning denies nothing. */
  async function isSyncing(): Promise<boolean> {
    return (await nodes.request('eth_syncing', []).catch(() => false)) !== false
  }

  /** The common case costs nothing, or one read. */
  async function isShown(block: BlockRef): Promise<boolean> {
    if (kept.isCanonical(block)) return true
    const shown = readBlockAt(await nodes.request('eth_getBlockByNumber', [toQuantity(block.height), false]))
    return shown?.height === block.height && shown.hash === block.hash
  }

  return async function denies(block: BlockRef): Promise<boolean> {
    const { height } = block
    const hash = block.hash.toLowerCase()
    if (await isShown({ height, hash })) return false
    const shown = await quorum.agree({
      about: `block ${height} ${hash}`,
      method: 'eth_getBlockByNumber',
      params: () => [toQuantity(height), false],
      read: (value) => {
        const block = readBlockAt(value)
        if (block && block.height !== height) throw new TypeError('another block than asked for')
        return block === undefined ? 'none' : block.hash === hash ? 'same' : 'other'
      },
    })
    if (shown !== 'none') return shown === 'other'
    return (await isFarBelow(height)) && !(await isSyncing())
  }
}
