import { describe, expect, test } from 'vitest'
import { limits } from '../../domain/stream/gaps.ts'
import { setOf } from '../../domain/stream/intervals.ts'
import { isResolved, isWanted } from '../../domain/stream/numbers.ts'
import { maxOutsideBytes } from '../../domain/stream/outside-window.ts'
import { firstIn, heightOf, placeOf } from '../../domain/stream/places.ts'
import { initialStream, viewStream } from '../../domain/stream/reducer.ts'
import type { StreamRequest, StreamState } from '../../domain/stream/stream.ts'
import { config } from './placed-blocks.ts'
import { answered, tell } from './stream-requests.ts'

function scanned(from: number, to: number, ...heights: number[]): StreamRequest {
  const numbers = heights.map((height) => [placeOf(height, 7), height] as const)
  return { kind: 'scanned', from, to, parentHash: `h${from - 1}`, hash: `h${to}`, numbers, passed: [] }
}
const delivered = (...heights: number[]): StreamRequest => {
  const numbers = heights.map((height) => placeOf(height, 7))
  return { kind: 'seen', numbers: numbers.map((number) => [number]), delivered: setOf(numbers) }
}
const begun = (start = 0) => initialStream({ ...config, start, maxOpen: limits.open })

/**
 * Scans 1,000,000 blocks, of which every hundredth has a message. `each` returns the requests that follow each 2,000
 * blocks.
 */
function tenThousand(each: (heights: number[]) => StreamRequest[]): { state: StreamState; longest: number } {
  let [state, longest] = [begun(), 0]
  for (let from = 0; from < 1_000_000; from += 2_000) {
    const heights = Array.from({ length: 20 }, (_, index) => from + 100 * index)
    state = tell(state, scanned(from, from + 1_999, ...heights), ...each(heights))
    longest = Math.max(longest, JSON.stringify(state).length)
  }
  return { state, longest }
}

describe('the state of a placed stream', () => {
  test('1,000,000 blocks and 10,000 messages need no room once the messages are delivered', () => {
    const { state, longest } = tenThousand((heights) => [delivered(...heights)])
    expect(viewStream(state)).toMatchObject({
      ...{ open: 0, gaps: {}, nextHeight: 1_000_000, completedHeight: 999_999 },
      ...{ completedNumber: String(firstIn(1_000_000) - 1n), counts: { completed: 10_000 } },
    })
    expect(longest).toBeLessThan(1_000)
  })

  test('10,000 parked messages stay within the bytes, and their condensed places are not counted', () => {
    const park = (heights: number[]) =>
      heights.map((height) => ({ kind: 'parked' as const, number: placeOf(height, 7), code: 'FEE_LIMIT' }))
    const { state, longest } = tenThousand(park)
    const view = viewStream(state)
    expect(view).toMatchObject({ open: 10_000, parked: 10_000, room: limits.open, alarms: ['crowded'], completedNumber: '6' })
    expect(longest).toBeLessThan(maxOutsideBytes + 2_000)
    // All messages are ignored, and no other place has a log.
    const whole = [['0', String(firstIn(1_000_000) - 1n)]] as const
    expect(viewStream(tell(state, { kind: 'seen', numbers: [], ignored: whole }))).toMatchObject({ open: 0, counts: { completed: 0 } })
  })

  test('a number of an unread block is wanted, until its block is read', () => {
    const state = tell(begun(5), scanned(10, 10))
    expect(state.backfill.left).toEqual([['5', '9']])
    expect([isWanted(state, placeOf(7, 3)), isResolved(state, placeOf(7, 3)), isResolved(state, placeOf(10, 3))]).toEqual([
      true,
      false,
      true,
    ])
    expect(viewStream(state).completedNumber).toBe(String(firstIn(5) - 1n))
    const request = { kind: 'backfilled', from: 5, to: 8, numbers: [[placeOf(7, 3), 7]], passed: [] } as const
    const read = tell(state, request)
    expect(read.open).toEqual([{ number: placeOf(7, 3), height: 7 }])
    expect([isWanted(read, placeOf(7, 4)), isWanted(read, placeOf(9, 4))]).toEqual([false, true])
    const over = tell(read, { kind: 'seen', numbers: [[placeOf(7, 3)]], delivered: setOf([placeOf(7, 3)]) })
    expect(viewStream(over).completedNumber).toBe(String(firstIn(9) - 1n))
    // A late copy of the report must not reopen anything.
    expect(tell(over, request)).toEqual(over)
  })

  test('beyond 80 gaps, the blocks of the lowest gaps are read again', () => {
    const state = tell(begun(), scanned(0, 999))
    const numbers = Array.from({ length: limits.gaps + 3 }, (_, index) => placeOf(2 * index, 1))
    const { gaps, backfill } = tell(state, { kind: 'audited', upTo: '0', height: 999, present: setOf(numbers) })
    expect([gaps.length, gaps[0]?.from, backfill.left.map(([from]) => from)]).toEqual([limits.gaps, placeOf(6, 1), ['0', '2', '4']])
    expect(gaps.every(({ state: why, from, height }) => why === 'hidden' && heightOf(from) === height)).toBe(true)
  })

  test('a watermark may be trusted up to a place that was read, and a backfill order outranks it', () => {
    const state = tell(begun(), scanned(50, 50), scanned(51, 60))
    expect(answered(state, { kind: 'trust', number: String(firstIn(61)), by: 'ops' })?.kind).toBe('refused')
    const trusted = tell(state, { kind: 'trust', number: placeOf(40, 5), by: 'ops' })
    expect([trusted.backfill.left, trusted.start]).toEqual([[['40', '49']], 40])
    expect([isWanted(trusted, placeOf(40, 5)), isWanted(trusted, placeOf(40, 6))]).toEqual([false, true])
    const again = tell(trusted, { kind: 'backfill', from: 30, to: 31, by: 'ops' })
    expect([isWanted(again, placeOf(30, 0)), isWanted(again, placeOf(32, 0))]).toEqual([true, false])
  })

  test('below a watermark that is no longer trusted, blocks are read from the first one again', () => {
    const trusted = tell(begun(5), scanned(50, 50), scanned(51, 60), { kind: 'trust', number: placeOf(40, 5), by: 'ops' })
    const { start, backfill, next, cursor } = tell(trusted, { kind: 'reread', block: { height: 30, hash: 'h30' }, by: 'ops' })
    expect([start, backfill.left, next, cursor?.height]).toEqual([5, [['5', '30']], String(firstIn(31)), 30])
  })
})
