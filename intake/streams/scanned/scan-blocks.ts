import type { Reading, StreamView } from '../../../domain/stream/stream.ts'
import type { Look } from '../loop.ts'
import { finalizedOf, type ReadingContext, viewOf } from './context.ts'
import { goBack } from './fork.ts'
import { readRange } from './read-range.ts'

/** Blocks without transfers are recorded together, this late at most, ms: on a chain with a block a second they would cost an update each. */
const emptyMs = 4_000
/** A longer range is catching up, even if it ends at the head. */
const liveBlocks = 64

/** Blocks that were read and hold nothing, and are not recorded yet. */
interface EmptyBlocks {
  readonly from: number
  readonly parentHash: string
  readonly to: number
  readonly hash: string
}

/**
 * CONTINUOUS_BLOCK_PROCESSING: the next final blocks of the source. The hashes are read before the logs, so that blocks of a fork never vouch for the
 * logs of what it replaced. The cursor moves when every transfer was started.
 * @param onBegun called at each look once the first range was taken, by whichever process
 */
export function createBlockScanner(context: ReadingContext, onBegun: () => Promise<void>): Look {
  const { streamClient, sourceChain, cache, ranges } = context
  let empty: EmptyBlocks | undefined
  let recordedAt = 0
  /** This process has come to the head: the transfers that it reads there from now on are new. */
  let isLive = false

  async function record({ from, to, parentHash, hash }: EmptyBlocks, reading: Reading, era: number, view: StreamView): Promise<boolean> {
    const response = await streamClient.apply([{ kind: 'scanned', from, to, parentHash, hash, ...reading }], era)
    empty = undefined
    recordedAt = Date.now()
    if (!response) return true
    const [answer] = response.answers
    if (answer?.kind === 'forked') {
      isLive = false
      await goBack(context)
    }
    if (answer?.kind !== 'done') return false
    cache.scanned({ height: to, hash })
    isLive ||= to >= finalizedOf(sourceChain)
    if (view.nextHeight === undefined) await onBegun()
    return to < finalizedOf(sourceChain)
  }

  return async function scanBlocks() {
    let view = await viewOf(context)
    // Another process may have read the first range.
    if (view.nextHeight !== undefined) {
      await onBegun()
      view = streamClient.view ?? view
    }
    const era = streamClient.era
    const finalized = finalizedOf(sourceChain)
    if (view.paused) return false
    if (empty && empty.from !== view.nextHeight) empty = undefined
    const isDue = Date.now() - recordedAt >= emptyMs
    const from = empty ? empty.to + 1 : (view.nextHeight ?? finalized)
    if (from > finalized) return empty && isDue ? record(empty, { numbers: [], passed: [] }, era, view) : false
    const to = Math.min(finalized, from + (view.nextHeight === undefined ? 0 : ranges.source.blocks - 1))
    const first = await sourceChain.block(from, 'latest')
    const last = to === from ? first : await sourceChain.block(to, 'latest')
    if (!first || !last) return false
    if (empty && first.parentHash !== empty.hash) {
      empty = undefined
      return true
    }
    const live = isLive && to === finalized && to - from < liveBlocks
    const reading = await readRange(context, { fromBlock: from, toBlock: to }, live, era)
    if (typeof reading === 'string') return reading === 'too-long'
    const { from: since, parentHash } = empty ?? { from, parentHash: first.parentHash }
    const blocks = { from: since, parentHash, to, hash: last.hash }
    const isEmpty = reading.numbers.length === 0 && reading.passed.length === 0
    if (!isEmpty || view.nextHeight === undefined || to < finalized || isDue) return record(blocks, reading, era, view)
    empty = blocks
    return false
  }
}
