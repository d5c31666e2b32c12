import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { limits } from '../../domain/stream/gaps.ts'
import { isAnyOutside } from '../../domain/stream/outside-window.ts'
import { applyToStream, initialStream } from '../../domain/stream/reducer.ts'
import type { StreamCount, StreamRequest, StreamState } from '../../domain/stream/stream.ts'

/** Numbers below `base` are completed, except dust and gaps. */
const [base, many] = [10_000_000, 24]
const config = { stream: 'native-bridge:a:b', origin: '1/0xaa', first: '1', maxOpen: limits.open }
/** More packed numbers than the list outside the window can hold one by one, and their count. */
const [dust, dustCount] = [Array.from({ length: 12_400 }, () => '4').join(','), 12_400]

/** A stream and the true outcomes of its numbers (`ended`). */
class Counted {
  state: StreamState
  readonly ended: Partial<Record<StreamCount, Set<number>>> = {}
  completedBefore = base - 1
  condensed = 0
  #crowds = 0

  constructor(gaps: number) {
    const begun = initialStream(config)
    const apart = Array.from({ length: gaps }, (_, index) => String(5_000_000 + 10_000 * index))
    this.completedBefore -= gaps
    this.state = {
      ...begun,
      next: String(base),
      gaps: apart.map((number) => ({ from: number, to: number, state: 'held', at: 0 })),
      counts: { ...begun.counts, completed: this.completedBefore },
    }
    this.tell({ kind: 'seen', numbers: Array.from({ length: many / 2 }, (_, index) => [String(base + 2 * index)]) })
  }

  tell(...requests: readonly StreamRequest[]): void {
    this.state = applyToStream(this.state, { requests }, 5).state
    const condensed = this.state.outside.filter((one) => one.condensed)
    if (isAnyOutside({ outside: condensed }, String(base), String(base + many - 1))) this.condensed++
  }

  end(what: StreamCount, number: number, request: StreamRequest): void {
    ;(this.ended[what] ??= new Set()).add(number)
    this.tell(request)
  }

