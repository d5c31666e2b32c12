import { describe, expect, test } from 'vitest'
import fc from 'fast-check'
import { asideNumbers, asideOf, mostAsideBytes } from '../../domain/stream/aside.ts'
import { limits } from '../../domain/stream/gaps.ts'
import { isStarted, isWanted, room } from '../../domain/stream/numbers.ts'
import { applyToStream, initialStream, viewStream } from '../../domain/stream/reducer.ts'
import { addNumber, countRuns, cutRuns, hasRun, packRuns, unpackRuns } from '../../domain/stream/runs.ts'
import type { StreamRequest, StreamState } from '../../domain/stream/stream.ts'
import { config, tell } from './stream-requests.ts'

const answered = (state: StreamState, request: StreamRequest) => applyToStream(state, { requests: [request] }, 1_000).response.answers[0]

/** A stream that has seen so many numbers, one in each block, every second of them dust that is parked at once. */
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

describe('numbers that are aside', () => {
  test('360 parked dust transfers, and a thousand, take no room from others: cursor and gap filling go on', () => {
    const state = withDust(1_000)
    expect(viewStream(state)).toMatchObject({
      nextHeight: 1_000,
      open: 1_000,
      parked: 1_000,
      aside: { DELIVERY_IMPOSSIBLE: 1_000 },
      room: limits.open,
      full: false,
      blockedBy: { number: '1', why: 'parked', code: 'DELIVERY_IMPOSSIBLE' },
    })
    expect(state.open).toEqual([])
    expect(JSON.stringify(state).length).toBeLessThan(8_000)
  })

  test('200 that wait for a wrapper of their own leave their room, too, and are named by what they wait for', () => {
    const view = viewStream(withDust(200, true))
    expect(view).toMatchObject({
      open: 200,
      parked: 0,
      aside: { DELIVERY_IMPOSSIBLE: 200 },
      room: limits.open,
      blockedBy: { why: 'waiting' },
    })
  })

  test('are unresolved: neither a completion, an end nor a skip is missed', () => {
    const state = withDust(10)
    expect(asideOf(state, '3')?.code).toBe('DELIVERY_IMPOSSIBLE')
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

  test('go back into the room when they run again, and are parked again with another code', () => {
    const state = tell(withDust(5), { kind: 'unparked', number: '3' })
    expect(state.open).toEqual([{ number: '3' }])
    expect(viewStream(state)).toMatchObject({ parked: 4, room: limits.open - 1, aside: { DELIVERY_IMPOSSIBLE: 4 } })
    const again = tell(state, { kind: 'parked', number: '3', code: 'GAS_LIMIT' }, { kind: 'parked', number: '5', code: 'GAS_LIMIT' })
    expect(viewStream(again).aside).toEqual({ DELIVERY_IMPOSSIBLE: 3, GAS_LIMIT: 2 })
  })

  test('that are found again by an audit, or by logs, change nothing', () => {
    const state = withDust(5)
    expect(tell(state, { kind: 'seen', numbers: [['1'], ['3']] })).toEqual(state)
    expect(answered(state, { kind: 'parked', number: '2', code: 'GAS_LIMIT' })).toEqual({ kind: 'present' })
  })

  test('are forgotten by a fork with the blocks that they are in', () => {
    const back = tell(withDust(10), { kind: 'reread', block: { height: 4, hash: 'h4' }, by: 'quorum' })
    expect([...asideNumbers(back)].map(({ number }) => number)).toEqual(['1', '3', '5', '7', '9'])
  })

  test('raise an alarm when half of their room is taken; what does not fit stays in `open`, and nothing is lost', () => {
    const aside = (count: number) => [{ code: 'DELIVERY_IMPOSSIBLE', runs: Array.from({ length: count }, () => '2').join(',') }]
    const begun = { ...tell(initialStream({ ...config, maxOpen: limits.open })), next: '100000' }
    expect(viewStream({ ...begun, aside: aside(6_000) }).alarms).toEqual([])
    expect(viewStream({ ...begun, aside: aside(6_300) }).alarms).toEqual(['crowded'])
    // Five places are left in `open`, and a few bytes beside it.
    const open = Array.from({ length: limits.open - 5 }, (_, index) => ({ number: String(50_000 + index), parked: 'BRIDGE_CAP' }))
    let state: StreamState = { ...begun, open, aside: aside(mostAsideBytes / 2 - 40) }
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
    expect(JSON.stringify(state.aside).length).toBeLessThan(mostAsideBytes + 1_000)
    // One that is resolved makes room again.
    const last = state.open.at(-1)?.number ?? ''
    expect(room(tell(state, { kind: 'skip', number: last, by: 'ops', reason: 'dust' }))).toBe(1)
  })
})

describe('packed runs', () => {
  const small = fc.bigInt(0n, 40n)
  const orders = fc.array(fc.tuple(fc.boolean(), small, small), { maxLength: 60 })

  test('hold what a plain set holds, whatever is added and cut', () => {
    fc.assert(
      fc.property(orders, (all) => {
        const truth = new Set<bigint>()
        let runs = unpackRuns('')
        for (const [adds, a, b] of all) {
          const [from, to] = a < b ? [a, b] : [b, a]
          if (adds) truth.add(a)
          else for (let number = from; number <= to; number++) truth.delete(number)
          runs = unpackRuns(packRuns(adds ? addNumber(runs, a) : cutRuns(runs, from, to)))
          expect(runs.every(([low], index) => index === 0 || low > (runs[index - 1]?.[1] ?? 0n) + 1n)).toBe(true)
          for (let number = 0n; number <= 40n; number++) expect(hasRun(runs, number)).toBe(truth.has(number))
          expect(Number(countRuns(runs))).toBe(truth.size)
        }
      }),
      { numRuns: 300 },
    )
  })
})
