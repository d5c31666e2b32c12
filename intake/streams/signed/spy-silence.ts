import { boundedMap } from '../../../runtime/bounded-map.ts'
import type { StreamClient } from '../stream-client.ts'
import type { SignedDeps } from './deps.ts'
import type { FetchOutcome } from './gaps/fetch-messages.ts'

const mostReceived = 10_000
const receivedMs = 3_600_000

export type ExpectedOfSpy = ReturnType<typeof createExpectedOfSpy>

/**
 * Knows which messages the spies should have sent. A spy is silent if it missed a message that a server has, and that
 * was published during the spy's subscription.
 */
export function createExpectedOfSpy(heads: Pick<SignedDeps['chain']['heads'], 'current'>, now: () => number = Date.now) {
  const numbers = boundedMap<string, true>(mostReceived, receivedMs)
  const open = new Map<string, { readonly openedAt: number; readonly since: number }>()
  return {
    /** `since` is at least the chain's time, because it is compared with times of the chain. */
    begin(spy: string): void {
      const openedAt = now()
      open.set(spy, { openedAt, since: Math.max(openedAt, (heads.current?.time ?? 0) * 1_000) })
    },
    end: (spy: string): void => void open.delete(spy),
    /**
     * Start of the oldest open subscription, ms since the epoch. A new subscription to another spy does not end a
     * silence.
     */
    get openedAt(): number | undefined {
      return open.size > 0 ? Math.min(...[...open.values()].map(({ openedAt }) => openedAt)) : undefined
    },
    received: (number: string) => void numbers.set(number, true),
    isMissed: (number: string, publishedAt: number): boolean =>
      !numbers.has(number) && [...open.values()].some(({ since }) => publishedAt > since),
  }
}

export function missedBySpy(outcomes: ReadonlyMap<string, FetchOutcome>, isMissed: ExpectedOfSpy['isMissed'] = () => false) {
  return [...outcomes].flatMap(([number, one]) => {
    const publishedAt = 'publishedAt' in one ? one.publishedAt : undefined
    return publishedAt !== undefined && isMissed(number, publishedAt) ? [number] : []
  })
}

/**
 * Returns a step that clears `missedBySpy` after a new subscription: messages missed earlier do not show that the spy
 * is silent now.
 */
export function createSilenceEnd(streamClient: Pick<StreamClient, 'state' | 'apply'>, expected: Pick<ExpectedOfSpy, 'openedAt'>) {
  let handled: number | undefined
  return async (): Promise<false> => {
    const { openedAt } = expected
    if (openedAt === undefined || openedAt === handled) return false
    const missed = (await streamClient.state())?.missedBySpy
    if (missed && missed.since < openedAt) await streamClient.apply([{ kind: 'seen', numbers: [], received: true }])
    handled = openedAt
    return false
  }
}
