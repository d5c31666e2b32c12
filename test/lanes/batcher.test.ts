import fc from 'fast-check'
import { describe, expect, test, vi } from 'vitest'
import { Batcher, type Flushed } from '../../lanes/batch/batcher.ts'
import { fakeTime } from '../helpers/fake-time.ts'

interface BatchCandidate {
  readonly name: number
  readonly priority: number
  readonly source: string
}
type Answer = 'alone' | 'late' | 'bad' | `with ${number}`

const periodMs = 1_000
const fullBatchMs = 3_000
const most = 40

describe('A batcher', () => {
  fakeTime()

  /** A batcher whose flush of several candidates fails if one candidate is bad. */
  function setting({
    bad = new Set<number>(),
    limit = most,
    ready = async () => {},
  }: { bad?: ReadonlySet<number>; limit?: number; ready?: () => Promise<void> } = {}) {
    const flushes: { candidates: number[]; isHalf: boolean; at: number }[] = []
    const settled = new Map<number, Answer>()
    const start = Date.now()
    const batcher: Batcher<BatchCandidate, Answer> = new Batcher({
      most: limit,
      periodMs,
      fullBatchMs,
      alone: 'alone',
      now: () => Date.now(),
      async flush(candidates, isHalf): Promise<Flushed<BatchCandidate, Answer>> {
        flushes.push({ candidates: candidates.map(({ name }) => name), isHalf, at: Date.now() - start })
        await ready()
        if (candidates.length === 1)
          return { together: true, answers: new Map(candidates.map((one) => [one, bad.has(one.name) ? 'bad' : 'alone'])) }
        if (candidates.some(({ name }) => bad.has(name))) return { together: false, answers: new Map() }
        return { together: true, answers: new Map(candidates.map((one) => [one, `with ${candidates.length}` as const])) }
      },
    })
    const come = (name: number, options: { timeoutMs?: number; signal?: AbortSignal; priority?: number } = {}) => {
      const { timeoutMs = 60_000, signal, priority = 3 } = options
      return batcher.enqueue({ name, priority, source: 'route' }, { timeoutMs, ...(signal && { signal }), late: 'late' }).then((answer) => {
        if (settled.has(name)) throw new Error(`${name} was answered twice`)
        settled.set(name, answer)
        return answer
      })
    }
    return { batcher, flushes, settled, come }
  }
  const names = (count: number, from = 0) => Array.from({ length: count }, (_, index) => from + index)

  test('a batcher sends every candidate alone and at once in quiet times', async () => {
    const { come, flushes } = setting()
    for (let name = 0; name < 10; name++) {
      expect(await come(name)).toBe('alone')
      await vi.advanceTimersByTimeAsync(fullBatchMs / 2)
    }
    expect(flushes).toEqual([])
  })

  test('a batcher sends the third and later candidates of a period together at its end', async () => {
    const { come, flushes, settled } = setting()
    for (const name of names(3)) void come(name)
    await vi.advanceTimersByTimeAsync(periodMs - 1)
    expect([...settled.keys()]).toEqual([0, 1])
    await vi.advanceTimersByTimeAsync(1)
    expect(flushes).toEqual([{ candidates: [2], isHalf: false, at: periodMs }])
  })

  test('a batcher waits in busy times for a full batch, up to its limit', async () => {
    const { come, flushes, settled } = setting()
    for (const name of names(16)) {
      void come(name)
      await vi.advanceTimersByTimeAsync(500)
    }
    // Each flush follows its first candidate by `fullBatchMs`. The first candidates are the fourth arrival (at 1,500)
    // and the tenth (at 4,500).
    expect(flushes.map(({ candidates, at }) => [candidates.length, at])).toEqual([
      [6, 4_500],
      [6, 7_500],
    ])
    await vi.advanceTimersByTimeAsync(fullBatchMs)
    expect(settled.size).toBe(16)
    expect(await come(16)).toBe('alone')
  })

  test('a batcher sends a full batch at once, and doubles its size up to the limit', async () => {
    const { come, flushes } = setting()
    for (const name of names(202)) void come(name)
    await vi.advanceTimersByTimeAsync(0)
    expect(flushes.map(({ candidates }) => candidates.length)).toEqual([20, 40, 40, 40, 40])
    await vi.advanceTimersByTimeAsync(fullBatchMs)
    expect(flushes.map(({ candidates }) => candidates.length)).toEqual([20, 40, 40, 40, 40, 20])
  })

  test('a batcher takes the best class first', async () => {
    const { come, flushes } = setting({ limit: 4 })
    for (const name of names(5)) void come(name)
    void come(6, { priority: 1 })
    await vi.advanceTimersByTimeAsync(periodMs)
    expect(flushes[0]?.candidates).toEqual([6, 2, 3, 4])
  })

  test('a batcher isolates a candidate that makes the others fail', async () => {
    const { come, flushes, settled } = setting({ bad: new Set([11]) })
    for (const name of names(22)) void come(name)
    await vi.advanceTimersByTimeAsync(periodMs)
    expect(settled.get(11)).toBe('bad')
    expect([...settled.values()].filter((answer) => answer.startsWith('with') || answer === 'alone')).toHaveLength(21)
    expect(flushes.length).toBeLessThanOrEqual(2 * Math.ceil(Math.log2(20)) + 1)
    expect(flushes.slice(1).every(({ isHalf }) => isHalf)).toBe(true)
  })

  test('a batcher leaves out and answers a candidate that waited too long or gave up', async () => {
    const { come, flushes, settled } = setting()
    const leave = new AbortController()
    for (const name of names(3)) if (name > 0) void come(name)
    void come(3, { timeoutMs: 500 })
    void come(4, { signal: leave.signal })
    void come(5)
    await vi.advanceTimersByTimeAsync(600)
    leave.abort()
    await vi.advanceTimersByTimeAsync(fullBatchMs)
    expect([settled.get(3), settled.get(4)]).toEqual(['late', 'late'])
    expect(flushes.map(({ candidates }) => candidates)).toEqual([[5]])
    expect(await come(6, { signal: leave.signal })).toBe('late')
  })

  test('a batcher keeps a candidate in a flush that is under way', async () => {
    let go = () => {}
    const ready = new Promise<void>((resolve) => (go = resolve))
    const { come, flushes, settled } = setting({ ready: () => ready })
    const all = names(22).map((name) => come(name, { timeoutMs: 2_000 }))
    await vi.advanceTimersByTimeAsync(60_000)
    expect([flushes.length, settled.size]).toEqual([1, 2])
    go()
    expect((await Promise.all(all)).filter((answer) => answer === 'with 20')).toHaveLength(20)
  })

  test('a batcher rejects the candidates of a flush that throws, and goes on', async () => {
    let down = true
    const batcher: Batcher<BatchCandidate, Answer> = new Batcher({
      ...{ most, periodMs, fullBatchMs, alone: 'alone', now: () => Date.now() },
      async flush(candidates): Promise<Flushed<BatchCandidate, Answer>> {
        if (down) throw new Error('the node is down')
        return { together: true, answers: new Map(candidates.map((one) => [one, `with ${candidates.length}` as const])) }
      },
    })
    const enqueue = (name: number) =>
      batcher.enqueue({ name, priority: 3, source: 'route' }, { timeoutMs: 60_000, late: 'late' }).catch(String)
    const first = Promise.all(names(5).map(enqueue))
    await vi.advanceTimersByTimeAsync(fullBatchMs)
    expect((await first).slice(2)).toEqual(Array(3).fill('Error: the node is down'))
    down = false
    const second = Promise.all(names(5).map(enqueue))
    await vi.advanceTimersByTimeAsync(2 * fullBatchMs)
    expect((await second).at(-1)).toMatch(/^with/)
    expect(batcher.waiting).toBe(0)
  })

  test('batches get smaller if a node never answers for large ones', async () => {
    const tries: number[] = []
    const batcher: Batcher<BatchCandidate, Answer> = new Batcher({
      ...{ most, periodMs, fullBatchMs, alone: 'alone', now: () => Date.now() },
      async flush(candidates): Promise<Flushed<BatchCandidate, Answer>> {
        tries.push(candidates.length)
        if (candidates.length > 6) throw new Error('the node timed out')
        return { together: true, answers: new Map(candidates.map((one) => [one, `with ${candidates.length}` as const])) }
      },
    })
    // Repeats a failed `enqueue`, as the retries of a step do.
    const enqueue = async (name: number): Promise<Answer> => {
      for (let tries = 0; tries < 20; tries++) {
        const answer = await batcher
          .enqueue({ name, priority: 3, source: 'route' }, { timeoutMs: 60_000, late: 'late' })
          .catch(() => undefined)
        if (answer !== undefined) return answer
      }
      return 'late'
    }
    const all = Promise.all(names(60).map(enqueue))
    await vi.advanceTimersByTimeAsync(10 * fullBatchMs)
    expect((await all).every((answer) => answer === 'alone' || answer.startsWith('with'))).toBe(true)
    // The tried sizes fall from 20 until a size succeeds. From then on, at worst every second try is too large.
    expect(tries.filter((size) => size > 6).length).toBeLessThanOrEqual(2 + tries.filter((size) => size <= 6).length)
  })

  test('a batcher answers every candidate exactly once, and good ones with success, in any order', async () => {
    const arrivals = fc.array(fc.record({ afterMs: fc.nat(400), bad: fc.boolean(), patient: fc.boolean() }), { maxLength: 120 })
    await fc.assert(
      fc.asyncProperty(arrivals, fc.nat(300), fc.integer({ min: 2, max: 50 }), async (list, flushMs, limit) => {
        const bad = new Set(list.flatMap((one, name) => (one.bad && name % 5 === 0 ? [name] : [])))
        const ready = () => new Promise<void>((resolve) => setTimeout(resolve, flushMs))
        const { come, flushes, settled, batcher } = setting({ bad, limit, ready })
        for (const [name, { afterMs, patient }] of list.entries()) {
          await vi.advanceTimersByTimeAsync(afterMs % 40 === 0 ? afterMs : 0)
          void come(name, { timeoutMs: patient ? 10_000_000 : 700 })
        }
        // Run all timers. Each ends a flush or a candidate's wait.
        await vi.advanceTimersByTimeAsync(0)
        for (let steps = 0; vi.getTimerCount() > 0 && steps < 10_000; steps++) await vi.advanceTimersToNextTimerAsync()
        expect(vi.getTimerCount()).toBe(0)
        expect(settled.size).toBe(list.length)
        expect(batcher.waiting).toBe(0)
        for (const { candidates } of flushes) expect(candidates.length).toBeLessThanOrEqual(limit)
        for (const [name, { patient }] of list.entries()) if (patient) expect(settled.get(name)).not.toBe('late')
        for (const [name, answer] of settled) if (answer === 'bad') expect(bad.has(name)).toBe(true)
      }),
      { numRuns: 60 },
    )
  })
})
