import { type Attempt, type LaneState, newLane } from '../../domain/lane/lane.ts'
import type { LaneRequest } from '../../domain/lane/messages.ts'
import { apply } from '../../domain/lane/reducer/reducer.ts'
import { withoutWorkerMs } from '../../domain/lane/entries.ts'
import { Bench, bump, first, nonceOf, noop, owner } from './lane-bench.ts'
import { describe, expect, test } from 'vitest'

describe('grant', () => {
  test("grants are the account's next nonces in sequence, with the first attempt recorded", () => {
    const lane = new Bench()
    expect([lane.grant('a'), lane.grant('b')].map(nonceOf)).toEqual([5, 6])
    expect(lane.state.entries[5]).toEqual({
      nonce: 5,
      owner: owner('a'),
      grantedTo: 'a-1',
      maybeSent: false,
      sinceBlock: 100,
      claimedBlock: 0,
      attempts: [first],
    })
  })

  test('a repeated request gets its answer again, and another one for the intent the same nonce', () => {
    const lane = new Bench()
    const answer = lane.grant('a')
    const before = lane.state
    expect(lane.grant('a')).toEqual(answer)
    expect(lane.state).toEqual(before)
    expect(lane.grant('a', 'a-2')).toMatchObject({ kind: 'granted', entry: { nonce: 5, grantedTo: 'a-1', maybeSent: true } })
    expect(lane.state.counts.granted).toBe(1)
  })

  test('another call under the same intent is refused', () => {
    const lane = new Bench()
    lane.grant('a')
    expect(nonceOf(lane.grant('a', 'a-2', { callHash: '0xother' }))).toBe('conflict')
  })

  test('find grants nothing new', () => {
    const lane = new Bench()
    const ask = { kind: 'find', id: 'x', intentId: owner('a').intentId, callHash: owner('a').callHash } as const
    expect(nonceOf(lane.do(ask))).toBe('none')
    lane.grant('a')
    expect(nonceOf(lane.do(ask))).toBe(5)
  })

  test('a block makes room in the window, final or not', () => {
    const lane = new Bench()
    expect(['a', 'b', 'c', 'd'].map((name) => nonceOf(lane.grant(name)))).toEqual([5, 6, 7, 'window'])
    lane.observe({ latest: 6, height: 101 })
    expect(nonceOf(lane.grant('d'))).toBe(8)
    expect(Object.keys(lane.state.entries)).toEqual(['5', '6', '7', '8'])
  })

  test('a held nonce is answered whatever the window, the pause and the sync say', () => {
    const lane = new Bench()
    lane.grant('a')
    lane.do({ kind: 'pause', id: 'p', pause: { kind: 'operator', reason: 'maintenance' } })
    lane.do({ kind: 'setWindow', id: 'p', window: 0 })
    lane.do({ kind: 'resync', id: 'p' })
    expect(nonceOf(lane.grant('a', 'a-2'))).toBe(5)
    expect(lane.grant('b')).toEqual({ kind: 'refused', why: 'paused', detail: 'maintenance' })
    lane.do({ kind: 'resume', id: 'p' })
    expect(nonceOf(lane.grant('b'))).toBe('unsynced')
    lane.observe({ pending: 5 })
    expect(nonceOf(lane.grant('b'))).toBe('window')
  })

  test('funds cover gas limit × fee + value of the dearest attempt of each unmined nonce', () => {
    const lane = new Bench()
    lane.observe({ balance: '4500' })
    expect(nonceOf(lane.grant('a', 'a-1', { value: '2000' }))).toBe(5)
    lane.attempt(5, 1, bump)
    expect(lane.grant('b', 'b-1', { value: '301' })).toEqual({ kind: 'refused', why: 'funds', detail: 'balance 4500 wei, needed 4501 wei' })
    expect(nonceOf(lane.grant('b', 'b-1', { value: '300' }))).toBe(6)
  })

  test('the value of an abandoned call counts, since the call may win against the no-op', () => {
    const lane = new Bench()
    lane.observe({ balance: '3999' })
    lane.grant('a', 'a-1', { value: '2000' })
    lane.do({ kind: 'forbid', id: 'f', reason: 'a leak' })
    lane.withdraw('a', 'abandon')
    lane.do({ kind: 'activate', id: 'f' })
    lane.attempt(5, 1, noop)
    expect(nonceOf(lane.grant('b'))).toBe('funds')
    lane.observe({ balance: '4000' })
    expect(nonceOf(lane.grant('b'))).toBe(6)
    lane.attempt(5, 2, { ...noop, maxFee: '200' })
    lane.observe({ balance: '6199' })
    expect(lane.grant('c')).toMatchObject({ why: 'funds', detail: 'balance 6199 wei, needed 6200 wei' })
  })

  test('a window that is no whole number is refused', () => {
    const lane = new Bench()
    for (const window of [-1, 1.5, '8', null]) {
      expect(nonceOf(lane.do({ kind: 'setWindow', id: 's', window: window as number }))).toBe('conflict')
    }
    expect(lane.state.config.window).toBe(3)
  })
})

