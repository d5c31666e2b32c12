import { keccak256 } from 'ethers'
import { LRUCache } from 'lru-cache'
import type { LogRange } from '../../port.ts'
import type { BlockCache } from './block-cache.ts'
import type { EvmBlock } from './blocks.ts'
import type { HeaderCheck } from './header-check.ts'

/** A header's filter of the addresses and topics of its logs: 2,048 bits, three per value (yellow paper, 4.4.1). */
const bytes = 256
const bitsPerValue = 3
/** Contracts and events are few; ids come and go. */
const mostValues = 1_024
const empty = `0x${'0'.repeat(2 * bytes)}`

type Bit = readonly [byte: number, mask: number]

export type LogsBloom = ReturnType<typeof createLogsBloom>

/** @param finalized height at and below which blocks are final, by more than half of the nodes */
export function createLogsBloom(kept: Pick<BlockCache, 'at'>, check: Pick<HeaderCheck, 'kind'>, finalized: () => number) {
  const bits = new LRUCache<string, readonly Bit[]>({ max: mostValues, memoMethod: bitsOf })

  /**
   * A chain without filters (EIP-7668) would prove every absence: an empty filter counts only for a block without
   * transactions.
   */
  function excludes({ logsBloom, transactions }: EvmBlock, values: readonly string[]): boolean {
    if (logsBloom?.length !== empty.length) return false
    if (logsBloom === empty) return transactions.length === 0
    return values.some((value) =>
      bits.memo(value).some(([byte, mask]) => (parseInt(logsBloom.slice(2 + 2 * byte, 4 + 2 * byte), 16) & mask) === 0),
    )
  }

  return {
    /**
     * Whether the headers of these blocks prove that no such log exists. Only for kept final blocks of chains whose
     * header hashes are checked, since those hashes cover the filter.
     */
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

/** The lowest 11 bits of each of the first three byte pairs of the hash. */
function bitsOf(value: string): readonly Bit[] {
  const hash = keccak256(value)
  return Array.from({ length: bitsPerValue }, (_, index): Bit => {
    const bit = parseInt(hash.slice(2 + 4 * index, 6 + 4 * index), 16) % (8 * bytes)
    return [bytes - 1 - Math.floor(bit / 8), 1 << (bit % 8)]
  })
}
