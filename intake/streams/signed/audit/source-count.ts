import type { GapReport } from '../gaps/gap-filler.ts'
import { createTailProbe, type TailProbeDeps } from './tail-probe.ts'

/**
 * How many numbers a source has given out: by its own count, and where nobody counts, as far as the servers of the network show.
 * @param begins the number at which a stream begins that is not there yet and that no node counts; undefined: with the first that is heard
 */
export function createSourceCount(deps: TailProbeDeps, begins: () => Promise<string | undefined>) {
  const { source, chain, streamClient, logger } = deps
  const probe = createTailProbe(deps)
  let upTo: string | undefined
  return {
    /** The highest number at the source's finalized state, as last asked; undefined: none, or nobody counts. */
    get upTo(): string | undefined {
      return upTo
    },
    /** Counts anew, and tells the stream. What the servers had above is in the report. Throws what reads throw. */
    async take(): Promise<{ height?: number } & Partial<GapReport>> {
      if (source.withoutNode) {
        // The view may be older than the stream: another process may have begun it.
        const state = await streamClient.state()
        return probe(state ? undefined : await begins())
      }
      // Read before the count: the count is that of this block or of a later one.
      const height = chain.heads.current?.finalized
      upTo = await source.highest(upTo)
      if (upTo === undefined || height === undefined) return {}
      await streamClient.apply([{ kind: 'audited', upTo, height, present: [] }])
      return { height }
    },
    /** Counts anew, if the last count is below this number. Never throws: what is older is good enough. */
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
