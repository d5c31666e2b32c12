import type { BlockRef } from '../../port.ts'
import type { EvmBlock } from './blocks.ts'

const leastKept = 64
const mostKept = 1024
const margin = 16

export type BlockCache = ReturnType<typeof createBlockCache>

export function createBlockCache() {
  const blocks: EvmBlock[] = []
  const transactions = new Map<string, BlockRef>()

  const lowest = () => blocks[0]?.height ?? Infinity
  const at = (height: number): EvmBlock | undefined => blocks[height - lowest()]

  function drop(from: number, count: number): EvmBlock[] {
    const dropped = blocks.splice(from, count)
    for (const block of dropped) for (const hash of block.transactions) if (transactions.get(hash) === block) transactions.delete(hash)
    return dropped
  }

  function rollBackTo(height: number): EvmBlock[] {
    const kept = blocks.filter((block) => block.height <= height).length
    return drop(kept, Infinity).toReversed()
  }

  function isCanonical({ height, hash }: BlockRef): boolean | undefined {
    const kept = at(height)
    return kept && kept.hash === hash
  }

  return {
    get latest() {
      return blocks.at(-1)
    },
    get lowest() {
      return lowest()
    },
    at,
    isCanonical,
    rollBackTo,
    find: (transaction: string) => transactions.get(transaction),
    lists(block: BlockRef, transaction: string): boolean | undefined {
      const canonical = isCanonical(block)
      return canonical && transactions.get(transaction)?.hash === block.hash
    },
    append(added: readonly EvmBlock[]): void {
      const head = blocks.at(-1)
      if (head && added[0] && added[0].parentHash !== head.hash) rollBackTo(-1)
      for (const block of added) {
        blocks.push(block)
        for (const hash of block.transactions) transactions.set(hash, block)
      }
    },
    prune(finalized: number): void {
      const height = blocks.at(-1)?.height ?? 0
      const keepFrom = Math.max(height - mostKept + 1, Math.min(finalized - margin, height - leastKept + 1))
      drop(0, blocks.filter((block) => block.height < keepFrom).length)
    },
  }
}
