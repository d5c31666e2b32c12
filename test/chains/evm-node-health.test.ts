import { describe, expect, test } from 'vitest'
import { RpcError } from '../../chains/evm/nodes/node-errors.ts'
import { createLimiter, createNodeHealth } from '../../chains/evm/nodes/node-client.ts'

describe('circuit breaker', () => {
  function at() {
    const clock = { now: 5_000 }
    const health = createNodeHealth(() => clock.now)
    return {
      clock,
      health,
      probe: (during = () => {}) => health.probe('1', async () => (during(), '1'), true),
      failingProbe: async (retryAfterMs?: number) => {
        const read = async () => {
          health.failed(retryAfterMs)
          throw new Error('no answer')
        }
        await expect(health.probe('1', read, true)).rejects.toThrow('no answer')
      },
    }
  }

  test('a circuit breaker opens at a failure, allows a probe after the pause, and closes at a success', async () => {
    const { clock, health, probe } = at()
    await probe()
    expect(health.state).toBe('up')
    health.failed()
    expect(health).toMatchObject({ state: 'failing', due: false, held: false })
    clock.now += 999
    expect(health.due).toBe(false)
    clock.now += 1
    expect(health.due).toBe(true)
    await probe(() => expect(health).toMatchObject({ state: 'probing', due: false }))
    expect(health.state).toBe('up')
  })

  test('figures of a node are as old as its last ended call, answered or not', () => {
    const { clock, health } = at()
    expect(health.figures).not.toHaveProperty('askedAt')
    health.answered(5)
    clock.now += 60_000
    const age = () => Math.round((Date.now() - (health.figures.askedAt ?? 0)) / 10_000)
    expect(age()).toBe(6)
    health.failed()
    expect(age()).toBe(0)
  })

  test('sixty calls that fail together are one failure; each probe that fails doubles the pause, to 30 s', async () => {
    const { clock, health, failingProbe } = at()
    for (let call = 0; call < 60; call++) health.failed()
    expect(health.figures.failures).toBe(1)
    const pauses: number[] = []
    for (let probe = 0; probe < 7; probe++) {
      const started = clock.now
      while (!health.due) clock.now += 500
      pauses.push(clock.now - started)
      await failingProbe()
    }
    expect(pauses).toEqual([1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000])
  })

  test("a probe's answer during failing calls does not shorten the pauses, and a real answer does", async () => {
    const { clock, health, probe } = at()
    health.failed()
    await probe()
    health.failed()
    clock.now += 1_000
    expect(health.due).toBe(false)
    clock.now += 1_000
    expect(health.due).toBe(true)
    await probe()
    health.answered(1)
    health.failed()
    clock.now += 1_000
    expect(health.due).toBe(true)
  })

  test('Retry-After holds back all calls, for 30 s at most', async () => {
    const { clock, health, failingProbe } = at()
    health.failed()
    health.failed(4_000)
    expect(health.held).toBe(true)
    clock.now += 3_999
    expect(health).toMatchObject({ held: true, due: false })
    clock.now += 1
    expect(health).toMatchObject({ held: false, due: true })
    await failingProbe(86_400_000)
    clock.now += 30_000
    expect(health).toMatchObject({ held: false, due: true })
  })

  test('the answer to an earlier probe does not end the pause of a later Retry-After', async () => {
    const { clock, health, probe } = at()
    await probe()
    await probe(() => health.failed(4_000))
    expect(health).toMatchObject({ state: 'failing', held: true, due: false })
    clock.now += 4_000
    expect(health).toMatchObject({ held: false, due: true })
    await probe()
    expect(health.state).toBe('up')
  })
})

describe('rate limit', () => {
  const reverted = 'execution reverted: rate limit exceeded'
  const gateway = 'too many requests'

  test.each([
    ['the revert of a contract is none', false, 'eth_call', { code: 3, message: reverted }],
    ['the revert of a contract is none, without its usual words', false, 'eth_estimateGas', { code: 3, message: gateway }],
    ['the revert of a contract is none in a send', false, 'eth_sendRawTransaction', { code: -32_000, message: reverted }],
    ['a text is one in a call', true, 'eth_call', { code: -32_000, message: gateway }],
    ['a text is one where no contract is quoted', true, 'eth_getLogs', { code: -32_000, message: reverted }],
    ['a code is one, whatever the text is', true, 'eth_call', { code: 429, message: reverted }],
  ])('whether an answer is a rate limit: %s', (_, limited, method, error) => {
    expect(new RpcError('http://node', method, error).limited).toBe(limited)
  })

  test('without a rate no call waits', () => {
    const limiter = createLimiter(undefined, () => 0)
    for (let call = 0; call < 1_000; call++) expect(limiter.take()).toBe(0)
  })

  test('the rate limit lets a second of calls through at once, and then one after the other', () => {
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

  test('a rate below one call per second is kept', () => {
    let now = 0
    const limiter = createLimiter(0.5, () => now)
    expect(limiter.take()).toBe(0)
    expect(limiter.waitMs).toBe(2_000)
    now += 2_000
    expect(limiter.take()).toBe(0)
  })
})
