import type { FinalityPolicy } from '../../../domain/finality.ts'
import type { BlockRef } from '../../port.ts'
import { NotKnown } from '../nodes/node-errors.ts'
import type { Nodes } from '../nodes/nodes.ts'
import type { Quorum } from '../nodes/quorum.ts'
import type { BlockCache } from './block-cache.ts'
import { blockCall, fetchBlock, readBlockIfAny } from './blocks.ts'

const farBelow = 128

export function createReplacedChainCheck(nodes: Nodes, kept: BlockCache, agree: Quorum, finality: FinalityPolicy) {
  function isFarBelow(height: number): Promise<boolean> {
    return agree({
      about: `far below ${height}`,
      ...blockCall(finality.kind === 'tag' ? 'finalized' : 'latest'),
      read: (value) => (readBlockIfAny(value)?.height ?? 0) + farBelow <= height,
    })
  }

  async function isSyncing(): Promise<boolean> {
    const answers = await nodes.askAll('eth_syncing', [], (value) => value !== false)
    return answers.filter((answer) => answer.ok && answer.result).length >= nodes.needed
  }

  async function isShown(block: BlockRef): Promise<boolean> {
    if (kept.isCanonical(block)) return true
    const shown = await fetchBlock(nodes, block.height)
    return shown?.height === block.height && shown.hash === block.hash
  }

  return async function denies(block: BlockRef): Promise<boolean> {
    const { height } = block
    const hash = block.hash.toLowerCase()
    if (await isShown({ height, hash })) return false
    const shown = await agree({
      about: `block ${height} ${hash}`,
      ...blockCall(height),
      read: (value) => {
        const block = readBlockIfAny(value)
        if (block && block.height !== height) throw new NotKnown('another block than asked for')
        return block === undefined ? 'none' : block.hash === hash ? 'same' : 'other'
      },
    })
    if (shown !== 'none') return shown === 'other'
    return (await isFarBelow(height)) && !(await isSyncing())
  }
}
