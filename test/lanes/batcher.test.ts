import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { Batcher, type BatchBuilder } from '../../lanes/batch/batcher.ts'

interface BatchCandidate {
  readonly name: number
  readonly priority: number
  readonly source: string
}
type Answer = 'alone' | 'late' | 'bad' | `with ${number}`

const periodMs = 1_000
const patienceMs = 3_000
const most = 40

/** Riders and their departures under a clock of the test; nobody but the clock is a stand-in. */
describe('A batcher', () => {
  beforeEach(() => vi.useFakeTimers())
  afterEach(() => vi.useRealTimers())

  /** One that takes everybody but the bad, who are in the way of all others. */
  function setting({
    bad = new Set<number>(),
    limit = most,
    ready = async () => {},
  }: { bad?: ReadonlySet<number>; limit?: number; ready?: () => Promise<void> } = {}) {
    const departures: { riders: number[]; suspects: boolean; at: number }[] = []
    const settled = new Map<number, Answer>()
    const start = Date.now()
    const batcher: Batcher<BatchCandidate, Answer> = new Batcher({
      most: limit,
      periodMs,
      patienceMs,
      alone: 'alone',
      now: () => Date.now(),
      async depart(riders, suspects): Promise<BatchBuilder<BatchCandidate, Answer>> {
        departures.push({ riders: riders.map(({ name }) => name), suspects, at: Date.now() - start })
        await ready()
        if (riders.length === 1)
          return { together: true, answers: new Map(riders.map((one) => [one, bad.has(one.name) ? 'bad' : 'alone'])) }
        if (riders.some(({ name }) => bad.has(name))) return { together: false, answers: new Map() }
        return { together: true, answers: new Map(riders.map((one) => [one, `with ${riders.length}` as const])) }
      },
    })
    const come = (name: number, options: { timeoutMs?: number; signal?: AbortSignal; priority?: number } = {}) => {
      const { timeoutMs = 60_000, signal, priority = 3 } = options
      return batcher.board({ name, priority, source: 'route' }, { timeoutMs, ...(signal && { signal }), late: 'late' }).then((answer) => {
        if (settled.has(name)) throw new Error(`${name} was answered twice`)
        settled.set(name, answer)
        return answer
      })
    }
    return { batcher, departures, settled, come }
  }
  const names = (count: number, from = 0) => Array.from({ length: count }, (_, index) => from + index)

  test('sends everyone alone and at once on a quiet day', async () => {
    const { come, departures } = setting()
    for (let name = 0; name < 10; name++) {
      expect(await come(name)).toBe('alone')
      await vi.advanceTimersByTimeAsync(patienceMs / 2)
    }
    expect(departures).toEqual([])
  })

  test('takes those together who came while others left, at the end of the period', async () => {
    const { come, departures, settled } = setting()
    for (const name of names(3)) void come(name)
    await vi.advanceTimersByTimeAsync(periodMs - 1)
    expect([...settled.keys()]).toEqual([0, 1])
    await vi.advanceTimersByTimeAsync(1)
    expect(departures).toEqual([{ riders: [2], suspects: false, at: periodMs }])
  })

  test('has patience in busy times: those who keep coming leave together, and never later', async () => {
    const { come, departures, settled } = setting()
    for (const name of names(16)) {
      void come(name)
      await vi.advanceTimersByTimeAsync(500)
    }
    // With the fourth it was busy; from then on patience counts from the first who waits.
    expect(departures.map(({ riders, at }) => [riders.length, at])).toEqual([
      [6, 4_500],
      [6, 7_500],
    ])
    await vi.advanceTimersByTimeAsync(patienceMs)
    expect(settled.size).toBe(16)
    expect(await come(16)).toBe('alone')
  })

  test('sends a full batch at once, and grows by luck up to its limit', async () => {
    const { come, departures } = setting()
    for (const name of names(202)) void come(name)
    await vi.advanceTimersByTimeAsync(0)
    expect(departures.map(({ riders }) => riders.length)).toEqual([20, 40, 40, 40, 40])
    await vi.advanceTimersByTimeAsync(patienceMs)
    expect(departures.map(({ riders }) => riders.length)).toEqual([20, 40, 40, 40, 40, 20])
  })

  test('lets who is in a hurry go first', async () => {
    const { come, departures } = setting({ limit: 4 })
    for (const name of names(5)) void come(name)
    void come(6, { priority: 1 })
    await vi.advanceTimersByTimeAsync(periodMs)
    expect(departures[0]?.riders).toEqual([6, 2, 3, 4])
  })

  test('isolates the one that is in the way of the others', async () => {
    const { come, departures, settled } = setting({ bad: new Set([11]) })
    for (const name of names(22)) void come(name)
    await vi.advanceTimersByTimeAsync(periodMs)
    expect(settled.get(11)).toBe('bad')
    expect([...settled.values()].filter((answer) => answer.startsWith('with') || answer === 'alone')).toHaveLength(21)
    expect(departures.length).toBeLessThanOrEqual(2 * Math.ceil(Math.log2(20)) + 1)
    expect(departures.slice(1).every(({ suspects }) => suspects)).toBe(true)
  })

  test('answers who waited too long, or gave up, and takes none of them along', async () => {
    const { come, departures, settled } = setting()
    const leave = new AbortController()
    for (const name of names(3)) if (name > 0) void come(name)
    void come(3, { timeoutMs: 500 })
    void come(4, { signal: leave.signal })
    void come(5)
    await vi.advanceTimersByTimeAsync(600)
    leave.abort()
    await vi.advanceTimersByTimeAsync(patienceMs)
    expect([settled.get(3), settled.get(4)]).toEqual(['late', 'late'])
    expect(departures.map(({ riders }) => riders)).toEqual([[5]])
    expect(await come(6, { signal: leave.signal })).toBe('late')
  })

  test('lets nobody off who is leaving', async () => {
    let go = () => {}
    const ready = new Promise<void>((resolve) => (go = resolve))
    const { come, departures, settled } = setting({ ready: () => ready })
    const all = names(22).map((name) => come(name, { timeoutMs: 2_000 }))
    // Long past the time of all of them.
    await vi.advanceTimersByTimeAsync(60_000)
    expect([departures.length, settled.size]).toEqual([1, 2])
    go()
    expect((await Promise.all(all)).filter((answer) => answer === 'with 20')).toHaveLength(20)
  })

  test('fails those whose departure failed, and goes on', async () => {
    let down = true
    const batcher: Batcher<BatchCandidate, Answer> = new Batcher({
      ...{ most, periodMs, patienceMs, alone: 'alone', now: () => Date.now() },
      async depart(riders): Promise<BatchBuilder<BatchCandidate, Answer>> {
        if (down) throw new Error('the node is down')
        return { together: true, answers: new Map(riders.map((one) => [one, `with ${riders.length}` as const])) }
      },
    })
    const board = (name: number) => batcher.board({ name, priority: 3, source: 'route' }, { timeoutMs: 60_000, late: 'late' }).catch(String)
    const first = Promise.all(names(5).map(board))
    await vi.advanceTimersByTimeAsync(patienceMs)
    expect((await first).slice(2)).toEqual(Array(3).fill('Error: the node is down'))
    down = false
    const second = Promise.all(names(5).map(board))
    await vi.advanceTimersByTimeAsync(2 * patienceMs)
    expect((await second).at(-1)).toMatch(/^with/)
    expect(batcher.waiting).toBe(0)
  })

  test('goes on in smaller company where a node never answers for so many', async () => {
    const tries: number[] = []
    const batcher: Batcher<BatchCandidate, Answer> = new Batcher({
      ...{ most, periodMs, patienceMs, alone: 'alone', now: () => Date.now() },
      async depart(riders): Promise<BatchBuilder<BatchCandidate, Answer>> {
        tries.push(riders.length)
        if (riders.length > 6) throw new Error('the node timed out')
        return { together: true, answers: new Map(riders.map((one) => [one, `with ${riders.length}` as const])) }
      },
    })
    // Whose departure failed comes again, as the retries of its step do.
    const board = async (name: number): Promise<Answer> => {
      for (let tries = 0; tries < 20; tries++) {
        const answer = await batcher
          .board({ name, priority: 3, source: 'route' }, { timeoutMs: 60_000, late: 'late' })
          .catch(() => undefined)
        if (answer !== undefined) return answer
      }
      return 'late'
    }
    const all = Promise.all(names(60).map(board))
    await vi.advanceTimersByTimeAsync(10 * patienceMs)
    expect((await all).every((answer) => answer === 'alone' || answer.startsWith('with'))).toBe(true)
    // Down from 20 to what is answered; from then on at worst every second try is too large again.
    expect(tries.filter((size) => size > 6).length).toBeLessThanOrEqual(2 + tries.filter((size) => size <= 6).length)
  })

  test('answers everyone exactly once, the good ones well, whoever comes when', async () => {
    const arrivals = fc.array(fc.record({ afterMs: fc.nat(400), bad: fc.boolean(), patient: fc.boolean() }), { maxLength: 120 })
    await fc.assert(
      fc.asyncProperty(arrivals, fc.nat(300), fc.integer({ min: 2, max: 50 }), async (list, departMs, limit) => {
        const bad = new Set(list.flatMap((one, name) => (one.bad && name % 5 === 0 ? [name] : [])))
        // How long a departure takes is part of what is at random, on the clock of the test.
        const ready = () => new Promise<void>((resolve) => setTimeout(resolve, departMs))
        const { come, departures, settled, batcher } = setting({ bad, limit, ready })
        for (const [name, { afterMs, patient }] of list.entries()) {
          await vi.advanceTimersByTimeAsync(afterMs % 40 === 0 ? afterMs : 0)
          void come(name, { timeoutMs: patient ? 10_000_000 : 700 })
        }
        // As long as the slowest departures of the most bad ones take, and far longer.
        await vi.advanceTimersByTimeAsync(600_000)
        expect(settled.size).toBe(list.length)
        expect(batcher.waiting).toBe(0)
        for (const { riders } of departures) expect(riders.length).toBeLessThanOrEqual(limit)
        for (const [name, { patient }] of list.entries()) if (patient) expect(settled.get(name)).not.toBe('late')
        for (const [name, answer] of settled) if (answer === 'bad') expect(bad.has(name)).toBe(true)
      }),
      { numRuns: 60 },
    )
  })
})
