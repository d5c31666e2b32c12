import { describe, expect, test } from 'vitest'
import { createBreaker } from '../../chains/evm/nodes/breaker.ts'
import { createLimiter } from '../../chains/evm/nodes/limiter.ts'

describe('circuit breaker', () => {
  function at(): { clock: { now: number }; breaker: ReturnType<typeof createBreaker> } {
    const clock = { now: 5_000 }
    return { clock, breaker: createBreaker(() => clock.now) }
  }

  test('opens at a failure, lets one probe go after the pause, closes when that comes back', () => {
    const { clock, breaker } = at()
    expect(breaker.state).toBe('closed')
    breaker.failed()
    expect(breaker).toMatchObject({ state: 'open', due: false, held: false })
    clock.now += 999
    expect(breaker.due).toBe(false)
    clock.now += 1
    expect(breaker.due).toBe(true)
    breaker.probing()
    expect(breaker).toMatchObject({ state: 'half-open', due: false })
    breaker.close()
    expect(breaker.state).toBe('closed')
  })

  test('sixty calls that fail together are one failure; each probe that fails doubles the pause, to 30 s', () => {
    const { clock, breaker } = at()
    for (let call = 0; call < 60; call++) breaker.failed()
    const pauses: number[] = []
    for (let probe = 0; probe < 7; probe++) {
      const started = clock.now
      while (!breaker.due) clock.now += 500
      pauses.push(clock.now - started)
      breaker.probing()
      breaker.failed()
    }
    expect(pauses).toEqual([1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000])
  })

  test('a probe that is answered while the real calls fail does not make the pauses short again; a real answer does', () => {
    const { clock, breaker } = at()
    breaker.failed()
    breaker.probing()
    breaker.close()
    breaker.failed()
    clock.now += 1_000
    expect(breaker.due).toBe(false)
    clock.now += 1_000
    expect(breaker.due).toBe(true)
    breaker.probing()
    breaker.close()
    breaker.succeeded()
    breaker.failed()
    clock.now += 1_000
    expect(breaker.due).toBe(true)
  })

  test('Retry-After holds everything back, for 30 s at most', () => {
    const { clock, breaker } = at()
    breaker.failed()
    breaker.failed(4_000)
    expect(breaker.held).toBe(true)
    clock.now += 3_999
    expect(breaker).toMatchObject({ held: true, due: false })
    clock.now += 1
    expect(breaker).toMatchObject({ held: false, due: true })
    breaker.probing()
    breaker.failed(86_400_000)
    clock.now += 30_000
    expect(breaker).toMatchObject({ held: false, due: true })
  })
})

describe('rate limit', () => {
  test('without a rate no call waits', () => {
    const limiter = createLimiter(undefined, () => 0)
    for (let call = 0; call < 1_000; call++) expect(limiter.take()).toBe(0)
  })

  test('a second of calls at once, then one place after the other', () => {
    let now = 0
    const limiter = createLimiter(10, () => now)
    for (let call = 0; call < 10; call++) expect(limiter.take()).toBe(0)
    expect(limiter.waitMs).toBe(100)
    expect([limiter.take(), limiter.take(), limiter.take()]).toEqual([100, 200, 300])
    now += 300
    expect(limiter.waitMs).toBe(100)
    now += 100_000
    for (let call = 0; call < 10; call++) expect(limiter.take()).toBe(0)
    expect(limiter.take()).toBe(100)
  })

  test('less than one call per second', () => {
    let now = 0
    const limiter = createLimiter(0.5, () => now)
    expect(limiter.take()).toBe(0)
    expect(limiter.waitMs).toBe(2_000)
    now += 2_000
    expect(limiter.take()).toBe(0)
  })
})
