import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { applyToStream, initialStream, viewStream } from '../../domain/stream/reducer.ts'
import type { StreamConfig, StreamRequest, StreamState } from '../../domain/stream/stream.ts'
import { countRuns, hasRun, type Run } from '../../domain/stream/runs.ts'
import { isSuccessor, mayBeSameSource, succeed, uncovered, unite, unresolvedRuns, withinCount } from '../../domain/stream/succession.ts'

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
  test('keeps its watermark and all that is open, aside, missing, excepted and ordered', () => {
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

  test.each<[string, unknown, RegExp]>([
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

  test('is known by its bridge, its emitter and the number of its chain', () => {
    const own = named('ethereum')
    expect(isSuccessor(own, named('wormhole-2', ''))).toBe(true)
    expect(isSuccessor(own, named('eth'))).toBe(true)
    // Another chain may have the same emitter; one that began in an earlier release does not say.
    for (const other of [named('wormhole-4', ''), named('unichain', '44'), named('eth', ''), own])
      expect(isSuccessor(own, other)).toBe(false)
    for (const other of ['native-bridge:eth:bsc', `other:wormhole-2:${emitter}`, `wormhole-token-bridge:wormhole-2:${'ab'.repeat(32)}`])
      expect(mayBeSameSource(other, own)).toBe(false)
  })

  test('has all of another one where each number that this has not resolved is unresolved, excepted, or below what its own source has counted', () => {
    const own = succeed(old, named('ethereum'))
    expect(uncovered(own, old)).toEqual([])
    // It has resolved 6 meanwhile: by itself, which only the source's count shows to be no stranger's word.
    const further = after(own, { kind: 'completed', numbers: [['6', '6']], from: 1, to: 1 })
    expect(uncovered(further, old)).toEqual([[6n, 6n]])
    expect(uncovered(further, old, '12')).toEqual([])
    // Skipped by an operator's order, which it lists.
    expect(uncovered(after(own, { kind: 'skip', number: '9', order }), old)).toEqual([])
    // It begins above.
    const late = after(initialStream({ ...named('ethereum'), first: '7' }), { kind: 'audited', upTo: '12', height: 1, present: [] })
    expect(uncovered(late, old, '12')).toEqual([[6n, 6n]])
    // It knows of fewer.
    expect(uncovered(initialStream(named('ethereum')), old, '12')).toEqual([
      [6n, 10n],
      [12n, 12n],
    ])
    expect(uncovered(initialStream(named('ethereum')), { ...old, open: [], gaps: [], aside: [] })).toEqual([])
  })

  /** One number missing, and all others of the world resolved. */
  const forged = (next: bigint): StreamState => ({
    ...after(initialStream(named('stranger')), { kind: 'audited', upTo: '0', height: 0, present: [] }),
    next: String(next),
  })

  test('takes nothing of a forged one that claims more numbers than its source has given out', () => {
    const claims = succeed(forged(2n ** 64n - 1n), named('ethereum'))
    expect(withinCount(claims, '5000')).toBeUndefined()
    expect(withinCount(claims, undefined)).toBeUndefined()
    expect(withinCount(old, '12')).toBe(old)
    // A spy is a little ahead of our nodes: what it told is left to their count.
    const cut = withinCount(old, '8')!
    expect([cut.next, unresolvedRuns(cut)]).toEqual(['9', [[6n, 8n]]])
    expect(viewStream(after(cut, { kind: 'audited', upTo: '12', height: 3, present: [] }))).toMatchObject({
      next: '13',
      completedNumber: '5',
    })
  })

  test('loses no number of the genuine one to a forged one beside it, whose watermark is lower', () => {
    const one = unite([forged(13n), old], 5)!
    expect(viewStream(one)).toMatchObject({ next: '13', blockedBy: { number: '0' } })
    expect(unresolvedRuns(one)).toEqual([
      [0n, 0n],
      [6n, 10n],
      [12n, 12n],
    ])
    // What the genuine one does not know yet is no more resolved by the other's word.
    expect(hasRun(unresolvedRuns(unite([old, forged(2n ** 64n - 1n)], 5)!), 13n, 2n ** 64n - 2n)).toBe(true)
    expect(unite([old], 5)).toBe(old)
    expect(unite([], 5)).toBeUndefined()
  })

  /** Some numbers seen, some of them resolved, parked or skipped; those between are missing. */
  const anyStream = fc
    .record({
      first: fc.nat(10),
      steps: fc.array(
        fc.record({ number: fc.nat(40), what: fc.constantFrom('open' as const, 'done' as const, 'parked' as const, 'skip' as const) }),
        { maxLength: 12 },
      ),
    })
    .map(({ first, steps }) =>
      steps.reduce(
        (state, { number, what }) => {
          if (number < first) return state
          const [one] = numbers(number)
          const seen = after(state, { kind: 'seen', numbers: [one!], ...(what === 'done' && { delivered: [[one![0], one![0]] as const] }) })
          if (what === 'parked') return after(seen, { kind: 'parked', number: one![0], code: 'FEE_NOT_CONFIGURED' })
          return what === 'skip' ? after(seen, { kind: 'skip', number: one![0], order }) : seen
        },
        initialStream({ ...named('ethereum'), first: String(first), maxOpen: 50 }),
      ),
    )
  const all = (runs: readonly Run[]) =>
    runs.flatMap(([from, to]) => Array.from({ length: Number(to - from) + 1 }, (_, at) => from + BigInt(at)))

  test('loses no number that any of several has not resolved, nor one that any of them does not know yet', () => {
    fc.assert(
      fc.property(fc.array(anyStream, { minLength: 1, maxLength: 4 }), (states) => {
        const one = unite(states, 5)!
        const open = unresolvedRuns(one)
        for (const state of states) for (const number of all(unresolvedRuns(state))) expect(hasRun(open, number)).toBe(true)
        for (const state of states)
          for (let number = BigInt(state.next); number < BigInt(one.next); number++) expect(hasRun(open, number)).toBe(true)
        for (const state of states) expect(uncovered(one, state)).toEqual([])
        // Nothing is twice in it, and it is a state as any other.
        const { gaps, open: started } = viewStream(one)
        expect(countRuns(open)).toBe(Object.values(gaps).reduce((sum, count) => sum + BigInt(count), BigInt(started)))
        expect(succeed(JSON.parse(JSON.stringify(one)), named('eth')).next).toBe(one.next)
      }),
    )
  })

  test('is ended for nothing that its successor has neither unresolved nor excepted', () => {
    fc.assert(
      fc.property(anyStream, anyStream, fc.option(fc.nat(45), { nil: undefined }), (own, other, highest) => {
        const counted = highest === undefined ? undefined : String(highest)
        const [lost, mine] = [uncovered(own, other, counted), unresolvedRuns(own)]
        for (const number of all(unresolvedRuns(other))) {
          const isExcepted = own.exceptions.some((one) => BigInt(one.number) === number)
          const isProved = highest !== undefined && number <= BigInt(highest) && number >= BigInt(own.first) && number < BigInt(own.next)
          expect(hasRun(lost, number)).toBe(!hasRun(mine, number) && !isExcepted && !isProved)
        }
        const within = withinCount(other, counted)
        if (within) expect(BigInt(within.next)).toBeLessThanOrEqual(BigInt(highest ?? -1) + 1n)
      }),
    )
  })
})
