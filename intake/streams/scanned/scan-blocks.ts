import type { Reading, StreamView } from '../../../domain/stream/stream.ts'
import type { Step } from '../loop.ts'
import { finalizedOf, type ReadingContext, viewOf } from './context.ts'
import { goBack } from './fork.ts'
import { readRange } from './read-range.ts'

/** Interval (ms) at which blocks without transfers are recorded, because a fast chain has many such blocks. */
const emptyMs = 4_000
const liveBlocks = 64

interface Blocks {
  readonly from: number
  readonly parentHash: string
  readonly to: number
  readonly hash: string
}

interface Range {
  readonly blocks: Blocks
  /** Whether most nodes have shown the hashes. */
  readonly isAgreed: boolean
}

/**
 * Scans new final blocks (MIP-61's CONTINUOUS_BLOCK_PROCESSING). The hash of a range's last block is read before the
 * range's logs. If a fork happens in between, the next range does not follow this hash. Most nodes must show each hash
 * that is recorded, because a false hash would make the stream read its blocks again.
 */
export function createBlockScanner(context: ReadingContext, onBegun: () => Promise<void>): Step {
  const { streamClient, sourceChain, cache } = context
  let empty: Range | undefined
  let recordedAt = -Infinity
  let isLive = false

  async function record(range: Range, reading: Reading, era: number, view: StreamView): Promise<boolean> {
    const { to, hash } = range.blocks
    const isTrue = await areMostAgreed(context, range)
    const response = isTrue ? await streamClient.apply([{ kind: 'scanned', ...range.blocks, ...reading }], era) : undefined
    empty = undefined
    // After a false hash, the next range is due at once, so most nodes are asked for its hashes.
    recordedAt = isTrue ? performance.now() : -Infinity
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

  async function scan(view: StreamView, era: number): Promise<boolean> {
    const finalized = finalizedOf(sourceChain)
    const isDue = performance.now() - recordedAt >= emptyMs
    const before = empty?.blocks
    const from = before ? before.to + 1 : (view.nextHeight ?? finalized)
    if (from > finalized) return empty && isDue ? record(empty, { numbers: [], passed: [] }, era, view) : false
    const range = await nextRange(context, view, from, before?.hash ?? view.parentHash, isDue)
    if (!range) return false
    const { blocks, isAgreed } = range
    const { to } = blocks
    if (before && blocks.parentHash !== before.hash) {
      empty = undefined
      return true
    }
    const live = isLive && to === finalized && to - from < liveBlocks
    const reading = await readRange(context, { fromBlock: from, toBlock: to }, live, era)
    if (typeof reading === 'string') return reading === 'too-long'
    const whole = { blocks: { ...blocks, ...(before && { from: before.from, parentHash: before.parentHash }) }, isAgreed }
    const isEmpty = reading.numbers.length === 0 && reading.passed.length === 0
    if (!isEmpty || view.nextHeight === undefined || to < finalized || isDue) return record(whole, reading, era, view)
    empty = whole
    return false
  }

  return async function scanBlocks() {
    let view = await viewOf(context)
    if (view.nextHeight !== undefined) {
      await onBegun()
      view = streamClient.view ?? view
    }
    if (view.paused) return false
    if (empty && empty.blocks.from !== view.nextHeight) empty = undefined
    return scan(view, streamClient.era)
  }
}

async function areMostAgreed({ sourceChain }: ReadingContext, { blocks: { to, hash }, isAgreed }: Range): Promise<boolean> {
  return isAgreed || (await sourceChain.block(to, 'majority'))?.hash === hash
}

/**
 * One node is asked only about new blocks that will hardly be recorded on their own, and only believed if it has them
 * and their first block follows the blocks before.
 */
async function nextRange(
  { sourceChain, ranges }: ReadingContext,
  view: StreamView,
  from: number,
  parentHash: string | undefined,
  isDue: boolean,
): Promise<Range | undefined> {
  const finalized = finalizedOf(sourceChain)
  const to = Math.min(finalized, from + (view.nextHeight === undefined ? 0 : ranges.source.blocks - 1))
  const read = async (at: 'latest' | 'majority'): Promise<Blocks | undefined> => {
    const first = await sourceChain.block(from, at)
    const last = to === from ? first : await sourceChain.block(to, at)
    return first && last && { from, parentHash: first.parentHash, to, hash: last.hash }
  }
  if (!isDue && to === finalized) {
    const blocks = await read('latest')
    if (blocks && blocks.parentHash === (parentHash ?? blocks.parentHash)) return { blocks, isAgreed: false }
  }
  const blocks = await read('majority')
  return blocks && { blocks, isAgreed: true }
}

const logMs = 10_000

/**
 * Reads the blocks of the backfill (MIP-61's BOOTSTRAP). Blocks are recorded once their transfers run or are delivered.
 */
export function createBackfill(context: ReadingContext): Step {
  const { streamClient, source, sourceChain, ranges, logger } = context
  let loggedAt = -Infinity
  return async function backfill() {
    const view = await viewOf(context)
    if (view.paused || view.backfill.left === 0) return false
    const era = streamClient.era
    const [lowest] = (await streamClient.state())?.backfill.left ?? []
    if (!lowest || streamClient.era !== era) return false
    const [from, end] = [Number(lowest[0]), Math.min(Number(lowest[1]), finalizedOf(sourceChain))]
    const to = Math.min(end, from + ranges.source.blocks - 1)
    if (from > to) return false
    const reading = await readRange(context, { fromBlock: from, toBlock: to }, false, era)
    if (reading === 'too-long') return true
    if (reading === 'gone') return false
    const response = await streamClient.apply([{ kind: 'backfilled', from, to, ...reading }], era)
    if (response && performance.now() - loggedAt > logMs) {
      loggedAt = performance.now()
      const { left, ordered } = response.view.backfill
      logger.info('backfill', { stream: source.config.stream, upTo: to, left, ordered })
    }
    return response !== undefined && response.view.backfill.left > 0
  }
}
