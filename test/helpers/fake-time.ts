import { afterEach, beforeAll, beforeEach, vi } from 'vitest'

/** Longer than the pauses of what would be driven millions of times in a faked hour, ms. */
const cutMs = 60
const really = setTimeout

/**
 * Fake timers for the tests of the suite that calls it: minutes of waiting pass at once. Files share their process: what another file left trying every few
 * milliseconds would set its next try in the faked time, and be driven through all of it. So it loses that try before.
 * @param now ms; absent: the time of the machine
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
