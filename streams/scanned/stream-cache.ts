import type { Block } from '../../domain/stream/stream.ts'
import type { Transfer } from '../../domain/transfer/transfer.ts'

/** Transfers that are kept by their numbers: the open ones, and the latest. */
const mostTransfers = 10_000
/** Ends of ranges, thinned out with age: blocks that a fork may have left in the chain. */
const mostBlocks = 128
/** The latest deliveries: the audit looks at them again, since a reorganisation of the target may have undone them. */
const mostCompletions = 500

/** What a process knows of a stream beside the stream: all of it can be read again. */
export interface StreamCache {
  transfer(number: string): Transfer | undefined
  know(transfers: readonly Transfer[]): void
  /** It was seen delivered in the target's finalized state. */
  completed(number: string): void
  undone(number: string): void
  readonly completions: readonly Transfer[]
  /** The last block of a range that the stream has taken. */
  scanned(block: Block): void
  /** Newest first. */
  readonly blocks: readonly Block[]
  /** The source forked below what was final: numbers may belong to other transfers now, and blocks above `height` are gone. */
  forget(height: number): void
}

export function createStreamCache(): StreamCache {
  const transfers = new Map<string, Transfer>()
  const completions = new Map<string, Transfer>()
  let blocks: Block[] = []
  return {
    transfer: (number) => transfers.get(number),
    know(known) {
      for (const transfer of known) put(transfers, transfer.sequence, transfer, mostTransfers)
    },
    completed(number) {
      const transfer = transfers.get(number)
      if (transfer) put(completions, number, transfer, mostCompletions)
    },
    undone: (number) => void completions.delete(number),
    get completions() {
      return [...completions.values()]
    },
    scanned(block) {
      blocks.push(block)
      const half = mostBlocks / 2
      if (blocks.length > mostBlocks) blocks = [...blocks.slice(0, half).filter((_, index) => index % 2 === 0), ...blocks.slice(half)]
    },
    get blocks() {
      return [...blocks].sort((a, b) => b.height - a.height)
    },
    forget(height) {
      transfers.clear()
      completions.clear()
      blocks = blocks.filter((block) => block.height <= height)
    },
  }
}

/** Puts it last, and removes the first if there are too many. */
function put<V>(map: Map<string, V>, key: string, value: V, most: number): void {
  map.delete(key)
  const [oldest] = map.keys()
  if (map.size >= most && oldest !== undefined) map.delete(oldest)
  map.set(key, value)
}
