import { afterEach, beforeAll, beforeEach, vi } from 'vitest'

/** Longer than the pause of any loop that would run millions of times in a faked hour, ms. */
const cutMs = 60
const really = setTimeout

/**
 * Fakes the timers for the tests of the calling suite, so that minutes pass at once. Test files share a process: a loop
 * of another file that retries every few milliseconds would run through the whole faked time. Therefore the timers are
 * first faked for `cutMs`, by a clock that never advances: such a loop sets its next timer on this clock, and so ends.
 * @param now ms; absent: the machine's time
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
