import { describe, expect, test, vi } from 'vitest'
import { createRetrySchedule } from '../../intake/streams/signed/gaps/record-fetched.ts'
import { createHttpHost } from '../../intake/submit/http-host.ts'
import { fakeTime } from '../helpers/fake-time.ts'
import { listenHttp } from '../helpers/servers.ts'

const dayMs = 86_400_000

test('a clock that is set back does not lengthen the pause of a server', async () => {
  let requests = 0
  const url = await listenHttp((_, response) => response.writeHead(++requests === 1 ? 503 : 200).end('{}'))
  const host = createHttpHost({ url, parallel: 1, pause: { firstMs: 50, mostMs: 50 } })
  const ahead = Date.now() + dayMs
  const clock = vi.spyOn(Date, 'now').mockImplementation(() => ahead)
  try {
    expect(await host.ask('a')).toMatchObject({ kind: 'failed', againInMs: 50 })
  } finally {
    clock.mockRestore()
  }
  await expect.poll(() => host.ask('a'), { interval: 20, timeout: 20_000 }).toMatchObject({ kind: 'found' })
})

describe('the schedule of missing numbers', () => {
  fakeTime(Date.parse('2026-11-21T12:00:00Z'))

  test('a clock that is set back does not delay the search for a missing number', () => {
    const schedule = createRetrySchedule(60_000)
    schedule.later('7', undefined, undefined)
    vi.setSystemTime(Date.now() - dayMs)
    expect(schedule.isDue('7')).toBe(false)
    vi.advanceTimersByTime(5_000)
    expect(schedule.isDue('7')).toBe(true)
    schedule.later('7', 'unobserved', undefined)
    vi.setSystemTime(Date.now() - dayMs)
    vi.advanceTimersByTime(5_001)
    schedule.hurry()
    expect(schedule.isDue('7')).toBe(true)
  })
})
