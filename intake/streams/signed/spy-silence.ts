import { createRecent } from '../../submit/recent.ts'
import type { StreamClient } from '../stream-client.ts'
import type { SignedDeps } from './deps.ts'
import type { FetchOutcome } from './gaps/fetch-missing.ts'

/** Numbers that the spy told lately. */
const mostTold = 10_000
const toldMs = 3_600_000

export type ExpectedOfSpy = ReturnType<typeof createExpectedOfSpy>

/**
 * What is expected from a guardian spy: every message that is published while a subscription of this process stands. One that it has not told, and that a server of
 * the network has, is a sign that it is connected and says nothing.
 */
export function createExpectedOfSpy({ current }: Pick<SignedDeps['chain']['heads'], 'current'>, now: () => number = Date.now) {
  const told = createRecent(mostTold, toldMs)
  let openedAt: number | undefined
  let since = Infinity
  return {
    /** A subscription was opened. Times of messages are those of their chain, whose clock may be ahead of ours. */
    begin(): void {
      openedAt = now()
      since = Math.max(openedAt, (current?.latest.timestamp ?? 0) * 1_000)
    },
    /** It has ended. */
    end(): void {
      openedAt = undefined
      since = Infinity
    },
    /** When the subscription that stands was opened, ms by the clock of this process; undefined: none stands. */
    get openedAt(): number | undefined {
      return openedAt
    },
    /** The spy told this number, whatever came of its message. */
    tell: (number: string) => told.add(number),
    isUnheard: (number: string, publishedAt: number): boolean => publishedAt > since && !told.has(number),
  }
}

/** Those that servers had and that the spy should have told, ascending. */
export function unheardOf(
  outcomes: ReadonlyMap<string, FetchOutcome>,
  isUnheard: ExpectedOfSpy['isUnheard'] = () => false,
): readonly string[] {
  return [...outcomes].flatMap(([number, one]) => {
    const publishedAt = 'publishedAt' in one ? one.publishedAt : undefined
    return publishedAt !== undefined && isUnheard(number, publishedAt) ? [number] : []
  })
}

/**
 * What a stream notes of a spy that says nothing is of one subscription: a spy that was restarted is not called silent for what it did not tell before. Looks once at
 * each subscription, and ends what was noted before it was opened, by a report of the spy that has no number: releases that know no other take it, too.
 */
export function createSilenceEnd(
  { streamClient }: { readonly streamClient: Pick<StreamClient, 'state' | 'apply'> },
  expected: Pick<ExpectedOfSpy, 'openedAt'>,
) {
  let lookedAt: number | undefined
  return async (): Promise<void> => {
    const { openedAt } = expected
    if (openedAt === undefined || openedAt === lookedAt) return
    const missed = (await streamClient.state())?.missedBySpy
    if (missed && missed.since < openedAt) await streamClient.apply([{ kind: 'seen', numbers: [], received: true }])
    lookedAt = openedAt
  }
}
