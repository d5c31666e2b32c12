import type { IntervalSet } from '../../domain/stream/intervals.ts'
import { applyToStream, initialStream } from '../../domain/stream/reducer.ts'
import { assertStreamUpdate } from '../../domain/stream/request.ts'
import type { StreamRequest, StreamState } from '../../domain/stream/stream.ts'
import { describe, expect, test } from 'vitest'

const list = <Item>(length: number, item: (index: number) => Item) => Array.from({ length }, (_, index) => item(index))
const even = (length: number, from = 0) => list(length, (index) => [String(from + 2 * index), String(from + 2 * index)] as const)
const numbers = (length: number) => list(length, (index) => [String(3 * index)] as const)
const parked: StreamRequest = { kind: 'parked', number: '1', code: 'UNPROVED' }
const seen = (length: number): StreamRequest => ({ kind: 'seen', numbers: numbers(length) })
const undone = (length: number): StreamRequest => ({ kind: 'undone', numbers: even(length) })
const audited = (length: number): StreamRequest => ({ kind: 'audited', upTo: '9', height: 1, present: even(length) })
const backfilled = (length: number): StreamRequest => ({ kind: 'backfilled', from: 1, to: 2, numbers: [], passed: even(length) })
const completed = (length: number): StreamRequest => ({ kind: 'completed', from: 1, to: 2, numbers: even(length) })

describe('the size of an update of a stream', () => {
  test.each<[string, readonly StreamRequest[]]>([
    ['301 requests', list(301, () => parked)],
    ['2,001 numbers', [seen(2_001)]],
    ['2,001 numbers of two requests', [seen(1_000), seen(1_001)]],
    ['1,001 numbers that are undone', [undone(1_001)]],
    ['1,001 numbers of a table', [audited(1_001)]],
    ['10,001 intervals', [backfilled(5_000), completed(5_000), { ...seen(1), ignored: even(1) } as StreamRequest]],
  ])('an update that would keep the workflow busy for longer than a task may last is refused: %s', (_, requests) => {
    expect(() => assertStreamUpdate({ requests })).toThrow(/^requests.*(at most|too many)/)
  })

  test.each<[string, readonly StreamRequest[]]>([
    ['300 requests', list(300, () => parked)],
    ['2,000 numbers', [{ ...seen(2_000), delivered: even(2_000), ignored: even(2_000) } as StreamRequest]],
    ['1,000 numbers that are undone', [undone(1_000)]],
    ['10,000 intervals', [backfilled(5_000), completed(5_000)]],
  ])('the largest updates that processes send are accepted: %s', (_, requests) => {
    expect(() => assertStreamUpdate({ requests })).not.toThrow()
  })

  test('a request with several intervals has the same result as a request for each of them', () => {
    const open = list(40, (index) => String(5 * index))
    const begun = tell(
      initialStream({ stream: 's', origin: 'o', first: '0', start: 1, maxOpen: 100 }),
      { kind: 'seen', numbers: [...list(300, (index) => [String(index)] as const), ['341']], delivered: withoutNumbers(open, 342) },
      { kind: 'scanned', from: 1, to: 5, parentHash: 'a', hash: 'b', numbers: [], passed: [] },
      ...open.slice(20).map((number): StreamRequest => ({ kind: 'parked', number, code: 'UNPROVED', waits: true })),
    )
    const some: IntervalSet = [...even(15, 3), ['95', '101'], ['140', '163'], ['290', '303'], ['306', '310'], ['320', '345']]
    const each = (make: (numbers: IntervalSet) => StreamRequest) => [
      tell(begun, make(some)),
      tell(begun, ...some.map((one) => make([one]))),
    ]
    for (const make of [
      (numbers: IntervalSet): StreamRequest => ({ kind: 'undone', numbers }),
      (present: IntervalSet): StreamRequest => ({ kind: 'audited', upTo: '330', height: 1, present }),
      (numbers: IntervalSet): StreamRequest => ({ kind: 'completed', numbers, from: 1, to: 1 }),
    ]) {
      const [together, apart] = each(make)
      expect(together).not.toEqual(begun)
      expect({ ...together, counts: undefined }).toEqual({ ...apart, counts: undefined })
      expect({ ...together?.counts, unknown: 0 }).toEqual({ ...apart?.counts, unknown: 0 })
    }
  })
})

const tell = (state: StreamState, ...requests: StreamRequest[]) => applyToStream(state, { requests }, 1).state

function withoutNumbers(open: readonly string[], most: number) {
  return list(most, String).flatMap((number) => (open.includes(number) ? [] : [[number, number] as const]))
}
