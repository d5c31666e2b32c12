import type { BlockHeader } from '../../chains/port.ts'
import type { Reading, StreamAnswer, StreamView } from '../../domain/stream/stream.ts'
import { readRange } from './read-range.ts'
import { goBack } from './fork.ts'
import { finalizedOf, viewOf } from './context.ts'
import type { ScannedContext } from './context.ts'

/** Blocks without transfers are told together, at most so late, ms: on a chain with a block a second they would cost an update each. */
const emptyMs = 4_000
/** A range of more blocks is catching up, whatever it reaches. */
const liveBlocks = 64

/** Blocks that were read, hold nothing, and are not told yet. */
interface Untold {
  readonly from: number
  readonly parentHash: string
  readonly to: number
  readonly hash: string
}

/**
 * CONTINUOUS_BLOCK_PROCESSING: the next final blocks of the source. The hashes are read before the logs, so that blocks of a fork never vouch for the
 * logs of what it replaced. The cursor moves with the last request, when every transfer was started.
 * @param onBegun the first range was taken, by whomever; called again and again
 * @returns one look; true: there is more to read at once
 */
export function createBlockScanner(context: ScannedContext, onBegun: () => Promise<void>): () => Promise<boolean> {
  const { streamClient, sourceChain, cache, ranges } = context
  let untold: Untold | undefined
  let toldAt = 0
  /** This process has come to the head: what it reads there from now on is of just now. */
  let isLive = false

  return async function scan() {
    let view = await viewOf(context)
    // Who has begun it need not be who reads its first range.
    if (view.nextHeight !== undefined) {
      await onBegun()
      view = streamClient.view ?? view
    }
    const era = streamClient.era
    const finalized = finalizedOf(sourceChain)
    if (view.paused) return false
    if (untold && untold.from !== view.nextHeight) untold = undefined
    const from = untold ? untold.to + 1 : (view.nextHeight ?? finalized)
    if (from > finalized) return tellEmpty(era)
    const to = Math.min(finalized, from + (view.nextHeight === undefined ? 0 : ranges.source.blocks - 1))
    const first = await sourceChain.block(from, 'latest')
    const last = to === from ? first : await sourceChain.block(to, 'latest')
    if (!first || !last) return false
    if (untold && first.parentHash !== untold.hash) {
      untold = undefined
      return true
    }
    const live = isLive && to === finalized && to - from < liveBlocks
    const reading = await readRange(context, { fromBlock: from, toBlock: to }, live, era)
    if (reading === 'too-long') return true
    if (reading === 'gone') return false
    const blocks = joined(untold, first, last)
    const isEmpty = reading.numbers.length === 0 && reading.passed.length === 0
    if (isEmpty && view.nextHeight !== undefined && to === finalized && Date.now() - toldAt < emptyMs) {
      untold = blocks
      return false
    }
    return tell(blocks, reading, era, view)
  }

  async function tellEmpty(era: number): Promise<boolean> {
    if (!untold || Date.now() - toldAt < emptyMs || !streamClient.view) return false
    return tell(untold, { numbers: [], passed: [] }, era, streamClient.view)
  }

  async function tell({ from, to, parentHash, hash }: Untold, reading: Reading, era: number, view: StreamView): Promise<boolean> {
    const told = await streamClient.apply([{ kind: 'scanned', from, to, parentHash, hash, ...reading }], era)
    untold = undefined
    toldAt = Date.now()
    if (!told) return true
    const isTaken = await obey(told.answers[0])
    if (!isTaken) return false
    cache.scanned({ height: to, hash })
    isLive ||= to >= finalizedOf(sourceChain)
    if (view.nextHeight === undefined) await onBegun()
    return to < finalizedOf(sourceChain)
  }

  /** True: the range was taken. */
  async function obey(answer: StreamAnswer | undefined): Promise<boolean> {
    if (answer?.kind !== 'forked') return answer?.kind === 'done'
    isLive = false
    await goBack(context)
    return false
  }
}

function joined(untold: Untold | undefined, first: BlockHeader, last: BlockHeader): Untold {
  const begin = untold ?? { from: first.height, parentHash: first.parentHash }
  return { from: begin.from, parentHash: begin.parentHash, to: last.height, hash: last.hash }
}
