import { checkpointOf, fromCheckpoint } from '../../domain/stream/checkpoint.ts'
import { isWanted } from '../../domain/stream/numbers.ts'
import { initialStream, viewStream } from '../../domain/stream/reducer.ts'
import type { StreamRequest } from '../../domain/stream/stream.ts'
import { describe, expect, test } from 'vitest'
import { answered, block, completed, config, tell } from './stream-requests.ts'

describe('BOOTSTRAP', () => {
  test('a stream begins at the head and reads older blocks at the same time, in chunks of any sequence', () => {
    const begun = tell(initialStream(config), block(100, 8))
    expect(viewStream(begun)).toMatchObject({ nextHeight: 101, backfill: { left: 100, ordered: 100 }, gaps: { unasked: '7' } })
    const chunk: StreamRequest = { kind: 'backfilled', from: 40, to: 59, numbers: [['3', 45]], passed: [], delivered: [['3', '3']] }
    const some = tell(begun, chunk, chunk, block(101, 9))
    expect(viewStream(some)).toMatchObject({ nextHeight: 102, backfill: { left: 80, ordered: 100 }, open: 2, gaps: { unasked: '6' } })
    expect(viewStream(tell(some, { kind: 'backfill', from: 30, to: 49, by: 'ops' })).backfill).toEqual({ left: 90, ordered: 110 })
  })

  test('a stream from a checkpoint begins after it, and keeps skipped numbers above', () => {
    const before = tell(initialStream(config), block(0), block(1, 1, 2), block(2, 3, 4), completed(1, 2), {
      kind: 'skip',
      number: '4',
      by: 'ops',
      reason: 'x',
    })
    const kept: unknown = JSON.parse(JSON.stringify(checkpointOf(before)))
    expect(kept).toMatchObject({ version: 1, completedNumber: '2', completedHeight: 1, exceptions: [{ number: '4' }] })
    const after = fromCheckpoint(config, kept)
    expect(['2', '3', '4', '5'].map((number) => isWanted(after, number))).toEqual([false, true, false, true])
    const begun = tell(after, block(9))
    expect(begun.backfill.left).toEqual([['2', '8']])
    const filled = tell(begun, {
      kind: 'backfilled',
      from: 2,
      to: 8,
      numbers: [
        ['3', 2],
        ['4', 2],
      ],
      passed: [],
    })
    expect(viewStream(filled)).toMatchObject({ open: 1, completedNumber: '2', next: '5' })
  })

  test('a stream from a checkpoint passes skipped numbers above it, and makes no gap of them', () => {
    const exceptions = [{ number: '4', outcome: 'skipped', by: 'ops', reason: 'x', at: 1 }]
    const begun = fromCheckpoint(config, {
      version: 1,
      stream: config.stream,
      origin: config.origin,
      completedNumber: '3',
      completedHeight: 1,
      exceptions,
    })
    const state = tell(begun, { ...block(2), passed: [['4', '4']] } as StreamRequest, block(3, 5), completed(5))
    expect(viewStream(state)).toMatchObject({ completedNumber: '5', gaps: {}, next: '6' })
  })

  test('a stream from a checkpoint begins at its block or later, and a fork below takes its trust away', () => {
    const kept = checkpointOf(tell(initialStream(config), block(0), block(1, 1), completed(1)))
    const after = fromCheckpoint(config, JSON.parse(JSON.stringify(kept)))
    expect(answered(after, block(0))).toEqual({ kind: 'present' })
    const begun = tell(after, block(1))
    expect(viewStream(begun)).toMatchObject({ nextHeight: 2, completedNumber: '1' })
    expect(answered(begun, { ...block(2), parentHash: 'other' } as StreamRequest)).toEqual({ kind: 'forked' })
    const back = tell(begun, { kind: 'reread', block: { height: 0, hash: 'h0' }, by: 'quorum' })
    expect(viewStream(back).completedNumber).toBeUndefined()
    expect([back.next, isWanted(back, '1')]).toEqual(['1', true])
  })

  test('a fork above a block with a later number keeps the trust; one that may be below it removes it', () => {
    const start = fromCheckpoint(config, {
      version: 1,
      stream: config.stream,
      origin: config.origin,
      completedNumber: '3',
      completedHeight: 1,
      exceptions: [],
    })
    const state = tell(start, block(2), block(3, 4), block(4), block(5))
    const fork = (height: number) => viewStream(tell(state, { kind: 'reread', block: { height, hash: 'x' }, by: 'quorum' })).completedNumber
    expect([fork(4), fork(3), fork(2)]).toEqual(['3', '3', undefined])
  })

  test("a watermark from outside only raises the stream's, and never hides an undone number", () => {
    const trusting = tell(initialStream(config), block(100, 8), { kind: 'trust', number: '5', height: 60, by: 'chain' })
    expect(viewStream(trusting)).toMatchObject({ completedNumber: '5', backfill: { left: 39 }, gaps: { unasked: '2' } })
    expect(answered(trusting, { kind: 'trust', number: '4', height: 90, by: 'chain' })).toEqual({ kind: 'present' })
    const undone = tell(trusting, { kind: 'undone', numbers: [['3', '3']] }, { kind: 'trust', number: '6', by: 'chain' })
    expect(viewStream(undone)).toMatchObject({ completedNumber: '2', blockedBy: { number: '3', why: 'undone' } })
  })

  test('a watermark above the known numbers is refused and reported until a valid one is given', () => {
    const state = tell(initialStream(config), block(9, 3))
    const beyond: StreamRequest = { kind: 'trust', number: '4', by: 'chain' }
    expect(answered(state, beyond)).toEqual({ kind: 'refused', detail: 'number: 4 is not known to exist: the highest number is below 4' })
    const alarmed = tell(state, beyond)
    expect(viewStream(alarmed)).toMatchObject({ alarms: ['distrusted'], next: '4', gaps: { unasked: '2' }, open: 1 })
    expect(alarmed.distrusted).toEqual({ number: '4', by: 'chain', at: 1_000 })
    const high: StreamRequest = { kind: 'trust', number: '2', height: 10, by: 'chain' }
    expect(answered(alarmed, high)).toEqual({ kind: 'refused', detail: 'height: above the cursor (9)' })
    expect(answered(initialStream(config), { ...high, number: '0' })).toMatchObject({ kind: 'refused' })
    const good = tell(alarmed, { ...high, height: 5 })
    expect(viewStream(good)).toMatchObject({ alarms: [], completedNumber: '2' })
  })

  test('a stream refuses a checkpoint of another contract or network', () => {
    const own = { ...config, origin: '1/0xaa' }
    const kept = checkpointOf(tell(initialStream(own), block(1, 1), completed(1)))
    expect(kept.origin).toBe('1/0xaa')
    expect(viewStream(fromCheckpoint(own, kept)).completedNumber).toBe('1')
    for (const origin of ['1/0xbb', '5/0xaa']) expect(() => fromCheckpoint({ ...config, origin }, kept)).toThrow('origin')
    const { origin: _, ...unnamed } = kept
    expect(() => fromCheckpoint(own, unnamed)).toThrow('origin')
  })

  test.each([
    [null, 'version'],
    [{ version: 1, stream: 'other', exceptions: [] }, 'stream'],
    [{ version: 1, stream: config.stream, origin: config.origin, completedNumber: 5, exceptions: [] }, 'completedNumber'],
    [{ version: 1, stream: config.stream, origin: config.origin, completedHeight: -1, exceptions: [] }, 'completedHeight'],
    [{ version: 1, stream: config.stream, origin: config.origin, cursor: { height: 1 }, exceptions: [] }, 'cursor.hash'],
    [{ version: 1, stream: config.stream, origin: config.origin, exceptions: [{ number: '1', outcome: 'lost' }] }, 'exceptions[0].outcome'],
  ])('a checkpoint that is none of this stream is refused: %j', (value, field) => {
    expect(() => fromCheckpoint(config, value)).toThrow(field)
  })
})