describe('attempt', () => {
  test('an attempt is added once per index; a late request gets the existing ones', () => {
    const lane = new Bench()
    lane.grant('a')
    expect(lane.attempt(5, 1, bump)).toEqual({ kind: 'attempts', attempts: [first, bump] })
    expect(lane.attempt(5, 1, { ...bump, maxFee: '99' })).toEqual({ kind: 'attempts', attempts: [first, bump] })
    expect(lane.attempt(5, 3, { ...bump, maxFee: '99' })).toEqual({ kind: 'attempts', attempts: [first, bump] })
    expect(lane.state.entries[5]?.maybeSent).toBe(true)
    expect(nonceOf(lane.attempt(9, 0, bump))).toBe('none')
  })

  test('a nonce to be filled takes no call, and any other takes no no-op', () => {
    const lane = new Bench()
    lane.grant('a')
    expect(lane.attempt(5, 1, noop)).toEqual({ kind: 'attempts', attempts: [first] })
    lane.do({ kind: 'fill', id: 'f', nonce: 5, reason: 'refused' })
    expect(lane.attempt(5, 1, bump)).toEqual({ kind: 'attempts', attempts: [first] })
    expect(lane.attempt(5, 1, noop)).toEqual({ kind: 'attempts', attempts: [first, noop] })
    expect(lane.state.counts).toMatchObject({ attempts: 1, filled: 1 })
  })
})

