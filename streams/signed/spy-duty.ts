import { createRecent } from '../../intake/recent.ts'
import type { SignedDeps } from './deps.ts'
import type { FetchOutcome } from './fetch-missing.ts'

/** Numbers that the spy told lately. */
const mostTold = 10_000
const toldMs = 3_600_000

export type SpyDuty = ReturnType<typeof createSpyDuty>

/**
 * What a guardian spy owes this process: every message that is published while a subscription stands. One that it has not told, and that a server of the network
 * has, is a sign that it is connected and says nothing.
 */
export function createSpyDuty({ current }: Pick<SignedDeps['chain']['heads'], 'current'>, now: () => number = Date.now) {
  const told = createRecent(mostTold, toldMs)
  let since = Infinity
  return {
    /** A subscription was opened. Times of messages are those of their chain, whose clock may be ahead of ours. */
    begin: () => void (since = Math.max(now(), (current?.latest.timestamp ?? 0) * 1_000)),
    /** It has ended. */
    end: () => void (since = Infinity),
    /** The spy told this number, whatever came of its message. */
    tell: (number: string) => told.add(number),
    isUnheard: (number: string, publishedAt: number): boolean => publishedAt > since && !told.has(number),
  }
}

/** Those that servers had and that the spy should have told, ascending. */
export function unheardOf(outcomes: ReadonlyMap<string, FetchOutcome>, isUnheard: SpyDuty['isUnheard'] = () => false): readonly string[] {
  return [...outcomes].flatMap(([number, one]) => {
    const publishedAt = 'publishedAt' in one ? one.publishedAt : undefined
    return publishedAt !== undefined && isUnheard(number, publishedAt) ? [number] : []
  })
}
