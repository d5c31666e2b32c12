import { ordersKept } from '../../domain/order.ts'
import { limits } from '../../domain/stream/gaps.ts'
import { isResolved, isWanted } from '../../domain/stream/numbers.ts'
import { applyToStream, initialStream, viewStream } from '../../domain/stream/reducer.ts'
import { assertStreamUpdate } from '../../domain/stream/request.ts'
import type { StreamConfig, StreamRequest, StreamState } from '../../domain/stream/stream.ts'
import { describe, expect, test } from 'vitest'
import { answered, audited, block, completed, config, skip, tell } from './stream-requests.ts'

describe('CONTINUOUS_BLOCK_PROCESSING', () => {
  const three = tell(initialStream(config), block(0), block(1, 1, 2), block(2, 3))

  test('a report of blocks opens numbers and moves the cursor', () => {
    expect(viewStream(three)).toMatchObject({ nextHeight: 3, parentHash: 'h2', next: '4', open: 3, room: 7, full: false })
  })

  test('a report with an older view gets the present view, and changes nothing', () => {
    expect(answered(three, block(2, 3))).toEqual({ kind: 'present' })
    expect(answered(three, block(9, 4))).toEqual({ kind: 'present' })
    expect(tell(three, block(2, 3), block(9, 4))).toEqual(three)
  })

  test('a fork of final blocks is reported, and numbers above it are forgotten once it is read again', () => {
    const fork = { ...block(3, 4), parentHash: 'other' } as StreamRequest
    expect(answered(three, fork)).toEqual({ kind: 'forked' })
    const alarmed = tell(three, completed(1, 3), fork)
    expect(viewStream(alarmed)).toMatchObject({ alarms: ['forked'], completedNumber: '3', nextHeight: 3 })
    const back = tell(alarmed, { kind: 'reread', block: { height: 1, hash: 'h1' }, by: 'quorum' })
    expect(viewStream(back)).toMatchObject({ alarms: [], completedNumber: '2', nextHeight: 2, parentHash: 'h1', next: '3' })
    expect(isWanted(back, '3')).toBe(true)
  })

  test('a fork removes skipped numbers above it, because another transfer may get the number', () => {
    const skipped = tell(three, skip(3))
    expect(isWanted(skipped, '3')).toBe(false)
    const back = tell(skipped, { kind: 'reread', block: { height: 1, hash: 'h1' }, by: 'quorum' })
    expect([back.exceptions, isWanted(back, '3')]).toEqual([[], true])
  })

  test('a reading from before a fork is refused if it lacks a number that the new blocks have', () => {
    const three = tell(initialStream(config), block(0), block(1, 1), completed(1))
    // After the fork, number 1 belongs to another transfer. The agent's old view shows number 1 as resolved.
    const late: StreamRequest = { ...block(2), parentHash: 'n1', hash: 'n2', passed: [['1', '1']] } as StreamRequest
    expect(answered(three, late)).toEqual({ kind: 'forked' })
    const back = tell(three, late, { kind: 'reread', block: { height: 0, hash: 'h0' }, by: 'quorum' }, {
      ...block(1),
      hash: 'n1',
    } as StreamRequest)
    expect(answered(back, late)).toEqual({ kind: 'present' })
    expect(tell(back, late)).toEqual(back)
    const chunk: StreamRequest = { kind: 'backfilled', from: 0, to: 2, numbers: [], passed: [['1', '1']] }
    expect(answered(back, chunk)).toEqual({ kind: 'present' })
    const read = { ...late, numbers: [['1', 2]], passed: [] } as StreamRequest
    const rest: StreamRequest = { kind: 'backfilled', from: 0, to: 0, numbers: [], passed: [] }
    expect(viewStream(tell(back, read, rest))).toMatchObject({ nextHeight: 3, completedHeight: 1, open: 1 })
  })

  test('a reading passes resolved numbers, and is refused if it passes an open, missing or unknown one', () => {
    const passing = (from: number, to: number) => ({ ...block(3), passed: [[String(from), String(to)]] }) as StreamRequest
    const state = tell(initialStream(config), block(0), block(1, 1, 2, 3), block(2, 6), completed(1, 2), completed(6))
    const kinds = [passing(1, 2), passing(6, 6), passing(2, 3), passing(5, 6), passing(6, 7)].map((one) => answered(state, one)?.kind)
    expect(kinds).toEqual(['done', 'done', 'present', 'present', 'present'])
  })

  test('the alarm of a fork ends when the chain continues as it was known', () => {
    const fork = { ...block(3, 4), parentHash: 'other' } as StreamRequest
    expect(viewStream(tell(three, fork, block(3, 4))).alarms).toEqual([])
  })

  test('a stream opens no more numbers than it has room for; a number that was reported alone needs no room', () => {
    const narrow = tell(three, { kind: 'setMaxOpen', maxOpen: 4, by: 'ops' })
    expect(answered(narrow, block(3, 4, 5))).toEqual({ kind: 'full', room: 1 })
    expect(tell(narrow, block(3, 4, 5))).toEqual(narrow)
    const some = tell(narrow, { kind: 'seen', numbers: [['4', 3]] })
    expect(viewStream(some)).toMatchObject({ nextHeight: 3, full: true })
    expect(viewStream(tell(some, completed(4), block(3, 4, 5)))).toMatchObject({ nextHeight: 4, open: 4 })
  })

  test('parked numbers leave their room to others', () => {
    const parked = tell(three, { kind: 'setMaxOpen', maxOpen: 3, by: 'ops' }, { kind: 'parked', number: '1', code: 'BRIDGE_CAP' })
    expect(viewStream(parked)).toMatchObject({ room: 1, parked: 1, blockedBy: { number: '1', why: 'parked', code: 'BRIDGE_CAP' } })
    expect(viewStream(tell(parked, { kind: 'unparked', number: '1' }))).toMatchObject({ room: 0, parked: 0, full: true })
  })

  test('a paused stream does not move, and still takes completions', () => {
    const paused = tell(three, { kind: 'pause', by: 'ops', reason: 'fork' })
    expect(answered(paused, block(3))).toEqual({ kind: 'paused' })
    expect(viewStream(tell(paused, completed(1)))).toMatchObject({ full: true, completedNumber: '1' })
    expect(answered(tell(paused, { kind: 'resume' }), block(3))).toEqual({ kind: 'done' })
  })
})

