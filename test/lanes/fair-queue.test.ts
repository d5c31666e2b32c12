import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { FairQueue, type Waiting } from '../../lanes/fair-queue.ts'

interface Named extends Waiting {
  readonly name: string
}

const ageingMs = 10_000

function waiter(name: string, changes: Partial<Waiting> = {}): Named {
  return { name, priority: 3, source: 'a', since: 0, ...changes }
}

function roomOf(...waiters: readonly Named[]): FairQueue<Named> {
  const queue = new FairQueue<Named>()
  for (const one of waiters) queue.enter(one)
  return queue
}

function names(waiters: readonly Named[]): string[] {
  return waiters.map(({ name }) => name)
}

describe('The nonce queue', () => {
  test('the nonce queue serves the better class first, and within a class the older waiter', () => {
    const queue = roomOf(
      waiter('late', { since: 2 }),
      waiter('low', { priority: 5 }),
      waiter('early', { since: 1 }),
      waiter('first', { priority: 1, since: 3 }),
    )
    expect(names(queue.take(9, 10))).toEqual(['first', 'early', 'late', 'low'])
  })

  test('a waiter of a low class rises by one class every ten seconds', () => {
    const old = waiter('old', { priority: 4, since: 0 })
    const young = (at: number) => waiter('young', { priority: 3, since: at })
    expect(names(roomOf(old, young(ageingMs - 1)).take(1, ageingMs - 1))).toEqual(['young'])
    expect(names(roomOf(old, young(2 * ageingMs)).take(1, 2 * ageingMs))).toEqual(['old'])
  })

  test('sources of one class take turns, however many waiters one source has', () => {
    const many = Array.from({ length: 100 }, (_, index) => waiter(`a${index}`, { since: index }))
    const few = [waiter('b0', { source: 'b', since: 200 }), waiter('b1', { source: 'b', since: 201 })]
    const queue = roomOf(...many, ...few)
    expect(names(queue.take(6, 300))).toEqual(['a0', 'b0', 'a1', 'b1', 'a2', 'a3'])
  })

  test('the nonce queue remembers the turn of the sources', () => {
    const queue = roomOf(waiter('a0'), waiter('a1', { since: 1 }), waiter('b0', { source: 'b', since: 2 }))
    expect(names(queue.take(1, 5))).toEqual(['a0'])
    expect(names(queue.take(1, 5))).toEqual(['b0'])
    expect(names(queue.take(1, 5))).toEqual(['a1'])
  })

  test('within a class and source the earliest deadline goes first, then waiters without one by age', () => {
    const queue = roomOf(
      waiter('old'),
      waiter('young', { since: 3 }),
      waiter('later', { since: 1, deadline: 90_000 }),
      waiter('sooner', { since: 2, deadline: 60_000 }),
    )
    expect(names(queue.take(4, 10))).toEqual(['sooner', 'later', 'old', 'young'])
  })

  test('a deadline gains nothing on a better class, or on the turn of another source', () => {
    const queue = roomOf(
      waiter('hurry', { priority: 4, deadline: 11 }),
      waiter('better', { priority: 3, since: 1 }),
      waiter('a0', { since: 2, deadline: 11 }),
      waiter('a1', { since: 3, deadline: 11 }),
      waiter('b0', { source: 'b', since: 4 }),
    )
    expect(names(queue.take(5, 10))).toEqual(['a0', 'b0', 'a1', 'better', 'hurry'])
  })

  test('hundreds of waiters of one source leave every other slot of a small window to the other source', () => {
    const property = fc.property(fc.integer({ min: 1, max: 4 }), fc.integer({ min: 100, max: 500 }), (window, flood) => {
      const queue = roomOf(...Array.from({ length: flood }, (_, index) => waiter(`flood${index}`, { since: index, deadline: 1_000_000 })))
      const few = Array.from({ length: 5 }, (_, index) => waiter(`few${index}`, { source: 'b', since: flood + index }))
      for (const one of few) queue.enter(one)
      const served: string[] = []
      for (let turn = 0; served.length < 12; turn++) served.push(...names(queue.take(window, flood + 5 + turn)))
      // Sources take turns, so the fifth call of the small source is among the first ten.
      expect(served.slice(0, 10).filter((name) => name.startsWith('few'))).toEqual(names(few))
    })
    fc.assert(property)
  })

  test('the nonce queue does not serve a waiter that has left', () => {
    const gone = waiter('gone')
    const queue = roomOf(gone, waiter('there', { since: 1 }))
    queue.leave(gone)
    expect(queue.size).toBe(1)
    expect(names(queue.take(2, 5))).toEqual(['there'])
  })

  const anyWaiter = fc.record({
    priority: fc.integer({ min: 1, max: 5 }),
    source: fc.constantFrom('a', 'b', 'c'),
    since: fc.integer({ min: 0, max: 100_000 }),
    deadline: fc.option(fc.integer({ min: 0, max: 200_000 }), { nil: undefined }),
  })

  test('every waiter is served once, never more at a time than there are slots', () => {
    const property = fc.property(
      fc.array(anyWaiter, { maxLength: 60 }),
      fc.array(fc.integer({ min: -3, max: 9 }), { maxLength: 20 }),
      (all, slots) => {
        const queue = roomOf(...all.map((one, index) => ({ ...one, name: String(index) })))
        const served: string[] = []
        for (const [turn, count] of [...slots, all.length].entries()) {
          const taken = queue.take(count, 100_000 + turn)
          expect(taken.length).toBeLessThanOrEqual(Math.max(0, count))
          served.push(...names(taken))
        }
        expect(served.length).toBe(new Set(served).size)
        expect(served.length).toBe(all.length)
        expect(queue.size).toBe(0)
      },
    )
    fc.assert(property)
  })

  test('a stream of first-class waiters delays the last class by forty seconds at most', () => {
    const property = fc.property(
      fc.integer({ min: 1, max: 5 }),
      fc.integer({ min: 100, max: 2_000 }),
      fc.nat({ max: 20 }),
      fc.constantFrom('a', 'b'),
      fc.boolean(),
      (priority, everyMs, ahead, source, urgent) => {
        const deadline = urgent ? 1 : undefined
        const queue = roomOf(...Array.from({ length: ahead }, (_, index) => waiter(`ahead${index}`, { priority: 1, source, deadline })))
        queue.enter(waiter('patient', { priority }))
        let now = 0
        // Each tick frees one slot and adds one waiter of the first class.
        for (; now < 200_000; now += everyMs) {
          queue.enter(waiter(`fresh${now}`, { priority: 1, source, since: now, deadline }))
          if (names(queue.take(1, now)).includes('patient')) break
        }
        // A waiter that has risen to the first class still waits for earlier waiters of this class.
        expect(now).toBeLessThanOrEqual((priority - 1) * ageingMs + (ahead + 2) * everyMs + ageingMs)
      },
    )
    fc.assert(property)
  })
})
