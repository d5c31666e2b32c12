import { describe, expect, test } from 'vitest'
import { intervalsOutside, maxOutsideBytes, outsideReason } from '../../domain/stream/outside-window.ts'
import { limits } from '../../domain/stream/gaps.ts'
import { isStarted, isWanted, room } from '../../domain/stream/numbers.ts'
import { applyToStream, initialStream, viewStream } from '../../domain/stream/reducer.ts'
import type { StreamRequest, StreamState } from '../../domain/stream/stream.ts'
import { config, tell } from './stream-requests.ts'

const answered = (state: StreamState, request: StreamRequest) => applyToStream(state, { requests: [request] }, 1_000).response.answers[0]

/** A stream with this number of numbers, one in each block, every second of them dust that is parked at once. */
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

  test('an alarm is raised at half of the limit of bytes, and numbers beyond the limit stay open', () => {
    const outside = (count: number) => [{ code: 'DELIVERY_IMPOSSIBLE', packed: Array.from({ length: count }, () => '2').join(',') }]
    const begun = { ...tell(initialStream({ ...config, maxOpen: limits.open })), next: '100000' }
    expect(viewStream({ ...begun, outside: outside(6_000) }).alarms).toEqual([])
    expect(viewStream({ ...begun, outside: outside(6_300) }).alarms).toEqual(['crowded'])
    // Five places are left in `open`, and a few bytes in addition.
    const open = Array.from({ length: limits.open - 5 }, (_, index) => ({ number: String(50_000 + index), parked: 'BRIDGE_CAP' }))
    let state: StreamState = { ...begun, open, outside: outside(maxOutsideBytes / 2 - 40) }
    const before = viewStream(state).parked
    for (let number = 100_000; viewStream(state).room > 0; number += 1) {
      state = tell(
        state,
        { kind: 'seen', numbers: [[String(number)]], ...(number % 2 === 0 && { ignored: [[String(number), String(number)]] as const }) },
        { kind: 'parked', number: String(number), code: 'DELIVERY_IMPOSSIBLE' },
      )
      expect(number).toBeLessThan(102_000)
    }
    const view = viewStream(state)
    expect(state.open.length).toBe(limits.open)
    expect(view.open).toBe(view.parked)
    expect(view.open).toBeGreaterThan(before + 5)
    expect(answered(state, { kind: 'seen', numbers: [['102000']] })).toEqual({ kind: 'full', room: 0 })
    expect(JSON.stringify(state.outside).length).toBeLessThan(maxOutsideBytes + 1_000)
    // One that is resolved makes room again.
    const last = state.open.at(-1)?.number ?? ''
    expect(room(tell(state, { kind: 'skip', number: last, by: 'ops', reason: 'dust' }))).toBe(1)
  })
})
