import { describe, expect, test } from 'vitest'
import { intervalsOutside, maxOutsideBytes, outsideReason } from '../../domain/stream/outside-window.ts'
import { limits } from '../../domain/stream/gaps.ts'
import { isStarted, isWanted, listsAllOrders, room } from '../../domain/stream/numbers.ts'
import { applyToStream, initialStream, viewStream } from '../../domain/stream/reducer.ts'
import type { StreamRequest, StreamState } from '../../domain/stream/stream.ts'
import { config, skip, tell } from './stream-requests.ts'

const answered = (state: StreamState, request: StreamRequest) => applyToStream(state, { requests: [request] }, 1_000).response.answers[0]

/** A stream with two numbers per block. The first number of each block is dust, which is parked immediately. */
function withDust(count: number, waits?: true): StreamState {
  let state = tell(initialStream(config), { kind: 'setMaxOpen', maxOpen: limits.open, by: 'ops' })
  for (let index = 0; index < count; index++) {
    const [dust, honest] = [String(2 * index + 1), String(2 * index + 2)]
    state = tell(
      state,
      {
        ...{ kind: 'scanned', from: index, to: index, parentHash: `h${index - 1}`, hash: `h${index}` },
        numbers: [
          [dust, index],
          [honest, index],
        ],
        passed: [],
      },
      { kind: 'parked', number: dust, code: 'DELIVERY_IMPOSSIBLE', ...(waits && { waits }) },
      { kind: 'completed', numbers: [[honest, honest]], from: index, to: index },
    )
  }
  return state
}

