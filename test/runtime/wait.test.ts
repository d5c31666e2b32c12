import { setImmediate } from 'node:timers/promises'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { pause, poll, Wait, within } from '../../runtime/wait.ts'

afterEach(() => vi.useRealTimers())

const aborted = AbortSignal.abort(new Error('stopping'))

describe('Wait', () => {
  test('a wait calls onLimit at its timeout and lets it decide the result', async () => {
    const wait = new Wait<string>({ timeoutMs: 5 }, () => wait.resolve('late'))
    expect(wait.over).toBe(false)
    expect(await wait.promise).toBe('late')
    expect(wait.over).toBe(true)
  })

  test('a wait calls onLimit when its signal aborts, also if it was aborted before', async () => {
    const abort = new AbortController()
    const wait = new Wait<void>({ signal: abort.signal }, () => wait.reject(abort.signal.reason))
    abort.abort(new Error('stopping'))
    await expect(wait.promise).rejects.toThrow('stopping')
    const late = new Wait<string>({ signal: aborted }, () => late.resolve('was aborted'))
    expect(await late.promise).toBe('was aborted')
  })

  test('a wait that is over calls onLimit no more', async () => {
    const abort = new AbortController()
    let limits = 0
    vi.useFakeTimers()
    const wait = new Wait<string>({ timeoutMs: 5, signal: abort.signal }, () => void limits++)
    wait.resolve('early')
    abort.abort()
    await vi.advanceTimersByTimeAsync(10)
    expect([await wait.promise, limits]).toEqual(['early', 0])
  })
})

describe('pause', () => {
  test('a pause ends early when its signal aborts, and never rejects', async () => {
    const abort = new AbortController()
    const paused = pause(1_000_000, abort.signal)
    abort.abort()
    expect(await paused).toBeUndefined()
    expect(await pause(1_000_000, aborted)).toBeUndefined()
  })

  test('a pause longer than Node’s longest timer does not end at once', async () => {
    const abort = new AbortController()
    let over = false
    const paused = pause(2 ** 40, abort.signal).then(() => (over = true))
    // Node turns a timer of more than 2^31 - 1 ms into one of 1 ms, which would end before this pause.
    await pause(1)
    expect(over).toBe(false)
    abort.abort()
    await paused
  })
})

describe('within', () => {
  test('work that ends in time settles the result, also with its error', async () => {
    expect(await within(1_000, Promise.resolve('done'), () => 'late')).toBe('done')
    await expect(within(1_000, Promise.reject(new Error('failed')), () => 'late')).rejects.toThrow('failed')
  })

  test('late work gives the result or the error of `late`', async () => {
    const never = new Promise<string>(() => {})
    const fail = () => {
      throw new Error('too late')
    }
    expect(await within(1, never, () => 'late')).toBe('late')
    await expect(within(1, never, fail)).rejects.toThrow('too late')
  })

  test('an error of work that is already late is not unhandled', async () => {
    const abort = new AbortController()
    const work = pause(1_000_000, abort.signal).then(() => Promise.reject(new Error('aborted')))
    expect(await within(1, work, () => abort.abort())).toBeUndefined()
    await setImmediate()
  })
})

describe('poll', () => {
  test('polling ends with the first round that returns true', async () => {
    let rounds = 0
    const polling = poll(() => Promise.resolve(++rounds === 3), { everyMs: 0, signal: new AbortController().signal })
    await polling
    expect(rounds).toBe(3)
  })

  test('polling ends when the signal aborts, and does not start if it was aborted before', async () => {
    const abort = new AbortController()
    let rounds = 0
    await poll(() => Promise.resolve(void (++rounds === 2 && abort.abort())), { everyMs: 0, signal: abort.signal })
    await poll(() => Promise.resolve(void rounds++), { everyMs: 0, signal: aborted })
    expect(rounds).toBe(2)
  })

  test('an error ends the polling unless onError takes it', async () => {
    const { signal } = new AbortController()
    let rounds = 0
    const fail = () => (++rounds < 3 ? Promise.reject(new Error(`failed ${rounds}`)) : Promise.resolve(true))
    await expect(poll(fail, { everyMs: 0, signal })).rejects.toThrow('failed 1')
    const errors: unknown[] = []
    await poll(fail, { everyMs: 0, signal, onError: (error) => errors.push((error as Error).message) })
    expect(errors).toEqual(['failed 2'])
  })
})
