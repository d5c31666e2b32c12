import { afterEach, beforeAll, beforeEach, vi } from 'vitest'

/** Longer than the pause of any loop that would run millions of times in a faked hour, ms. */
const cutMs = 60
const really = setTimeout

/**
 * Fakes the timers of the calling suite. Loops that other files have left in this process would run through the faked
 * time, so the timers are first faked for `cutMs` by a clock that does not advance: a loop that sets a timer during
 * `cutMs` never continues. `now`: ms.
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
