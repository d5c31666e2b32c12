import type { ScannedBlock } from '../../../domain/stream/stream.ts'
import type { Transfer } from '../../../domain/transfer/transfer.ts'
import { createRecent, type Recent } from '../../submit/recent.ts'

const mostTransfers = 10_000
/** Ends of ranges, thinned out with age: blocks that a fork may have left in the chain. */
const mostBlocks = 128
/** The latest deliveries: the audit looks at them again, since a reorganisation of the target may have undone them. */
const mostCompletions = 500
/** What was started for a range that failed as a whole is not started again for so long, ms: its next try comes within seconds. */
const startedMs = 60_000

/** What a process knows of a stream: all of it can be read again. */
export type StreamCache = ReturnType<typeof createStreamCache>

export function createStreamCache() {
  const transfers = new Map<string, Transfer>()
  const completions = new Map<string, Transfer>()
  const started = createRecent(mostTransfers, startedMs)
  let startedEra = 0
  let blocks: ScannedBlock[] = []
  return {
    /**
     * Ids of transfers that were started, while others of their range could not be. Those of another era of the stream are forgotten: Temporal may have lost
     * their workflows.
     * @param era of the stream's client
     */
    started(era: number): Recent {
      if (era !== startedEra) started.clear()
      startedEra = era
      return started
    },
    transfer: (number: string) => transfers.get(number),
    know(known: readonly Transfer[]): void {
      for (const transfer of known) put(transfers, transfer.sequence, transfer, mostTransfers)
    },
    completed(number: string): void {
      const transfer = transfers.get(number)
      if (transfer) put(completions, number, transfer, mostCompletions)
    },
    undone: (number: string) => void completions.delete(number),
    get completions(): readonly Transfer[] {
      return [...completions.values()]
    },
    /** The last block of a range that the stream has taken. */
    scanned(block: ScannedBlock): void {
      blocks.push(block)
      const half = mostBlocks / 2
      if (blocks.length > mostBlocks) blocks = [...blocks.slice(0, half).filter((_, index) => index % 2 === 0), ...blocks.slice(half)]
    },
    /** Newest first. */
    get blocks(): readonly ScannedBlock[] {
      return [...blocks].sort((a, b) => b.height - a.height)
    },
    /** The source forked below what was final: numbers may belong to other transfers now, and blocks above `height` are gone. */
    forget(height: number): void {
      transfers.clear()
      started.clear()
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