describe('gaps', () => {
  const jumped = tell(initialStream(config), block(0), block(1, 1), block(2, 4))

  test('gaps are unseen numbers between seen ones, once the block below is read', () => {
    expect(jumped.gaps).toEqual([{ from: '2', to: '3', state: 'unasked', height: 1, at: 1_000 }])
    expect(viewStream(tell(jumped, completed(1), completed(4)))).toMatchObject({
      completedNumber: '1',
      completedHeight: 0,
      gaps: { unasked: '2' },
    })
  })

  test("gaps are hidden if the source's table has their numbers, until these are seen", () => {
    const known = tell(jumped, audited(4, 2, [1, 4]))
    expect(viewStream(known)).toMatchObject({ gaps: { hidden: '2' }, alarms: ['hidden'] })
    expect(viewStream(tell(known, { kind: 'seen', numbers: [['2'], ['3']] }))).toMatchObject({ gaps: {}, open: 4, alarms: [] })
  })

  test('gaps include counted numbers that no log showed, except those that the scan has not reached', () => {
    expect(viewStream(tell(jumped, audited(6, 2)))).toMatchObject({
      next: '7',
      gaps: { unasked: '2', hidden: '2' },
    })
    expect(tell(jumped, audited(6, 3))).toEqual(jumped)
  })

  test('gaps of an emitter without blocks come from its count, and the Governor names their reason', () => {
    const { start: _, ...blockless } = config
    const spied = tell(initialStream({ ...blockless, first: '0' }), { kind: 'seen', numbers: [['0'], ['2'], ['3']], ignored: [['3', '3']] })
    expect(viewStream(spied)).toMatchObject({ open: 2, gaps: { unasked: '1' }, counts: { ignored: 1 } })
    const held = tell(spied, audited(5, 9), { kind: 'classified', from: '0', to: '4', state: 'held' })
    expect(viewStream(held)).toMatchObject({ next: '6', gaps: { held: '2', unasked: '1' } })
  })

  test('messages that cannot be started keep their reason until their state changes', () => {
    const { start: _, ...blockless } = config
    const counted = tell(initialStream({ ...blockless, first: '0' }), audited(3, 9))
    const name = (from: string, to: string, code?: string) =>
      ({ kind: 'classified', from, to, state: code ? 'unstarted' : 'unobserved', ...(code && { code, chain: 'bsc' }) }) as const
    const unstarted = tell(counted, name('0', '1', 'NODE_UNAVAILABLE'), name('2', '2', 'GUARDIAN_SET_UNKNOWN'))
    expect(unstarted.gaps).toEqual([
      { from: '0', to: '1', state: 'unstarted', code: 'NODE_UNAVAILABLE', chain: 'bsc', at: 1_000 },
      { from: '2', to: '2', state: 'unstarted', code: 'GUARDIAN_SET_UNKNOWN', chain: 'bsc', at: 1_000 },
      { from: '3', to: '3', state: 'unasked', at: 1_000 },
    ])
    expect(viewStream(unstarted)).toMatchObject({
      gaps: { unstarted: '3', unasked: '1' },
      blockedBy: { number: '0', why: 'unstarted', code: 'NODE_UNAVAILABLE' },
    })
    expect(tell(unstarted, name('0', '2')).gaps[0]).toEqual({ from: '0', to: '2', state: 'unobserved', at: 1_000 })
    expect(() => assertStreamUpdate({ requests: [name('0', '0', 'no code')] })).toThrow('code')
  })

  test('a count below the numbers of the logs raises an alarm', () => {
    expect(viewStream(tell(jumped, audited(3, 2))).alarms).toEqual(['vanished'])
    expect(viewStream(tell(jumped, audited(3, 1))).alarms).toEqual([])
  })
})

