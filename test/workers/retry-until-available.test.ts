import { describe, expect, test, vi } from 'vitest'
import { type ErrorCode, RelayerError } from '../../domain/catalogue/errors.ts'
import type { Logger } from '../../observability/logger.ts'
import { type RetryOptions, retryUntilAvailable, Stopped } from '../../workers/process/startup-dependencies.ts'
import { fakeTime } from '../helpers/fake-time.ts'

fakeTime()

function setting(options: Partial<RetryOptions> = {}) {
  const lines: string[] = []
  const at = (level: string) => (message: string, fields?: Record<string, unknown>) => {
    lines.push([level, message, fields?.['code']].filter(Boolean).join(' '))
  }
  const logger: Logger = { debug: () => {}, info: at('info'), warn: at('warn'), error: at('error'), child: () => logger }
  const stopping = new AbortController()
  const retry = <Value>(dependency: string, attempt: () => Promise<Value>) =>
    retryUntilAvailable(dependency, attempt, { logger, stopping: stopping.signal, ...options })
  return { lines, stopping, retry }
}

function failing(codes: readonly ErrorCode[]) {
  const left = [...codes]
  return vi.fn(async () => {
    const code = left.shift()
    if (code) throw new RelayerError(code)
    return 'there'
  })
}

describe('a start that waits', () => {
  test('a start goes on with the dependency; the same error is logged once, another one at once', async () => {
    const { retry, lines } = setting()
    const attempt = failing([
      'TEMPORAL_UNAVAILABLE',
      'TEMPORAL_UNAVAILABLE',
      'TEMPORAL_UNAVAILABLE',
      'TEMPORAL_NAMESPACE',
      'TEMPORAL_NAMESPACE',
    ])
    const value = retry('Temporal', attempt)
    await vi.advanceTimersByTimeAsync(60_000)
    expect(await value).toBe('there')
    expect(attempt).toHaveBeenCalledTimes(6)
    expect(lines).toEqual([
      'warn waiting for Temporal; trying again TEMPORAL_UNAVAILABLE',
      'warn waiting for Temporal; trying again TEMPORAL_NAMESPACE',
      'info the wait for Temporal is over',
    ])
  })

  test('nothing is logged for a dependency that is there at once', async () => {
    const { retry, lines } = setting()
    expect(await retry('Temporal', failing([]))).toBe('there')
    expect(lines).toEqual([])
  })

  test('during an hour of one error, a line is logged every five minutes, with a try every five seconds', async () => {
    const { retry, lines, stopping } = setting()
    const attempt = vi.fn(() => Promise.reject(new RelayerError('TEMPORAL_UNAVAILABLE')))
    const ended = retry('Temporal', attempt).catch((error: unknown) => error)
    await vi.advanceTimersByTimeAsync(3_600_000)
    expect(lines.length).toBeGreaterThanOrEqual(11)
    expect(lines.length).toBeLessThanOrEqual(13)
    expect(attempt.mock.calls.length).toBeGreaterThan(700)
    expect(attempt.mock.calls.length).toBeLessThan(740)
    stopping.abort()
    expect(await ended).toBeInstanceOf(Stopped)
  })

  test.each(['TEMPORAL_API_KEY_REFUSED', 'TEMPORAL_PERMISSION', 'TEMPORAL_CERTIFICATE_REFUSED'] as const)(
    'a server that refuses the credentials (%s) is tried only every half minute',
    async (code) => {
      const { retry, stopping } = setting()
      const attempt = vi.fn(() => Promise.reject(new RelayerError(code)))
      const ended = retry('Temporal', attempt).catch((error: unknown) => error)
      await vi.advanceTimersByTimeAsync(3_600_000)
      expect(attempt.mock.calls.length).toBeGreaterThan(115)
      expect(attempt.mock.calls.length).toBeLessThanOrEqual(121)
      stopping.abort()
      expect(await ended).toBeInstanceOf(Stopped)
    },
  )

  test('a waiting start ends at once when it is stopped', async () => {
    const paused = setting()
    const attempt = vi.fn(() => Promise.reject(new RelayerError('NODE_UNAVAILABLE')))
    const inPause = paused.retry('nodes', attempt).catch((error: unknown) => error)
    await vi.advanceTimersByTimeAsync(100)
    paused.stopping.abort()
    expect(await inPause).toBeInstanceOf(Stopped)
    expect(attempt).toHaveBeenCalledTimes(1)

    const hung = setting()
    const inTry = hung.retry('nodes', () => new Promise(() => {})).catch((error: unknown) => error)
    await vi.advanceTimersByTimeAsync(100)
    hung.stopping.abort()
    expect(await inTry).toBeInstanceOf(Stopped)
    await expect(hung.retry('nodes', attempt)).rejects.toBeInstanceOf(Stopped)
    expect(attempt).toHaveBeenCalledTimes(1)
  })

  test.each(['CHAIN_ID_MISMATCH', 'CONFIG_INVALID', 'INTERNAL'] as const)('%s is not waited for', async (code) => {
    const { retry, lines } = setting()
    await expect(retry('nodes', failing([code]))).rejects.toMatchObject({ code })
    expect(lines).toEqual([])
  })

  test('onWaiting is called after each try, and its error ends the wait', async () => {
    const waits: string[] = []
    const { retry } = setting({
      onWaiting: async (what, { code }) => {
        waits.push(`${what} ${code}`)
        if (waits.length === 2) throw new Error('the port is taken')
      },
    })
    const ended = retry('nodes', failing(['NODE_UNAVAILABLE', 'NODE_UNAVAILABLE'])).catch((error: unknown) => error)
    await vi.advanceTimersByTimeAsync(60_000)
    expect(String(await ended)).toContain('the port is taken')
    expect(waits).toEqual(['nodes NODE_UNAVAILABLE', 'nodes NODE_UNAVAILABLE'])
  })
})
