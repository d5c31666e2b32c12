import { keccak256 } from 'ethers'
import { LRUCache } from 'lru-cache'
import type { LogRange } from '../../port.ts'
import type { BlockCache } from './block-cache.ts'
import type { EvmBlock } from './blocks.ts'
import type { HeaderCheck } from './header-check.ts'

/** Length of a bloom filter, bytes. The address and each topic of a log set three bits (yellow paper, 4.4.1). */
const bytes = 256
const bitsPerValue = 3
const mostValues = 1_024
const empty = `0x${'0'.repeat(2 * bytes)}`

type Bit = readonly [byte: number, mask: number]

export function createLogsBloom(kept: Pick<BlockCache, 'at'>, check: Pick<HeaderCheck, 'kind'>, finalized: () => number) {
  const bits = new LRUCache<string, readonly Bit[]>({ max: mostValues, memoMethod: bitsOf })

  /** Chains without bloom filters (EIP-7668) send empty ones, so an empty filter counts only in an empty block. */
  function excludes({ logsBloom, transactions }: EvmBlock, values: readonly string[]): boolean {
    if (logsBloom?.length !== empty.length) return false
    if (logsBloom === empty) return transactions.length === 0
    return values.some((value) =>
      bits.memo(value).some(([byte, mask]) => (parseInt(logsBloom.slice(2 + 2 * byte, 4 + 2 * byte), 16) & mask) === 0),
    )
  }

  return {
    /** Uses only the filters of final blocks, on chains whose header hashes are checked: the hash proves the filter. */
    proveNone({ address, topics, fromBlock, toBlock }: LogRange): boolean {
      if (check.kind !== 'checked' || toBlock > finalized()) return false
      const values = [address, ...topics].map((value) => value.toLowerCase())
      for (let height = toBlock; height >= fromBlock; height--) {
        const block = kept.at(height)
        if (!block || !excludes(block, values)) return false
      }
      return true
    },
  }
}

function bitsOf(value: string): readonly Bit[] {
  const hash = keccak256(value)
  return Array.from({ length: bitsPerValue }, (_, index): Bit => {
    const bit = parseInt(hash.slice(2 + 4 * index, 6 + 4 * index), 16) % (8 * bytes)
    return [bytes - 1 - Math.floor(bit / 8), 1 << (bit % 8)]
  })
}
