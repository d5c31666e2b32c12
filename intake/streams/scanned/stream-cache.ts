import type { BlockRef } from '../../../domain/finality.ts'
import type { Transfer } from '../../../domain/transfer/transfer.ts'
import type { SubmitResult } from '../../submit/submitter.ts'
import { boundedMap } from '../../../runtime/bounded-map.ts'

const mostTransfers = 10_000
const mostBlocks = 128
const mostCompletions = 500
/**
 * ms for which started transfers are remembered. A range that failed is read again within this time, and must not start
 * them again.
 */
const startedMs = 60_000
/** Time in which audits of blocks do not check a delivered or ended transfer again, ms. */
const settledMs = 3_600_000

export type StreamCache = ReturnType<typeof createStreamCache>

export function createStreamCache() {
  const transfers = boundedMap<string, Transfer>(mostTransfers)
  const completions = boundedMap<string, Transfer>(mostCompletions)
  const started = boundedMap<string, SubmitResult['status']>(mostTransfers, startedMs)
  const settled = boundedMap<string, true>(mostTransfers, settledMs)
  let startedEra = 0
  let blocks: BlockRef[] = []
  return {
    /**
     * Transfers that were started recently. A new `era` clears the list, because Temporal may have lost the transfers.
     */
    started(era: number): typeof started {
      if (era !== startedEra) started.clear()
      startedEra = era
      return started
    },
    transfer: (number: string) => transfers.get(number),
    know(known: readonly Transfer[]): void {
      for (const transfer of known) transfers.set(transfer.sequence, transfer)
    },
    completed(number: string): void {
      const transfer = transfers.get(number)
      if (transfer) completions.set(number, transfer)
    },
    settled,
    undone: (number: string) => void completions.delete(number),
    get completions(): readonly Transfer[] {
      return [...completions.values()].toReversed()
    },
    scanned(block: BlockRef): void {
      blocks.push(block)
      const half = mostBlocks / 2
      if (blocks.length > mostBlocks) blocks = [...blocks.slice(0, half).filter((_, index) => index % 2 === 0), ...blocks.slice(half)]
    },
    get blocks(): readonly BlockRef[] {
      return [...blocks].sort((a, b) => b.height - a.height)
    },
    /** Forgets all transfers, and the blocks above `height`. After a fork, numbers may belong to other transfers. */
    forget(height: number): void {
      transfers.clear()
      started.clear()
      settled.clear()
      completions.clear()
      blocks = blocks.filter((block) => block.height <= height)
    },
  }
}