describe('COMPLETE_EVENT_PROCESSING and PROCESS_FINISHED_NONCE_HEIGHT', () => {
  const five = tell(initialStream(config), block(0), block(1, 1, 2), block(2), block(3, 3, 4, 5), block(4))

  test('the watermark is contiguous, its height is the block before the first unresolved number', () => {
    expect(viewStream(five)).toMatchObject({ completedHeight: 0 })
    expect(viewStream(five).completedNumber).toBeUndefined()
    expect(viewStream(tell(five, completed(1, 2), completed(4)))).toMatchObject({ completedNumber: '2', completedHeight: 2 })
    expect(viewStream(tell(five, completed(1, 5)))).toMatchObject({ completedNumber: '5', completedHeight: 4 })
  })

  test('an unknown completion is kept and alarmed, and resolves nothing by itself', () => {
    const early = tell(five, completed(6))
    expect(viewStream(early)).toMatchObject({ alarms: ['unknown-completion'], counts: { unknown: 1 } })
    expect(viewStream(tell(early, completed(6)))).toMatchObject({ counts: { unknown: 1 } })
    const seen = tell(early, completed(1, 5), block(5, 6))
    expect(viewStream(seen)).toMatchObject({ alarms: [], completedNumber: '5', open: 1, toVerify: 1 })
    expect(viewStream(tell(seen, { kind: 'seen', numbers: [['6']], delivered: [['6', '6']] }))).toMatchObject({
      completedNumber: '6',
      open: 0,
      toVerify: 0,
    })
  })

  test('an undone number lowers the watermark until it is started and completed again', () => {
    const undone = tell(five, completed(1, 5), { kind: 'undone', numbers: [['2', '2']] })
    expect(viewStream(undone)).toMatchObject({ completedNumber: '1', completedHeight: 0, blockedBy: { number: '2', why: 'undone' } })
    expect(viewStream(tell(undone, { kind: 'seen', numbers: [['2']] }, completed(2)))).toMatchObject({ completedNumber: '5' })
  })

  test('a transfer that ends without a delivery is resolved and listed', () => {
    const closed = tell(five, { kind: 'closed', number: '1', outcome: 'cancelled', by: 'ops', reason: 'asked' }, skip(2))
    expect(viewStream(closed)).toMatchObject({ completedNumber: '2', counts: { cancelled: 1, skipped: 1 } })
    expect(closed.exceptions.map(({ number, outcome, by }) => [number, outcome, by])).toEqual([
      ['1', 'cancelled', 'ops'],
      ['2', 'skipped', 'ops'],
    ])
    expect(isWanted(closed, '2')).toBe(false)
    const again = tell(closed, { kind: 'unskip', number: '2', by: 'ops', reason: 'mended' })
    expect(viewStream(again)).toMatchObject({ completedNumber: '1' })
    expect(isWanted(again, '2')).toBe(true)
  })

  test('only a delivery resolves a completed number, never below the first number', () => {
    const from4: StreamConfig = { ...config, first: '4' }
    const state = tell(initialStream(from4), block(0), block(1, 4, 5, 6, 8), completed(4), skip(5))
    const resolved = ['3', '4', '5', '6', '7', '8', '9'].filter((number) => isResolved(state, number))
    expect(resolved).toEqual(['4'])
  })

  test('a number that nobody knows cannot be skipped', () => {
    expect(answered(five, skip(9))).toMatchObject({ kind: 'refused' })
  })
})

