import { noNumbers, type NumberCounts, seenRequests } from '../../number-status.ts'
import type { GapsDeps, SignedDeps } from '../deps.ts'
import { fetchMessages, foundIn } from '../gaps/fetch-messages.ts'
import type { GapReport } from '../gaps/fill-gaps.ts'
import { missedBySpy } from '../spy-silence.ts'

type SourceCountDeps = SignedDeps & Pick<GapsDeps, 'isMissed'>

/**
 * Counts the numbers of a source: by its own count, or for a source without a node by the servers of the network.
 * @param begins the first number of a stream without a node that is not there yet. Undefined: the first received one
 */
export function createSourceCount(deps: SourceCountDeps, begins: () => Promise<string | undefined>) {
  const { source, chain, streamClient, logger } = deps
  const probe = createTailProbe(deps)
  let upTo: string | undefined
  return {
    /**
     * The highest number at the source's finalized state, as last read. Undefined: none, or a source without a node.
     */
    get upTo(): string | undefined {
      return upTo
    },
    /**
     * Counts again and reports to the stream. The result has the messages that servers had above. Throws what reads
     * throw.
     */
    async take(): Promise<{ height?: number } & Partial<GapReport>> {
      if (source.withoutNode) {
        // The view may be older than the stream: another process may have begun it.
        const state = await streamClient.state()
        return probe(state ? undefined : await begins())
      }
      // Read before the count, which is of this block or of a later one.
      const height = chain.heads.current?.finalized
      upTo = await source.highest(upTo)
      if (upTo === undefined || height === undefined) return {}
      await streamClient.apply([{ kind: 'audited', upTo, height, present: [] }])
      return { height }
    },
    /** The count, read again if it is below this number. Falls back to the last count. Never throws. */
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
 * Distances above the highest known number at which the servers are asked. The Governor may hold the next ones back.
 */
const distances = [0n, 1n, 10n]
/** Most rounds of three requests. Numbers farther away show with the next received message, or with the next audit. */
const mostRounds = 20
const above = 2n ** 64n

/**
 * Finds messages at the end of a stream without a node. A message that the spy has missed shows in no gap if no later
 * one was received. So the servers of the network are asked for numbers above the highest known one, and again above
 * those that they have.
 */
export function createTailProbe({ source, bridge, submitter, lookup, streamClient, logger, isMissed }: SourceCountDeps) {
  /** @param from first number of a stream that has not begun. Undefined: none */
  return async function probe(from: string | undefined): Promise<NumberCounts> {
    const counts = { ...noNumbers }
    for (let round = 0; round < mostRounds; round++) {
      const { next = from, room = distances.length, paused } = streamClient.view ?? {}
      if (next === undefined || paused) break
      const numbers = distances.map((distance) => BigInt(next) + distance).filter((number) => number < above)
      // A transfer starts before it is recorded: not more than there is room for.
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