describe('numbers outside the window', () => {
  test('1,000 parked dust transfers take no room from others, and the cursor goes on', () => {
    const state = withDust(1_000)
    expect(viewStream(state)).toMatchObject({
      nextHeight: 1_000,
      open: 1_000,
      parked: 1_000,
      outside: { DELIVERY_IMPOSSIBLE: 1_000 },
      room: limits.open,
      full: false,
      blockedBy: { number: '1', why: 'parked', code: 'DELIVERY_IMPOSSIBLE' },
    })
    expect(state.open).toEqual([])
    expect(JSON.stringify(state).length).toBeLessThan(8_000)
  })

  test('transfers that wait for something of their own leave their room, too, and are counted by code', () => {
    const view = viewStream(withDust(200, true))
    expect(view).toMatchObject({
      open: 200,
      parked: 0,
      outside: { DELIVERY_IMPOSSIBLE: 200 },
      room: limits.open,
      blockedBy: { why: 'waiting' },
    })
  })

  test('numbers outside the window are unresolved until they are completed, closed or skipped', () => {
    const state = withDust(10)
    expect(outsideReason(state, '3')?.code).toBe('DELIVERY_IMPOSSIBLE')
    expect([isWanted(state, '3'), isStarted(state, '3'), isWanted(state, '4')]).toEqual([true, true, false])
    const ended = tell(
      state,
      { kind: 'completed', numbers: [['1', '3']], from: 10, to: 10 },
      { kind: 'closed', number: '5', outcome: 'declined', reason: 'AMOUNT_TOO_SMALL' },
      { kind: 'skip', number: '7', by: 'ops', reason: 'dust' },
      { kind: 'seen', numbers: [['9']], delivered: [['9', '9']] },
    )
    expect(viewStream(ended)).toMatchObject({ completedNumber: '10', open: 5, counts: { completed: 13, declined: 1, skipped: 1 } })
  })

  test('numbers outside the window return when their transfers run again, and may be parked again', () => {
    const state = tell(withDust(5), { kind: 'unparked', number: '3' })
    expect(state.open).toEqual([{ number: '3' }])
    expect(viewStream(state)).toMatchObject({ parked: 4, room: limits.open - 1, outside: { DELIVERY_IMPOSSIBLE: 4 } })
    const again = tell(state, { kind: 'parked', number: '3', code: 'GAS_LIMIT' }, { kind: 'parked', number: '5', code: 'GAS_LIMIT' })
    expect(viewStream(again).outside).toEqual({ DELIVERY_IMPOSSIBLE: 3, GAS_LIMIT: 2 })
  })

  test('finding numbers outside the window again changes nothing', () => {
    const state = withDust(5)
    expect(tell(state, { kind: 'seen', numbers: [['1'], ['3']] })).toEqual(state)
    expect(answered(state, { kind: 'parked', number: '2', code: 'GAS_LIMIT' })).toEqual({ kind: 'present' })
  })

  test('a fork forgets the numbers outside the window that are above it', () => {
    const back = tell(withDust(10), { kind: 'reread', block: { height: 4, hash: 'h4' }, by: 'quorum' })
    expect(intervalsOutside(back)).toEqual([[1n, 3n, 5n, 7n, 9n].map((number) => [number, number])])
  })

  test('an alarm is raised at half of the limit of bytes', () => {
    const outside = (count: number) => [{ code: 'DELIVERY_IMPOSSIBLE', packed: Array.from({ length: count }, () => '2').join(',') }]
    const begun = { ...tell(initialStream({ ...config, maxOpen: limits.open })), next: '100000' }
    expect(viewStream({ ...begun, outside: outside(6_000) }).alarms).toEqual([])
    expect(viewStream({ ...begun, outside: outside(6_300) }).alarms).toEqual(['crowded'])
  })

  test('parked dust never stops a stream: a list that is too long counts close numbers as parked together', () => {
    const open = [1, 2, 3].map((index) => ({ number: String(index * 10_000 + 1) }))
    const gap = { from: '40001', to: '40001', state: 'held', at: 0 } as const
    const dust = Array.from({ length: 12_000 }, () => '4').join(',')
    const begun = { ...tell(initialStream({ ...config, maxOpen: limits.open })), next: '50000', open, gaps: [gap] }
    let state: StreamState = { ...begun, outside: [{ code: 'DELIVERY_IMPOSSIBLE', packed: dust }] }
    for (let number = 50_000; number < 51_500; number += 3) {
      const numbers = [[String(number)], [String(number + 1)], [String(number + 2)]] as const
      const code = number % 2 ? 'GAS_LIMIT' : 'DELIVERY_IMPOSSIBLE'
      const delivered = [[String(number + 1), String(number + 2)]] as const
      state = tell(state, { kind: 'seen', numbers, delivered }, { kind: 'parked', number: String(number), code })
      expect(JSON.stringify(state.outside).length).toBeLessThan(maxOutsideBytes + 1_000)
    }
    expect([state.open, state.gaps, room(state)]).toEqual([open, [gap], limits.open - open.length])
    expect(viewStream(state)).toMatchObject({ full: false, alarms: ['crowded'], blockedBy: { number: '4', why: 'parked' } })
    const parked = [
      ...Array.from({ length: 12_000 }, (_, index) => 4 * (index + 1)),
      ...Array.from({ length: 500 }, (_, index) => 50_000 + 3 * index),
    ]
    expect(parked.every((number) => outsideReason(state, String(number)))).toBe(true)
    expect([...open.map(({ number }) => number), gap.from].every((number) => !outsideReason(state, number))).toBe(true)
    // Completions also resolve numbers inside a condensed interval, here its beginning.
    const ended = tell(state, { kind: 'completed', numbers: [['4', '9000']], from: 0, to: 1 })
    expect([outsideReason(ended, '8'), viewStream(ended).completedNumber]).toEqual([undefined, '9000'])
    expect(tell(state, { kind: 'undone', numbers: [['7', '7']] }).gaps).toMatchObject([{ from: '7', to: '7', state: 'undone' }, gap])
  })

  test('cancelled numbers stay out of condensed intervals, and listed when others have ended since', () => {
    const dust = Array.from({ length: 12_400 }, () => '4').join(',')
    const begun = { ...tell(initialStream({ ...config, maxOpen: limits.open })), next: '50000', open: [{ number: '401' }] }
    let state: StreamState = tell(
      { ...begun, outside: [] },
      { kind: 'closed', number: '401', outcome: 'cancelled', by: 'ops', reason: 'x' },
    )
    state = { ...state, outside: [{ code: 'DELIVERY_IMPOSSIBLE', packed: dust }] }
    for (let number = 50_000; number <= 50_000 + limits.exceptions; number++)
      state = tell(
        state,
        { kind: 'seen', numbers: [[String(number)]] },
        { kind: 'closed', number: String(number), outcome: 'declined', reason: 'y' },
      )
    state = tell(state, { kind: 'seen', numbers: [['60000']] }, { kind: 'parked', number: '60000', code: 'GAS_LIMIT' })
    expect(state.outside[0]?.condensed).toBe(true)
    expect([outsideReason(state, '400')?.condensed, outsideReason(state, '401')]).toEqual([true, undefined])
    expect([state.exceptions.length, state.exceptions[0]?.number, listsAllOrders(state)]).toEqual([limits.exceptions, '401', true])
    const skips = Array.from({ length: limits.exceptions }, (_, index) => skip(61_000 + index))
    const forgetful = tell({ ...state, next: '70000', gaps: [{ from: '60001', to: '69999', state: 'held', at: 0 }] }, ...skips)
    expect([forgetful.exceptions.length, listsAllOrders(forgetful)]).toEqual([limits.exceptions, false])
  })

  test('resolving numbers one by one never exceeds the bytes', () => {
    const condensed = { code: 'GAS_LIMIT', condensed: true, packed: '1x9999998' } as const
    let state: StreamState = { ...tell(initialStream(config)), next: '10000000', outside: [condensed] }
    for (let number = 1_000; number < 4_500_000; number += 1_000) {
      state = tell(state, { kind: 'seen', numbers: [[String(number)]], delivered: [[String(number), String(number)]] })
    }
    expect(JSON.stringify(state.outside).length).toBeLessThan(maxOutsideBytes + 1_000)
  })
})