describe('release', () => {
  test('releasing the highest nonce takes it back, with the released ones below it', () => {
    const lane = new Bench()
    for (const name of ['a', 'b', 'c']) lane.grant(name)
    expect([lane.release('b'), lane.release('c')]).toEqual([{ kind: 'free' }, { kind: 'free' }])
    expect([lane.state.next, Object.keys(lane.state.entries)]).toEqual([6, ['5']])
    expect(lane.release('c')).toEqual({ kind: 'free' })
  })

  test('a released nonce below is the next to be granted, or is filled from the next block on', () => {
    const lane = new Bench()
    for (const name of ['a', 'b', 'c']) lane.grant(name)
    lane.release('a')
    expect(lane.orders).toEqual([])
    expect([nonceOf(lane.grant('d')), lane.state.next]).toEqual([5, 8])
    lane.release('b')
    lane.observe({ height: 101 })
    expect(lane.orders).toEqual([[6, 'released']])
    lane.attempt(6, 0, noop)
    expect(nonceOf(lane.grant('e'))).toBe('window')
  })

  test('a release is refused after the first try, and after anything that may have been a send', () => {
    const lane = new Bench()
    for (const name of ['a', 'b', 'c']) lane.grant(name)
    expect(lane.release('a', 'a-2')).toEqual({ kind: 'held', nonce: 5 })
    lane.grant('a', 'a-2')
    lane.attempt(6, 1, bump)
    lane.withdraw('c', 'cancel')
    expect(['a', 'b', 'c'].map((name) => lane.release(name))).toEqual([5, 6, 7].map((nonce) => ({ kind: 'held', nonce })))
  })

  // Regression: `next` fell below the account's nonce, so the next grant was a used nonce.
  test('releasing a nonce that was used externally does not lower next', () => {
    const lane = new Bench()
    lane.grant('a')
    lane.observe({ latest: 6, height: 101 })
    expect(lane.release('a')).toEqual({ kind: 'free' })
    expect(nonceOf(lane.grant('b'))).toBe(6)
  })

  // Regression: an old order to fill replaced the call of the nonce's next intent.
  test('a release and a new grant win over a fill that is still on its way', () => {
    const lane = new Bench()
    for (const name of ['a', 'b']) lane.grant(name)
    lane.release('a')
    lane.observe({ height: 101 })
    expect(lane.orders).toEqual([[5, 'released']])
    lane.grant('c')
    expect(lane.attempt(5, 0, noop)).toEqual({ kind: 'attempts', attempts: [first] })
    expect(lane.attempt(5, 1, noop)).toEqual({ kind: 'attempts', attempts: [first] })
  })
})

describe('withdraw', () => {
  test("an intent without a nonce is withdrawn at once, and a zombie's late request is refused", () => {
    const lane = new Bench()
    expect(lane.withdraw('a', 'leave')).toEqual({ kind: 'free' })
    expect(nonceOf(lane.grant('a', 'zombie'))).toBe('withdrawn')
  })

  test('withdrawing an intent with a nonce names it; leave keeps it, cancel has it filled', () => {
    const lane = new Bench()
    for (const name of ['a', 'b']) lane.grant(name)
    expect(lane.withdraw('a', 'leave')).toEqual({ kind: 'held', nonce: 5 })
    expect(lane.withdraw('b', 'cancel')).toEqual({ kind: 'held', nonce: 6 })
    expect(lane.orders).toEqual([[6, 'cancelled']])
    expect(nonceOf(lane.grant('b', 'late'))).toBe(6)
  })

  test('abandon gives an unmined nonce of a forbidden lane to the lane, and frees its intent', () => {
    const lane = new Bench()
    for (const name of ['a', 'b', 'c']) lane.grant(name, `${name}-1`, { value: '7' })
    expect(lane.withdraw('b', 'abandon')).toEqual({ kind: 'held', nonce: 6 })
    lane.observe({ latest: 6, height: 101 })
    lane.do({ kind: 'forbid', id: 'f', reason: 'a leak' })
    // The call of `a` is in a block, so the lane keeps its nonce.
    expect(lane.withdraw('a', 'abandon')).toEqual({ kind: 'held', nonce: 5 })
    expect(lane.withdraw('b', 'abandon')).toEqual({ kind: 'free' })
    expect(lane.state.entries[6]).toMatchObject({ fill: 'abandoned', value: '7', maybeSent: true, attempts: [first] })
    expect(lane.state.entries[6]?.owner).toBeUndefined()
    expect(lane.orders).toEqual([[6, 'abandoned']])
    expect(nonceOf(lane.grant('b', 'zombie'))).toBe('withdrawn')
    expect(lane.withdraw('b', 'leave')).toEqual({ kind: 'free' })
    lane.do({ kind: 'activate', id: 'f' })
    expect([nonceOf(lane.grant('d')), nonceOf(lane.grant('c', 'again'))]).toEqual([8, 7])
  })

  test('abandon frees the intent too when no process has reported for half a minute', () => {
    const lane = new Bench()
    lane.grant('a')
    lane.now = withoutWorkerMs
    lane.observe({ height: 101 })
    lane.now += withoutWorkerMs
    expect(lane.withdraw('a', 'abandon')).toEqual({ kind: 'held', nonce: 5 })
    lane.now += 1
    expect(lane.withdraw('a', 'leave')).toEqual({ kind: 'held', nonce: 5 })
    expect(lane.withdraw('a', 'abandon')).toEqual({ kind: 'free' })
  })

  // Regression: a late step of a cancelled transfer got a new nonce after the no-op was final.
  test('a cancelled intent gets no nonce after its no-op is final', () => {
    const lane = new Bench()
    lane.grant('a')
    lane.withdraw('a', 'cancel')
    lane.observe({ latest: 6, finalized: 6, height: 110 })
    expect(lane.state.entries).toEqual({})
    expect(nonceOf(lane.grant('a', 'zombie'))).toBe('withdrawn')
  })
})

