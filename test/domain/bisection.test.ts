import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type Bisection, bisection, extended, nextBatch, tried, unanswered } from '../../domain/batch/bisection.ts'

interface Run {
  readonly completed: readonly number[]
  readonly sizes: readonly number[]
  readonly state: Bisection<number>
}

/** Tries until nothing is left; a batch fails if one in it is bad or if it is larger than a block takes. */
function run(start: Bisection<number>, bad: ReadonlySet<number>, room = Infinity): Run {
  const completed: number[] = []
  const sizes: number[] = []
  let state = start
  for (let batch = nextBatch(state); batch; batch = nextBatch(state)) {
    if (sizes.length > 20_000) throw new Error('It does not end')
    const ok = batch.length <= room && !batch.some((one) => bad.has(one))
    sizes.push(batch.length)
    if (ok) completed.push(...batch)
    state = tried(state, ok)
    // What crosses a workflow's history is JSON.
    expect(JSON.parse(JSON.stringify(state))).toEqual(state)
  }
  return { completed, sizes, state }
}

const upTo = (count: number) => Array.from({ length: count }, (_, index) => index)
const ascending = (values: readonly number[]) => [...values].sort((a, b) => a - b)

describe('bisection of batches', () => {
  it('completes every good one and isolates every bad one, in few tries', () => {
    fc.assert(
      fc.property(
        fc
          .integer({ min: 1, max: 300 })
          .chain((count) => fc.tuple(fc.constant(count), fc.uniqueArray(fc.nat(count - 1), { maxLength: 25 }))),
        fc.integer({ min: 1, max: 64 }),
        fc.integer({ min: 1, max: 64 }),
        ([count, bad], size, most) => {
          const { completed, sizes, state } = run(bisection(upTo(count), { size, most }), new Set(bad))
          expect(ascending(completed)).toEqual(upTo(count).filter((one) => !bad.includes(one)))
          expect(ascending(state.isolated)).toEqual(ascending(bad))
          expect(Math.max(...sizes)).toBeLessThanOrEqual(most)
          // Per bad one: the way down to it and its neighbours, and growing again; at first growing from `size`.
          const levels = Math.ceil(Math.log2(most)) + 1
          expect(sizes.length).toBeLessThanOrEqual(Math.ceil(count / most) + levels + bad.length * (3 * levels + 2))
        },
      ),
    )
  })

  it('tries fewer together after a try that told nothing, until one is answered', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 39 }), fc.integer({ min: 100, max: 400 }), (answered, count) => {
        let state = bisection(upTo(count), { size: 40 })
        const sizes: number[] = []
        for (let batch = nextBatch(state); batch && batch.length > answered; batch = nextBatch(state)) {
          sizes.push(batch.length)
          const before = state.waiting.length
          state = unanswered(state)
          expect(state.halves).toEqual([])
          expect(state.waiting).toHaveLength(before - batch.length)
        }
        expect(sizes.length).toBeLessThanOrEqual(6)
        expect(state.size).toBeLessThanOrEqual(Math.max(answered, 1))
      }),
    )
    // A half of what could not go together says nothing of sizes; the other half is still to be tried.
    const halved = tried(bisection(upTo(8), { size: 8 }), false)
    expect(unanswered(halved)).toMatchObject({ halves: [[4, 5, 6, 7]], size: 4, isolated: [] })
    expect(unanswered(bisection([]))).toEqual(bisection([]))
  })

  it('finds the size that a block takes, and stays near it', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 40 }), fc.integer({ min: 1, max: 400 }), (room, count) => {
        const { completed, sizes, state } = run(bisection(upTo(count)), new Set(), room)
        expect([ascending(completed), state.isolated]).toEqual([upTo(count), []])
        // The way down from 20 to the size that fits, once; then at worst every third try is too large, followed by its two halves.
        expect(sizes.filter((size) => size > room).length).toBeLessThanOrEqual(Math.ceil(sizes.length / 3) + 20)
      }),
    )
  })

  it('starts with 20, grows to 40, halves and grows again', () => {
    const { sizes } = run(bisection(upTo(200)), new Set([60]))
    expect(sizes.slice(0, 4)).toEqual([20, 40, 40, 20])
    // 60 is the first of the third batch: found on the way down, beside the halves that are good.
    expect(sizes).toEqual([20, 40, 40, 20, 10, 5, 3, 2, 1, 1, 1, 2, 5, 10, 20, 20, 40, 40])
    expect(run(bisection(upTo(120)), new Set()).sizes).toEqual([20, 40, 40, 20])
  })

  it('keeps the order while nothing fails, and takes more at the end', () => {
    const state = extended(bisection([1, 2, 3], { size: 2 }), [4, 5])
    expect(run(state, new Set())).toMatchObject({ completed: [1, 2, 3, 4, 5], sizes: [2, 3] })
  })

  it('names the same batch until it was tried, and none when nothing is left', () => {
    const state = bisection([1, 2, 3], { size: 2 })
    expect([nextBatch(state), nextBatch(state)]).toEqual([
      [1, 2],
      [1, 2],
    ])
    const empty = bisection<number>([])
    expect([nextBatch(empty), tried(empty, true), tried(empty, false)]).toEqual([undefined, empty, empty])
  })
})
