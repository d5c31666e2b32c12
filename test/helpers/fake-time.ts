import { afterEach, beforeAll, beforeEach, vi } from 'vitest'

/** Longer than the pauses of loops that would run millions of times in a faked hour, ms. */
const cutMs = 60
const really = setTimeout

/**
 * Fake timers for the tests of the calling suite, so that minutes of waiting pass at once. Test files share a process,
 * so another file's loop that retries every few milliseconds would run through the whole faked time. Such a loop first
 * gets time to set its next try on the real clock. @param now ms; absent: the machine's time
 */
export function fakeTime(now?: number): void {
  const fake = () => void vi.useFakeTimers(now === undefined ? {} : { now })
  beforeAll(async () => {
    fake()
    await new Promise<void>((resolve) => really(resolve, cutMs))
    vi.useRealTimers()
  })
  beforeEach(fake)
  afterEach(() => void vi.useRealTimers())
}
