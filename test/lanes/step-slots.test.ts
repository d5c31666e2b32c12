import { describe, expect, test, vi } from 'vitest'
import { StepSlots } from '../../lanes/step-slots.ts'
import { fakeTime } from '../helpers/fake-time.ts'

function step() {
  let end = (): void => {}
  const ended = new Promise<void>((resolve) => (end = resolve))
  const seen = { began: false }
  const run = async () => {
    seen.began = true
    await ended
    return 'done' as const
  }
  return { run, seen, end }
}

const never = new AbortController().signal

async function runLocal<T>(slots: StepSlots, id: string, run: () => Promise<T>): Promise<T | undefined> {
  const slot = slots.takeLocal(id)
  return slot && run().finally(slot.free)
}

describe('The slots of a key', () => {
  fakeTime()

  test('queued and local steps together never exceed the slots', async () => {
    const slots = new StepSlots(2)
    const [near, queued, late] = [step(), step(), step()]
    void runLocal(slots, 'a', near.run)
    void slots.runQueued(never, queued.run)
    const third = slots.runQueued(never, late.run)
    await vi.advanceTimersByTimeAsync(60_000)
    expect(late.seen.began).toBe(false)
    expect(await runLocal(slots, 'b', step().run)).toBeUndefined()
    near.end()
    await vi.advanceTimersByTimeAsync(0)
    expect(late.seen.began).toBe(true)
    late.end()
    expect(await third).toBe('done')
  })

  test('a promised slot is kept for its transfer, and for no other', async () => {
    const slots = new StepSlots(1)
    expect(await slots.promise('a')).toBe(true)
    expect(await runLocal(slots, 'b', step().run)).toBeUndefined()
    const kept = step()
    const ran = runLocal(slots, 'a', kept.run)
    expect(kept.seen.began).toBe(true)
    kept.end()
    expect(await ran).toBe('done')
    expect(await slots.promise('c')).toBe(true)
  })

  test('an admission waits a second for a slot, behind the steps of the queue', async () => {
    const slots = new StepSlots(1)
    const [first, queued] = [step(), step()]
    void runLocal(slots, 'a', first.run)
    const early = slots.promise('b')
    void slots.runQueued(never, queued.run)
    first.end()
    await vi.advanceTimersByTimeAsync(0)
    expect(queued.seen.began).toBe(true)
    await vi.advanceTimersByTimeAsync(1_000)
    expect(await early).toBe(false)
    const next = slots.promise('c')
    queued.end()
    await vi.advanceTimersByTimeAsync(0)
    expect(await next).toBe(true)
  })

  test('an unused promise ends after ten seconds; after five of them none is made for a while', async () => {
    const slots = new StepSlots(1)
    for (const id of ['a', 'b', 'c', 'd', 'e']) {
      expect(await slots.promise(id)).toBe(true)
      await vi.advanceTimersByTimeAsync(10_000)
    }
    expect(await slots.promise('f')).toBe(false)
    const queued = step()
    void slots.runQueued(never, queued.run)
    await vi.advanceTimersByTimeAsync(0)
    expect(queued.seen.began).toBe(true)
    queued.end()
    await vi.advanceTimersByTimeAsync(15_000)
    expect(await slots.promise('g')).toBe(true)
  })

  test('a clock that is set back does not make the time without promises longer', async () => {
    const slots = new StepSlots(1)
    for (const id of ['a', 'b', 'c', 'd', 'e']) {
      expect(await slots.promise(id)).toBe(true)
      await vi.advanceTimersByTimeAsync(10_000)
    }
    vi.setSystemTime(Date.now() - 86_400_000)
    await vi.advanceTimersByTimeAsync(15_000)
    expect(await slots.promise('f')).toBe(true)
  })

  test('a step of the queue that is cancelled while it waits meets that itself, and its slot is not lost', async () => {
    const slots = new StepSlots(1)
    const [first, cancelled] = [step(), step()]
    const ran = runLocal(slots, 'a', first.run)
    const cancel = new AbortController()
    const waiting = slots.runQueued(cancel.signal, cancelled.run)
    cancel.abort()
    await vi.advanceTimersByTimeAsync(0)
    expect(cancelled.seen.began).toBe(true)
    cancelled.end()
    await waiting
    first.end()
    await ran
    expect(await slots.promise('b')).toBe(true)
    expect(await runLocal(slots, 'c', step().run)).toBeUndefined()
  })

  test('a step that fails frees its slot', async () => {
    const slots = new StepSlots(1)
    await expect(runLocal(slots, 'a', () => Promise.reject(new Error('no')))).rejects.toThrow('no')
    expect(await slots.promise('b')).toBe(true)
  })
})