describe('state', () => {
  const id = (n: number) => `wormhole-token-bridge:ethereum:0x${'ab'.repeat(32)}:${10n ** 18n + BigInt(n)}:${String(n).padStart(16, '0')}`

  function full(entries: number, tombstones: number, raises = 2): LaneState {
    const attempt: Attempt = { kind: 'call', gasLimit: '412345', maxFee: '123456789012', tip: '1500000000' }
    const config = { lane: `evm-42161:0x${'a'.repeat(40)}`, window: entries, fillAfterBlocks: 20 }
    const seen = { latest: 1_000_000, finalized: 1_000_000, height: 250_000_000, hash: `0x${'f'.repeat(64)}` }
    const observe = { ...seen, balance: '9'.repeat(22), since: 1, pending: 1_000_000, claims: [] }
    const numbers = (count: number) => Array.from({ length: count }, (_, n) => n)
    const requests: LaneRequest[] = [
      ...numbers(tombstones).map((n) => ({ kind: 'withdraw', id: 'w', intentId: `${id(10_000 + n)}/1`, how: 'leave' }) as const),
      ...numbers(entries).map((n) => {
        const owned = { intentId: `${id(n)}/1`, callHash: `0x${'e'.repeat(64)}` }
        return { kind: 'grant', id: `deadbeef${n}`, owner: owned, attempt } as const
      }),
      ...[1, 2]
        .slice(0, raises)
        .flatMap((index) => numbers(entries).map((n) => ({ kind: 'attempt', id: 'x', nonce: 1_000_000 + n, index, attempt }) as const)),
    ]
    return apply(newLane(config), { observe, requests }, 0).state
  }

  const sizeOf = (state: LaneState) => Buffer.byteLength(JSON.stringify(state))

  test('the state stays under 64 KiB with a window of 64, three attempts each and every tombstone', () => {
    const state = full(64, 1_024)
    expect([Object.keys(state.entries).length, state.tombstones.length]).toEqual([64, 1_024])
    expect(id(1).length).toBeGreaterThan(125)
    expect(sizeOf(state)).toBeLessThan(64 * 1024)
  })

  test('the state with a thousand nonces of three attempts takes less than a third of the limit', () => {
    const state = full(1_000, 1_024)
    expect([Object.keys(state.entries).length, state.entries['1000500']?.attempts.length]).toEqual([1_000, 3])
    expect(sizeOf(state)).toBeLessThan((2 * 1024 * 1024) / 3)
  })

  test('the newest 1,024 tombstones are kept', () => {
    const state = full(1, 1_025)
    const ask = (n: number) =>
      apply(
        { ...state, config: { ...state.config, window: 9 } },
        {
          requests: [{ kind: 'grant', id: 'z', owner: { intentId: `${id(n)}/1`, callHash: '0x' }, attempt: first }],
        },
        0,
      ).response.answers[0]
    expect([10_000, 10_001, 11_024].map((n) => nonceOf(ask(n)))).toEqual([1_000_001, 'withdrawn', 'withdrawn'])
  })
})