describe('the size', () => {
  const bound = 80 * 1024
  const size = (state: StreamState) => Buffer.byteLength(JSON.stringify(state))

  test('a stream is bounded with 100,000 numbers, a tenth hidden, a seventh open, and others skipped', () => {
    let state = initialStream({ ...config, maxOpen: 360 })
    let largest = 0
    for (let height = 0; height < 1_000; height++) {
      const all = Array.from({ length: 100 }, (_, index) => height * 100 + index + 1).filter((number) => number % 10 !== 0)
      const stuck = (number: number) => number % 7 === 0 && number < 2_000
      const delivered = all.filter((number) => !stuck(number)).map((number) => [String(number), String(number)] as const)
      state = tell(state, { ...block(height, ...all), delivered } as StreamRequest, skip(height * 100 + 7))
      largest = Math.max(largest, size(state))
    }
    expect(viewStream(state)).toMatchObject({ nextHeight: 1_000, next: '100000' })
    expect(state.gaps.length).toBe(limits.gaps)
    expect(isWanted(state, '10')).toBe(true)
    expect(largest).toBeLessThan(bound)
  })

  test("a stream's state is below 80 KiB with every list full of the longest entries", () => {
    const top = 2n ** 64n - 1n
    const far = Number.MAX_SAFE_INTEGER - 2_000
    const long = '\u0001"é漢🙂'.repeat(40)
    const name = (offset: number) => String(top - 20_000n + BigInt(offset))
    let state = initialStream({ ...config, stream: 's'.repeat(200), first: name(0), start: far - 10_000, maxOpen: 360 })
    const at = (requests: StreamRequest[]) => applyToStream(state, { requests }, far).state
    state = at([{ kind: 'scanned', from: far, to: far, parentHash: '"'.repeat(128), hash: '"'.repeat(128), numbers: [], passed: [] }])
    for (let index = 0; index < 360; index++) {
      const number = name(Math.floor(index / 4.7) * 10 + index)
      state = at([
        { kind: 'completed', numbers: [[number, number]], from: far, to: far },
        { kind: 'seen', numbers: [[number, far]] },
        { kind: 'parked', number, code: 'X'.repeat(32) },
        { kind: 'backfill', from: far - 2 * index, to: far - 2 * index, by: long },
        { kind: 'completed', numbers: [[name(10_000 + index * 2), name(10_000 + index * 2)]], from: far, to: far },
      ])
    }
    for (let index = 0; index < 60; index++) {
      const number = name(4_000 + index * 3)
      state = at([
        { kind: 'seen', numbers: [[number]], ignored: [[number, number]] },
        { kind: 'unskip', number, by: 'a', reason: 'b' },
      ])
      state = at([{ kind: 'skip', number, by: long, reason: long }])
    }
    state = at([{ kind: 'pause', by: long, reason: long }, audited(0, far), { kind: 'trust', number: String(top), height: far, by: long }])
    for (let index = 0; index < ordersKept; index++) {
      state = at([{ kind: 'backfill', from: far - 100 - index, to: far - 1, order: { by: long, reason: long } }])
    }
    expect([state.gaps.length, state.unknownCompletions.length, state.exceptions.length, state.orders?.length]).toEqual([
      limits.gaps,
      limits.unknownCompletions,
      limits.exceptions,
      ordersKept,
    ])
    expect(state.open.length).toBeGreaterThan(340)
    expect(viewStream(state).toVerify).toBeGreaterThan(340)
    expect(size(state)).toBeGreaterThan(bound / 2)
    expect(size(state)).toBeLessThan(bound)
    expect(JSON.parse(JSON.stringify(state))).toEqual(state)
  })
})

describe('the author and the reason of an order', () => {
  const order = { by: 'night-shift', reason: 'a test' }

  test('author and reason of every obeyed order are kept, with its facts', () => {
    const begun = tell(initialStream(config), block(0, 1, 2, 3))
    const ordered = tell(
      begun,
      { kind: 'pause', order },
      { kind: 'resume', order },
      { kind: 'skip', number: '1', order },
      { kind: 'unskip', number: '1', order },
      { kind: 'setMaxOpen', maxOpen: 3, order },
      { kind: 'setMaxOpen', order },
      { kind: 'backfill', from: 0, to: 0, order },
      { kind: 'trust', number: '1', height: 0, order },
    )
    expect(ordered.orders?.map(({ kind, by, reason, facts }) => [kind, by, reason, facts])).toEqual([
      ['pause', 'night-shift', 'a test', undefined],
      ['resume', 'night-shift', 'a test', undefined],
      ['skip', 'night-shift', 'a test', { number: '1' }],
      ['unskip', 'night-shift', 'a test', { number: '1' }],
      ['setMaxOpen', 'night-shift', 'a test', { maxOpen: 3 }],
      ['setMaxOpen', 'night-shift', 'a test', { maxOpen: 'configured' }],
      ['backfill', 'night-shift', 'a test', { from: 0, to: 0 }],
      ['trust', 'night-shift', 'a test', { number: '1', height: 0 }],
    ])
  })

  test('an order that changes nothing is not kept; an order of an old history without a name is unnamed', () => {
    const begun = tell(initialStream(config), block(0, 1))
    const ordered = tell(begun, { kind: 'skip', number: '9', order }, { kind: 'pause', by: 'ops', reason: 'x' }, { kind: 'resume' })
    expect(ordered.orders).toMatchObject([
      { kind: 'pause', by: 'ops', reason: 'x' },
      { kind: 'resume', by: 'unnamed', reason: 'update without a name' },
    ])
  })
})
