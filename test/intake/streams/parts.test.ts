import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { assertStreamRequest } from '../../../domain/stream/request.ts'
import type { Transfer, TransferState } from '../../../domain/transfer/transfer.ts'
import { parseCheckpoint } from '../../../intake/streams/checkpoints.ts'
import { createStreamCache } from '../../../intake/streams/scanned/stream-cache.ts'
import { createFinalityTimes, createRangeSize } from '../../../intake/streams/scanned/context.ts'
import { toClosed } from '../../../intake/streams/transfer-outcomes.ts'
import { isOf } from '../../../temporal/client/streams/stream-transfers.ts'
import { codeOf } from '../../helpers/refusals.ts'

test('times of finality are known except of the first height, and forgotten after a replaced chain', () => {
  let now = 0
  const times = createFinalityTimes(() => ++now)
  for (const height of [10, 10, 12, 13]) times.see(height)
  expect([9, 10, 11, 12, 13, 14].map((height) => times.since(height))).toEqual([undefined, undefined, 2, 2, 3, undefined])
  times.see(11)
  expect([11, 12].map((height) => times.since(height))).toEqual([4, undefined])
  for (let height = 12; height < 200; height++) times.see(height)
  expect(times.since(50)).toBeUndefined()
  expect(times.since(199)).toBeDefined()
})

describe('the size of a range', () => {
  test('a refused range is halved down to a single block', () => {
    const size = createRangeSize(100)
    expect([size.blocks, size.refused(100), size.blocks]).toEqual([100, true, 50])
    expect([size.refused(1), size.blocks]).toEqual([false, 1])
  })

  test('a range grows again after several answers, up to its limit', () => {
    const size = createRangeSize(10)
    size.refused(10)
    for (let count = 0; count < 20; count++) size.answered(3)
    expect(size.blocks).toBe(5)
    for (let count = 0; count < 20; count++) size.answered(size.blocks)
    expect(size.blocks).toBe(10)
  })

  test('the length of ranges adapts to the limit of a node with few refusals', () => {
    const most = fc.integer({ min: 1, max: 10_000 })
    fc.assert(
      fc.property(most, most, (limit, longest) => {
        const size = createRangeSize(longest)
        let refusals = 0
        for (let look = 0; look < 200; look++) {
          const { blocks } = size
          expect(blocks).toBeGreaterThanOrEqual(1)
          expect(blocks).toBeLessThanOrEqual(longest)
          if (blocks <= limit) size.answered(blocks)
          else {
            refusals += 1
            size.refused(blocks)
          }
        }
        expect(refusals).toBeLessThanOrEqual(200 / 4)
      }),
    )
  })
})

describe('the cache of a stream', () => {
  const transfer = (sequence: string): Transfer => ({
    bridge: 'native-bridge',
    sourceChain: 'a',
    sourceId: 'a',
    targetChain: 'b',
    emitter: '0'.repeat(64),
    sequence,
    digest: `0x${sequence.padStart(64, '0')}`,
    message: '',
  })

  test('the cache keeps the newest ends of ranges, and a fork removes those above it', () => {
    const cache = createStreamCache()
    for (let height = 0; height < 1_000; height++) cache.scanned({ height, hash: `h${height}` })
    const heights = cache.blocks.map(({ height }) => height)
    expect(heights.length).toBeLessThanOrEqual(128)
    expect(heights.slice(0, 64)).toEqual(Array.from({ length: 64 }, (_, index) => 999 - index))
    cache.know([transfer('7')])
    cache.completed('7')
    cache.forget(980)
    expect(cache.blocks[0]?.height).toBe(980)
    expect([cache.transfer('7'), cache.completions]).toEqual([undefined, []])
  })

  test('the cache keeps the latest completions of known transfers, each once', () => {
    const cache = createStreamCache()
    for (let number = 1; number <= 600; number++) {
      cache.know([transfer(String(number))])
      cache.completed(String(number))
      cache.completed(String(number))
    }
    cache.completed('9999')
    expect(cache.completions.map(({ sequence }) => sequence)).toEqual(Array.from({ length: 500 }, (_, index) => String(index + 101)))
    cache.undone('600')
    expect(cache.completions.at(-1)?.sequence).toBe('599')
  })
})

describe('a checkpoint as it is read', () => {
  const good = {
    version: 1,
    stream: 's',
    origin: '1/0xaa',
    completedNumber: '4',
    completedHeight: 9,
    cursor: { height: 12, hash: '0xab' },
    exceptions: [],
  }

  test('a checkpoint is read as it was written', () => {
    expect(parseCheckpoint('s', JSON.stringify(good))).toEqual(good)
  })

  test.each([
    ['not JSON', '{', 'JSON'],
    ['another version', { ...good, version: 2 }, 'version'],
    ['of another stream', { ...good, stream: 'other' }, 'stream'],
    ['a number as a number', { ...good, completedNumber: 4 }, 'completedNumber'],
    ['a height below 0', { ...good, completedHeight: -1 }, 'completedHeight'],
    ['a block without a hash', { ...good, cursor: { height: 1 } }, 'cursor.hash'],
    ['an unknown outcome', { ...good, exceptions: [{ number: '5', outcome: 'lost', reason: 'x', at: 1 }] }, 'exceptions[0].outcome'],
    ['a field too many', { ...good, trust: true }, 'trust'],
  ])('an invalid checkpoint is refused with its field: %s', (_, value, field) => {
    const text = typeof value === 'string' ? value : JSON.stringify(value)
    expect(codeOf(() => parseCheckpoint('s', text))).toBe('CHECKPOINT_INVALID')
    expect(() => parseCheckpoint('s', text)).toThrow(field)
  })
})

describe('how a transfer ended', () => {
  test('a cancelled transfer is recorded with the author of the order', () => {
    const by = (cancelledBy?: object) => {
      const closed = toClosed('7', { state: 'cancelled', ...(cancelledBy && { cancelledBy }) })
      return closed?.kind === 'closed' && closed.by
    }
    expect(by({ by: 'ops: night: shift', reason: 'no longer wanted' })).toBe('ops: night: shift')
    expect(by({ by: ' ', reason: 'x' })).toBe('unnamed')
    expect(by()).toBe('unnamed')
  })

  test('an ended transfer is reported with a reason that the stream accepts', () => {
    const status = (state: TransferState, reason?: string): Parameters<typeof toClosed>[1] => ({
      state,
      code: 'VAA_NO_QUORUM',
      ...(reason !== undefined && { reason }),
    })
    for (const reason of ['x'.repeat(5_000), '', undefined]) {
      const closed = toClosed('7', status('rejected', reason))
      expect(() => closed && assertStreamRequest(closed, 'closed')).not.toThrow()
      expect(closed).toMatchObject({
        kind: 'closed',
        number: '7',
        outcome: 'rejected',
        reason: reason?.slice(0, 1_000) || 'VAA_NO_QUORUM',
      })
    }
    expect(toClosed('7', status('cancelled'))).toMatchObject({ outcome: 'cancelled', by: 'unnamed' })
    expect(toClosed('7', status('delivered'))).toBeUndefined()
  })

  test('the end of a transfer is reported only for its own message', () => {
    const digest = `0x${'ab'.repeat(8)}${'cd'.repeat(24)}`
    expect(isOf({ id: `native-bridge:a:${'0'.repeat(64)}:1:${'ab'.repeat(8)}` }, { digest })).toBe(true)
    expect(isOf({ id: `native-bridge:a:${'0'.repeat(64)}:1:${'ab'.repeat(7)}ff` }, { digest })).toBe(false)
  })
})
