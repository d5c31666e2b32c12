import { RelayerError } from '../../../domain/catalogue/errors.ts'
import { hasGap } from '../../../domain/stream/gaps.ts'
import type { StreamState } from '../../../domain/stream/stream.ts'
import type { Published, SignedSource } from '../../../bridges/port.ts'
import { mapLimited } from '../../../runtime/map-limited.ts'
import { missingIn, noNumbers, type NumberCounts, seenRequests, withStatus } from '../number-status.ts'
import type { StreamClient } from '../stream-client.ts'
import { needingNoTransfer } from './gaps/fetch-messages.ts'
import { firstSince } from '../first-block.ts'
import { inParts } from '../split-range.ts'
import { viewStream } from '../../../domain/stream/reducer.ts'
import { problemOf } from '../../../observability/severity.ts'
import type { SignedDeps } from './deps.ts'

export interface LookBackOptions extends Pick<SignedDeps, 'chain' | 'rangeBlocks' | 'lookBackMs'> {
  readonly source: Pick<SignedSource, 'published' | 'delivered'>
  readonly clock?: () => number
}

/**
 * Maximum number of parallel reads. With a single node, each read waits for a block, so several reads must wait
 * together.
 */
const readsAtOnce = 8
const mostNumbers = 1_000

export function createLookBack(options: LookBackOptions) {
  const { source, lookBackMs } = options
  return {
    /**
     * First number that was published in the last `lookBackMs`, if any. Throws read errors, and NODE_UNAVAILABLE before
     * the first head.
     */
    async firstNumber(): Promise<string | undefined> {
      if (lookBackMs <= 0) return undefined
      const all = await recentRanges(options)
      for (let from = 0; from < all.length; from += readsAtOnce) {
        const some = all.slice(from, from + readsAtOnce)
        const found = await Promise.all(some.map(([low, high]) => publishedIn(source, low, high, () => false)))
        const numbers = found.flat().map(({ number }) => BigInt(number))
        if (numbers.length > 0) return String(numbers.reduce((least, one) => (one < least ? one : least)))
      }
      return undefined
    },
    /**
     * Records the numbers of gaps that recent blocks show as delivered or ignored. Throws the errors of `firstNumber`
     * and of the stream's client.
     */
    async resolve({ gaps, open }: StreamState, streamClient: Pick<StreamClient, 'apply'>): Promise<NumberCounts> {
      const counts = { ...noNumbers }
      if (lookBackMs <= 0) return counts
      const opened = new Set(open.map(({ number }) => number))
      const wanted = (number: string) => hasGap(gaps, BigInt(number)) && !opened.has(number)
      await mapLimited(await recentRanges(options), readsAtOnce, async ([from, to]) => {
        const found = await publishedIn(source, from, to, wanted)
        const { ignored, done } = await needingNoTransfer(source, found)
        const seen = [...withStatus('delivered', [...done]), ...withStatus('ignored', ignored)]
        for (let at = 0; at < seen.length; at += mostNumbers) await streamClient.apply(seenRequests(seen.slice(at, at + mostNumbers)))
        counts.delivered += done.size
        counts.ignored += ignored.length
      })
      return counts
    },
  }
}

const publishedIn = (source: LookBackOptions['source'], fromBlock: number, toBlock: number, wanted: (number: string) => boolean) =>
  inParts<Published>({ fromBlock, toBlock }, (range) => source.published(range, wanted, 'agreed'))

async function recentRanges({ chain, rangeBlocks, lookBackMs, clock = Date.now }: LookBackOptions) {
  const to = chain.heads.current?.finalized
  if (to === undefined) throw new RelayerError('NODE_UNAVAILABLE', { detail: 'No block has been seen yet.', facts: { chain: chain.name } })
  const from = await firstSince(chain, clock() - lookBackMs, to)
  return Array.from({ length: Math.ceil((to - from + 1) / rangeBlocks) }, (_, index) => {
    const start = from + index * rangeBlocks
    return [start, Math.min(start + rangeBlocks - 1, to)] as const
  })
}

const few = 100
const betweenMs = 3_600_000
const afterFailureMs = 60_000

/**
 * Reads recent blocks if many numbers are missing (as after a wipe of Temporal), so that the numbers need not be
 * fetched one by one.
 */
export function createManyMissing(deps: SignedDeps) {
  const { source, streamClient, logger } = deps
  const lookBack = createLookBack(deps)
  let nextAt = 0
  return {
    /** @param started counts running transfers; called only if many numbers are missing */
    async resolve(state: StreamState, started: () => Promise<number>): Promise<{ state: StreamState; counts: Readonly<NumberCounts> }> {
      const all = missingIn(viewStream(state))
      if (all <= few || performance.now() < nextAt || source.withoutNode) return { state, counts: noNumbers }
      const missing = all - (await started())
      if (missing <= few) return { state, counts: noNumbers }
      const about = { stream: source.config.stream, missing }
      try {
        nextAt = performance.now() + betweenMs
        const counts = await lookBack.resolve(state, streamClient)
        logger.info('many numbers were missing, so the blocks of the last days were read', { ...about, ...counts })
        return { state: (await streamClient.state()) ?? state, counts }
      } catch (error) {
        nextAt = performance.now() + afterFailureMs
        logger.warn('recent blocks cannot be read, so missing numbers are fetched one by one', { ...about, ...problemOf(error) })
        return { state, counts: noNumbers }
      }
    },
  }
}
