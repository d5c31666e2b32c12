import { describe, expect, it } from 'vitest'
import { applyToStream, initialStream, viewStream } from '../../domain/stream/reducer.ts'
import type { StreamConfig, StreamRequest, StreamState } from '../../domain/stream/stream.ts'
import { covers, isSuccessor, mayBeSameSource, succeed } from '../../domain/stream/succession.ts'

const emitter = 'ec'.repeat(32)
const named = (chain: string, sourceId = '2'): StreamConfig => ({
  ...{ stream: `wormhole-token-bridge:${chain}:${emitter}`, origin: `${chain}/x`, first: '0', maxOpen: 10 },
  ...(sourceId !== '' && { sourceId }),
})
const after = (state: StreamState, ...requests: StreamRequest[]) => applyToStream(state, { requests }, 5).state
const order = { by: 'night-shift', reason: 'a test' }
const numbers = (...all: number[]) => all.map((number) => [String(number)] as const)

/** 5 is resolved, 6 and 9 are open, 7 and 8 are missing, 10 is parked, 11 was skipped, and 12 is open. */
const old = after(
  initialStream({ ...named('wormhole-2'), first: '5' }),
  { kind: 'seen', numbers: numbers(5, 6, 9, 10, 11, 12), ignored: [['5', '5']] },
  { kind: 'classified', from: '7', to: '8', state: 'unobserved' },
  { kind: 'parked', number: '10', code: 'FEE_NOT_CONFIGURED' },
  { kind: 'skip', number: '11', order },
  { kind: 'setMaxOpen', maxOpen: 3, order },
  { kind: 'pause', order },
)

describe('a stream that goes on under another name', () => {
  it('keeps its watermark and all that is open, aside, missing, excepted and ordered', () => {
    const now = succeed(JSON.parse(JSON.stringify(old)), named('ethereum'))
    const { stream: _, ...known } = viewStream(now)
    const { stream: __, ...before } = viewStream(old)
    expect(known).toEqual(before)
    expect(known).toMatchObject({ completedNumber: '5', next: '13', open: 4, aside: { FEE_NOT_CONFIGURED: 1 }, paused: order })
    expect(now.config).toEqual({ ...named('ethereum'), first: '5' })
    expect(now).toMatchObject({ exceptions: [{ number: '11', outcome: 'skipped' }], maxOpen: 3, ordered: { by: 'night-shift' } })
    expect(now.orders).toEqual(old.orders)
    // It goes on as any other.
    expect(viewStream(after(now, { kind: 'audited', upTo: '20', height: 3, present: [] })).next).toBe('21')
  })

  it.each<[string, unknown, RegExp]>([
    ['nothing', undefined, /^config/],
    ['a text', 'open', /^config/],
    ['numbers that are none', { ...old, next: '0x7' }, /^next/],
    ['open numbers out of order', { ...old, open: [...old.open].reverse() }, /^open: must ascend/],
    ['numbers above the next', { ...old, next: '9' }, /^next: must be above/],
    ['gaps over each other', { ...old, gaps: [...old.gaps, ...old.gaps] }, /^gaps: must ascend/],
    ['a gap of no state', { ...old, gaps: [{ ...old.gaps[0], state: 'lost' }] }, /^gaps\[0\]\.state/],
    ['runs that cannot be unpacked', { ...old, aside: [{ code: 'X', runs: '!!' }] }, /./],
    ['an endless list', { ...old, exceptions: Array.from({ length: 1_000 }, () => old.exceptions[0]) }, /^exceptions/],
    ['a long text', { ...old, paused: { by: 'x'.repeat(5_000), reason: 'y', at: 1 } }, /^paused\.by/],
  ])('does not begin with what no stream has: %s', (_, junk, why) => {
    expect(() => succeed(junk, named('ethereum'))).toThrow(why)
  })

  it('is known by its bridge, its emitter and the number of its chain', () => {
    const own = named('ethereum')
    expect(isSuccessor(own, named('wormhole-2', ''))).toBe(true)
    expect(isSuccessor(own, named('eth'))).toBe(true)
    // Another chain may have the same emitter; one that began in an earlier release does not say.
    for (const other of [named('wormhole-4', ''), named('unichain', '44'), named('eth', ''), own])
      expect(isSuccessor(own, other)).toBe(false)
    for (const other of ['native-bridge:eth:bsc', `other:wormhole-2:${emitter}`, `wormhole-token-bridge:wormhole-2:${'ab'.repeat(32)}`])
      expect(mayBeSameSource(other, own)).toBe(false)
  })

  it('covers another one if it proves all that the other has not resolved, and knows of all that the other knows', () => {
    const own = succeed(old, named('ethereum'))
    expect(covers(own, old)).toBe(true)
    expect(covers({ ...own, first: '7' }, old)).toBe(false)
    expect(covers({ ...own, next: '12' }, old)).toBe(false)
    expect(covers({ first: '13', next: '13' }, { ...old, open: [], gaps: [], aside: [] })).toBe(true)
  })
})
