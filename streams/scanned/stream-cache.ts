import type { Block } from '../../domain/stream/stream.ts'
import type { Transfer } from '../../domain/transfer/transfer.ts'

/** So many transfers are known by their numbers: what is open, and what was lately. */
const mostTransfers = 10_000
/** Ends of ranges, thinned out with age: where a fork may have left the chain in place. */
const mostBlocks = 128
/** Delivered lately: looked at again by the audit, since a reorganisation of the target may have undone them. */
const mostCompletions = 500

/** What a process knows of a stream beside the stream: nothing that is not found out again. */
export class StreamCache {
  readonly #transfers = new Map<string, Transfer>()
  readonly #completions = new Map<string, Transfer>()
  #blocks: Block[] = []

  transfer(number: string): Transfer | undefined {
    return this.#transfers.get(number)
  }

  know(transfers: readonly Transfer[]): void {
    for (const transfer of transfers) put(this.#transfers, transfer.sequence, transfer, mostTransfers)
  }

  /** It was seen delivered in the target's finalized state. */
  completed(number: string): void {
    const transfer = this.#transfers.get(number)
    if (transfer) put(this.#completions, number, transfer, mostCompletions)
  }

  get completions(): readonly Transfer[] {
    return [...this.#completions.values()]
  }

  undone(number: string): void {
    this.#completions.delete(number)
  }

  /** The last block of a range that the stream has taken. */
  scanned(block: Block): void {
    this.#blocks.push(block)
    const half = mostBlocks / 2
    if (this.#blocks.length > mostBlocks)
      this.#blocks = [...this.#blocks.slice(0, half).filter((_, index) => index % 2 === 0), ...this.#blocks.slice(half)]
  }

  /** Newest first. */
  get blocks(): readonly Block[] {
    return [...this.#blocks].sort((a, b) => b.height - a.height)
  }

  /** The source forked below what was final: numbers may be other transfers' now, and blocks above `height` are gone. */
  forget(height: number): void {
    this.#transfers.clear()
    this.#completions.clear()
    this.#blocks = this.#blocks.filter((block) => block.height <= height)
  }
}

/** The newest last, so that the oldest goes first. */
function put<V>(map: Map<string, V>, key: string, value: V, most: number): void {
  map.delete(key)
  const [oldest] = map.keys()
  if (map.size >= most && oldest !== undefined) map.delete(oldest)
  map.set(key, value)
}
