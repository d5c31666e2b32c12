import type { BlockRange, PlacedSource, PlacedTransfer, ScannedSource } from '../../../bridges/port.ts'
import { firstIn, heightOf } from '../../../domain/stream/places.ts'
import type { ChainName, Transfer } from '../../../domain/transfer/transfer.ts'
import { mapLimited } from '../../../runtime/map-limited.ts'
import { deliveredByTarget } from '../signed/gaps/fetch-messages.ts'
import { inParts } from '../split-range.ts'

export interface BlockSource extends Pick<ScannedSource, 'config' | 'bridge' | 'sourceChain' | 'highest' | 'initiated' | 'recorded'> {
  readonly targetChain?: ChainName
  readonly emitter?: string
  /** Undefined if the transfer's target cannot be read now. */
  delivered(transfers: readonly Transfer[]): Promise<readonly (boolean | undefined)[]>
}

const readsAtOnce = 8

/**
 * Gives a placed source the methods of a scanned one. `recorded` reads blocks, because the source has no table. In
 * `delivered`, an outage of one target does not affect transfers to other targets.
 */
export function asBlockSource(source: ScannedSource | PlacedSource, finalized: () => number, rangeBlocks: () => number): BlockSource {
  if (source.kind === 'scanned') return source
  return {
    ...source,
    highest: async () => String(firstIn(finalized() + 1) - 1n),
    async recorded(numbers, at) {
      const read = (range: BlockRange) => source.initiated(range, at === 'agreed' ? at : undefined)
      const found = await mapLimited(rangesOf(numbers, rangeBlocks()), readsAtOnce, (range) => inParts<PlacedTransfer>(range, read))
      const transfers = new Map(found.flat().map(({ transfer }) => [transfer.sequence, transfer]))
      return numbers.map((number) => transfers.get(number))
    },
    async delivered(transfers) {
      const { done, unread } = await deliveredByTarget(source, transfers)
      return transfers.map(({ sequence }) => (unread.has(sequence) ? undefined : done.has(sequence)))
    },
  }
}

function rangesOf(numbers: readonly string[], most: number): readonly BlockRange[] {
  const ranges: { fromBlock: number; toBlock: number }[] = []
  for (const height of numbers.map(heightOf).sort((a, b) => a - b)) {
    const last = ranges.at(-1)
    if (last && height - last.fromBlock < most) last.toBlock = height
    else ranges.push({ fromBlock: height, toBlock: height })
  }
  return ranges
}
