import { noNumbers, type NumberCounts, seenRequests } from '../../number-status.ts'
import type { GapsDeps, SignedDeps } from '../deps.ts'
import { fetchMessages, foundIn } from '../gaps/fetch-messages.ts'
import type { GapReport } from '../gaps/fill-gaps.ts'
import { missedBySpy } from '../spy-silence.ts'

type SourceCountDeps = SignedDeps & Pick<GapsDeps, 'isMissed'>

/** Reads the source's count. If the source has no node, probes servers instead. `begins` returns the first number. */
export function createSourceCount(deps: SourceCountDeps, begins: () => Promise<string | undefined>) {
  const { source, chain, streamClient, logger } = deps
  const probe = createTailProbe(deps)
  let upTo: string | undefined
  return {
    /** Highest number in the source's finalized state when it was last read. Undefined for a source without a node. */
    get upTo(): string | undefined {
      return upTo
    },
    /** Records the count or, for a source without a node, the messages that the probe finds. Throws read errors. */
    async take(): Promise<{ height?: number } & Partial<GapReport>> {
      if (source.withoutNode) {
        const state = await streamClient.state()
        return probe(state ? undefined : await begins())
      }
      // Read before the count, so that the count is from this block or a later one.
      const height = chain.heads.current?.finalized
      upTo = await source.highest(upTo)
      if (height === undefined) return {}
      const { stream, origin, maxOpen } = source.config
      // A source without a number also updates the stream, to show that an intake runs.
      const report =
        upTo === undefined
          ? { kind: 'configured' as const, stream, origin, maxOpen }
          : { kind: 'audited' as const, upTo, height, present: [] }
      await streamClient.apply([report])
      return upTo === undefined ? {} : { height }
    },
    /** Reads the count again if it is below this number. If the read fails, returns the last count. Never throws. */
    async atLeast(number: string): Promise<string | undefined> {
      if (upTo !== undefined && BigInt(number) <= BigInt(upTo)) return upTo
      upTo = await source.highest(upTo).catch((error: unknown) => {
        logger.debug('the source was not counted', { stream: source.config.stream, error: String(error) })
        return upTo
      })
      return upTo
    },
  }
}

/**
 * Distances from the first number that the stream does not know. Several numbers are probed, because the Governor may
 * hold back a single one.
 */
const distances = [0n, 1n, 10n]
const mostRounds = 20
const above = 2n ** 64n

/** Asks servers for numbers above the highest known one, because a missed last message leaves no gap. */
export function createTailProbe({ source, bridge, submitter, lookup, streamClient, logger, isMissed }: SourceCountDeps) {
  return async function probe(from: string | undefined): Promise<NumberCounts> {
    const counts = { ...noNumbers }
    for (let round = 0; round < mostRounds; round++) {
      const { next = from, room = distances.length, paused } = streamClient.view ?? {}
      if (next === undefined || paused) break
      const numbers = distances.map((distance) => BigInt(next) + distance).filter((number) => number < above)
      // Fetches no more messages than the stream has room for, because transfers start before they are recorded.
      const outcomes = await fetchMessages({ source, bridge, submitter, lookup }, numbers.slice(0, room).map(String))
      const found = foundIn(outcomes)
      if (found.length === 0) break
      const response = await streamClient.apply(seenRequests(found, { missedBySpy: missedBySpy(outcomes, isMissed) }))
      if (response?.answers[0]?.kind !== 'done') break
      for (const [, status] of found) counts[status]++
      const facts = { stream: source.config.stream, numbers: found.map(([number]) => number).join(', ') }
      logger.info('servers have numbers above the highest received one', facts)
    }
    return counts
  }
}
