import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type Bisection, bisection, tried } from '../../domain/batch/bisection.ts'

interface Run {
  readonly completed: readonly number[]
  readonly isolated: readonly number[]
  readonly sizes: readonly number[]
}

/** Runs a bisection to its end. A batch fails if it contains a bad transfer or has more than `room` transfers. */
function run(start: Bisection<number>, transfers: readonly number[], bad: ReadonlySet<number>, room = Infinity): Run {
  const completed: number[] = []
  const isolated: number[] = []
  const sizes: number[] = []
  let [state, waiting] = [start, transfers]
  while (state.halves.length > 0 || waiting.length > 0) {
    if (sizes.length > 20_000) throw new Error('It does not end')
    const [half] = state.halves
    const batch = half ?? waiting.slice(0, state.size)
    if (!half) waiting = waiting.slice(state.size)
    const ok = batch.length <= room && !batch.some((one) => bad.has(one))
    sizes.push(batch.length)
    if (ok) completed.push(...batch)
    else if (batch.length === 1) isolated.push(...batch)
    state = tried(state, batch, ok ? 'completed' : 'failed')
    // Histories of workflows store the state as JSON.
    expect(JSON.parse(JSON.stringify(state))).toEqual(state)
  }
  return { completed, isolated, sizes }
}

const upTo = (count: number) => Array.from({ length: count }, (_, index) => index)
const ascending = (values: readonly number[]) => [...values].sort((a, b) => a - b)

describe('bisection of batches', () => {
  test('bisection completes every good transfer and isolates every bad one, in few tries', () => {
    fc.assert(
      fc.property(
        fc
          .integer({ min: 1, max: 300 })
          .chain((count) => fc.tuple(fc.constant(count), fc.uniqueArray(fc.nat(count - 1), { maxLength: 25 }))),
        fc.integer({ min: 1, max: 64 }),
        fc.integer({ min: 1, max: 64 }),
        ([count, bad], size, most) => {
          const { completed, isolated, sizes } = run(bisection({ size, most }), upTo(count), new Set(bad))
          expect(ascending(completed)).toEqual(upTo(count).filter((one) => !bad.includes(one)))
          expect(ascending(isolated)).toEqual(ascending(bad))
          expect(Math.max(...sizes)).toBeLessThanOrEqual(most)
          // The bisection descends to each bad transfer and its neighbours, and then grows again.
          const levels = Math.ceil(Math.log2(most)) + 1
          expect(sizes.length).toBeLessThanOrEqual(Math.ceil(count / most) + levels + bad.length * (3 * levels + 2))
        },
      ),
    )
  })

  test('bisection makes batches smaller after a try without an answer, until one is answered', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 39 }), fc.integer({ min: 100, max: 400 }), (answered, count) => {
        let state: Bisection<number> = bisection({ size: 40 })
        let left = count
        const sizes: number[] = []
        for (let length = 40; length > answered; length = Math.min(state.size, left)) {
          sizes.push(length)
          state = tried(state, upTo(length), 'unanswered')
          left -= length
          expect(state.halves).toEqual([])
        }
        expect(sizes.length).toBeLessThanOrEqual(6)
        expect(state.size).toBeLessThanOrEqual(Math.max(answered, 1))
      }),
    )
    // If the first half has no answer, the second half must still be tried.
    const halved = tried(bisection({ size: 8 }), upTo(8), 'failed')
    expect(tried(halved, upTo(4), 'unanswered')).toMatchObject({ halves: [[4, 5, 6, 7]], size: 4 })
  })

  test('bisection finds the size that a block takes, and stays near it', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 40 }), fc.integer({ min: 1, max: 400 }), (room, count) => {
        const { completed, isolated, sizes } = run(bisection(), upTo(count), new Set(), room)
        expect([ascending(completed), isolated]).toEqual([upTo(count), []])
        // After the descent from 20, at worst every third try is too large, because its two halves are tried before a
        // larger batch.
        expect(sizes.filter((size) => size > room).length).toBeLessThanOrEqual(Math.ceil(sizes.length / 3) + 20)
      }),
    )
  })

  test('batches start with 20, grow to 40, halve and grow again', () => {
    const { sizes } = run(bisection(), upTo(200), new Set([60]))
    expect(sizes.slice(0, 4)).toEqual([20, 40, 40, 20])
    // Transfer 60 is the first of the third batch.
    expect(sizes).toEqual([20, 40, 40, 20, 10, 5, 3, 2, 1, 1, 1, 2, 5, 10, 20, 20, 40, 40])
    expect(run(bisection(), upTo(120), new Set()).sizes).toEqual([20, 40, 40, 20])
  })

  test('bisection keeps the sequence while nothing fails', () => {
    expect(run(bisection({ size: 2 }), [1, 2, 3, 4, 5], new Set())).toMatchObject({ completed: [1, 2, 3, 4, 5], sizes: [2, 3] })
  })
})
