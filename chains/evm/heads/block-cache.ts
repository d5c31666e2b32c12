import type { Block, BlockRef } from '../../port.ts'
import { toBytes, toDecimal, toList, toNumber, toRecord } from '../hex.ts'

/** A block with what the adapter itself needs beside the port's fields. */
export interface EvmBlock extends Block {
  /** Gas units that fit in the block. */
  readonly gasLimit: bigint
}

/** A block as `eth_getBlockBy…` gives it with transaction hashes. Throws NODE_REFUSED if it is none. */
export function readBlock(value: unknown): EvmBlock {
  const raw = toRecord(value, 'block')
  return {
    height: toNumber(raw['number'], 'block number'),
    hash: toBytes(raw['hash'], 'block hash'),
    parentHash: toBytes(raw['parentHash'], 'parent hash'),
    timestamp: toNumber(raw['timestamp'], 'block timestamp'),
    ...(raw['baseFeePerGas'] != null && { baseFee: toDecimal(raw['baseFeePerGas'], 'base fee') }),
    transactions: toList(raw['transactions'], 'transactions').map((hash) => toBytes(hash, 'transaction hash')),
    gasLimit: BigInt(toDecimal(raw['gasLimit'], 'gas limit')),
  }
}

/** At least this many blocks are kept, at most `mostKept`; between them, all that are not final and a margin. */
const leastKept = 64
const mostKept = 1024
const margin = 16

/** The canonical blocks near the head, linked by parent hash, with an index of their transactions. No I/O. */
export class BlockCache {
  #blocks: EvmBlock[] = []
  readonly #transactions = new Map<string, BlockRef>()

  get latest(): EvmBlock | undefined {
    return this.#blocks.at(-1)
  }

  /** Height of the lowest cached block; Infinity when there is none. */
  get lowest(): number {
    return this.#blocks[0]?.height ?? Infinity
  }

  at(height: number): EvmBlock | undefined {
    return this.#blocks[height - this.lowest]
  }

  /** The cached block that a transaction is in. */
  find(transaction: string): BlockRef | undefined {
    return this.#transactions.get(transaction)
  }

  /** Is this block canonical? Undefined if its height is not kept. */
  isCanonical(block: BlockRef): boolean | undefined {
    const kept = this.at(block.height)
    return kept && kept.hash === block.hash
  }

  /** Is this transaction in this canonical block? Undefined if the block's height is not kept. */
  lists(block: BlockRef, transaction: string): boolean | undefined {
    const kept = this.at(block.height)
    return kept && kept.hash === block.hash && this.#transactions.get(transaction)?.hash === block.hash
  }

  /** Drops all blocks above a height; returns them newest first. */
  rollBackTo(height: number): EvmBlock[] {
    const cut = Math.max(0, height - this.lowest + 1)
    const dropped = this.#blocks.splice(Number.isFinite(cut) ? cut : 0).toReversed()
    for (const block of dropped) this.#forget(block)
    return dropped
  }

  /** Appends blocks that link to each other and to the head; if they do not link to it, what was kept is forgotten. */
  append(blocks: readonly EvmBlock[]): void {
    if (this.latest && blocks[0] && blocks[0].parentHash !== this.latest.hash) this.rollBackTo(-1)
    for (const block of blocks) {
      this.#blocks.push(block)
      for (const hash of block.transactions) this.#transactions.set(hash, block)
    }
  }

  prune(finalized: number): void {
    const height = this.latest?.height ?? 0
    const keepFrom = Math.max(height - mostKept + 1, Math.min(finalized - margin, height - leastKept + 1))
    const dropped = this.#blocks.splice(0, Math.max(0, keepFrom - this.lowest))
    for (const block of dropped) this.#forget(block)
  }

  #forget(block: EvmBlock): void {
    for (const hash of block.transactions) if (this.#transactions.get(hash) === block) this.#transactions.delete(hash)
  }
}