  /** Fills the list outside the window, so that the next parked number makes the stream join intervals. */
  crowd(): void {
    const packed = `${this.#crowds++ * 100_000 + 4}${dust.slice(1)}`
    this.completedBefore -= dustCount
    const counts = { ...this.state.counts, completed: this.state.counts.completed - dustCount }
    this.state = { ...this.state, counts, outside: [...this.state.outside, { code: `DUST`.padEnd(4 + this.#crowds, 'X'), packed }] }
  }

  get truth() {
    const of = (what: StreamCount) => this.ended[what]?.size ?? 0
    const completed = this.completedBefore + of('completed')
    return { completed, ignored: of('ignored'), cancelled: of('cancelled'), skipped: of('skipped') }
  }
}

type Happening = (counted: Counted, number: number) => void
const set = (number: number) => [[String(number), String(number)]] as const
const text = String

const once: Record<string, Happening> = {
  started: (counted, number) => counted.tell({ kind: 'seen', numbers: [[text(number)]] }),
  delivered: (counted, number) => counted.end('completed', number, { kind: 'seen', numbers: [[text(number)]], delivered: set(number) }),
  completed: (counted, number) => counted.end('completed', number, { kind: 'completed', numbers: set(number), from: 0, to: 1 }),
  parked: (counted, number) => counted.tell({ kind: 'parked', number: text(number), code: number % 2 ? 'GAS_LIMIT' : 'INTERNAL' }),
  crowd: (counted) => counted.crowd(),
}
const others: Record<string, Happening> = {
  ...once,
  unparked: (counted, number) => counted.tell({ kind: 'unparked', number: text(number) }),
  ignored: (counted, number) => counted.end('ignored', number, { kind: 'seen', numbers: [[text(number)]], ignored: set(number) }),
  cancelled: (counted, number) =>
    counted.end('cancelled', number, { kind: 'closed', number: text(number), outcome: 'cancelled', by: 'ops', reason: 'r' }),
  skipped: (counted, number) => counted.end('skipped', number, { kind: 'skip', number: text(number), by: 'ops', reason: 'r' }),
  undone: (counted, number) => counted.tell({ kind: 'undone', numbers: set(number) }),
}

function stories(happenings: Record<string, Happening>) {
  const what = fc.oneof(...Object.keys(happenings).map((name) => ({ weight: name === 'crowd' ? 1 : 4, arbitrary: fc.constant(name) })))
  return fc.array(fc.tuple(what, fc.nat({ max: many - 1 })), { maxLength: 60, size: 'max' })
}

describe('the counts of a stream', () => {
  test('a completed number counts once, whatever was parked and joined in between', () => {
    let condensed = 0
    fc.assert(
      fc.property(stories(once), (happened) => {
        const counted = new Counted(0)
        for (const [what, index] of happened) {
          once[what]?.(counted, base + index)
          expect(counted.state.counts.completed).toBeLessThanOrEqual(counted.truth.completed)
        }
        const all = Array.from({ length: many }, (_, index) => [text(base + index)] as const)
        const delivered = [[text(base), text(base + many - 1)]] as const
        counted.tell({ kind: 'seen', numbers: all, delivered })
        counted.tell({ kind: 'completed', numbers: [['1', text(base + many - 1)]], from: 1, to: 2 })
        expect(counted.state.counts.completed).toBe(base - 1 + many)
        condensed += counted.condensed
      }),
      { numRuns: 60 },
    )
    expect(condensed).toBeGreaterThan(0)
  }, 120_000)

  test('no count is above the truth, even if numbers are undone, or gaps are merged', () => {
    let merged = 0
    fc.assert(
      fc.property(stories(others), fc.constantFrom(0, limits.gaps), (happened, gaps) => {
        const counted = new Counted(gaps)
        for (const [what, index] of happened) {
          others[what]?.(counted, base + index)
          const { completed, ignored, cancelled, skipped, undone } = counted.state.counts
          const { truth } = counted
          // A number whose delivery was undone may end again, so it may be counted twice.
          expect(completed + ignored).toBeLessThanOrEqual(truth.completed + truth.ignored + undone)
          for (const [count, most] of [
            [completed, truth.completed],
            [ignored, truth.ignored],
            [cancelled, truth.cancelled],
            [skipped, truth.skipped],
          ] as const)
            expect(count).toBeLessThanOrEqual(most + undone)
        }
        if (counted.state.gaps.some(({ counted: some }) => some)) merged++
      }),
      { numRuns: 60 },
    )
    expect(merged).toBeGreaterThan(0)
  }, 120_000)
})

test('a number counts as cancelled once, although a completion of its merged gap came in between', () => {
  const counted = new Counted(limits.gaps)
  for (const [what, index] of [
    ['cancelled', 20],
    ['delivered', 1],
    ['cancelled', 20],
  ] as const)
    others[what]?.(counted, base + index)
  expect(counted.state.counts).toMatchObject({ cancelled: 1 })
})

describe('counts of requests', () => {
  const tell = (state: StreamState, ...requests: readonly StreamRequest[]) => applyToStream(state, { requests }, 5).state

  test('a number counts as undone once, although its gap is merged with another', () => {
    const gaps = Array.from({ length: limits.gaps }, (_, index) => {
      const number = String(1 + 100 * index)
      return { from: number, to: number, state: 'held' as const, at: 0 }
    })
    const state: StreamState = { ...initialStream(config), next: '100000', gaps }
    expect(tell(state, { kind: 'undone', numbers: [['50', '50']] }).counts.undone).toBe(1)
  })

  test('a completion that the source has not shown counts once, although the list of them is full', () => {
    const odd = Array.from({ length: limits.unknownCompletions }, (_, index) => String(101 + 2 * index))
    const request = { kind: 'completed', numbers: odd.map((number) => [number, number] as const), from: 0, to: 1 } as const
    const more = { kind: 'completed', numbers: [['51', '51']], from: 2, to: 2 } as const
    const state = tell(initialStream(config), request, more, request, more)
    expect(state.counts.unknown).toBe(limits.unknownCompletions + 1)
  })
})
