import type { Ask, LaneRequest } from '../../domain/lane/messages.ts'
import { mayBeTried } from '../../domain/lane/entries.ts'
import type { Owner } from '../../domain/lane/lane.ts'
import { Bench, bump, first, nonceOf, noop, owner } from './lane-bench.ts'
import { describe, expect, test } from 'vitest'

const id = 'o'

describe('draining', () => {
  test('a draining lane grants nothing new, finds a held nonce, and takes operator transactions', () => {
    const lane = new Bench()
    lane.grant('a')
    lane.do({ kind: 'drain', id, reason: 'key rotation', order: { by: 'ops', reason: 'key rotation' } })
    expect(lane.grant('b')).toEqual({ kind: 'refused', why: 'draining', detail: 'key rotation' })
    expect(nonceOf(lane.grant('a', 'a-2'))).toBe(5)
    expect(lane.withdraw('a', 'abandon')).toEqual({ kind: 'held', nonce: 5 })
    const sweep = { intentId: 'operatorTransaction/1', callHash: '0x5' }
    expect(nonceOf(lane.do({ kind: 'grant', id, owner: sweep, attempt: first, operatorTransaction: true }))).toBe(6)
    expect(lane.apply({ requests: [] }).view.closed).toEqual({ why: 'draining', detail: 'key rotation', by: 'ops' })
    lane.do({ kind: 'activate', id })
    expect(nonceOf(lane.grant('b'))).toBe(7)
  })

  test('a forbidden lane takes no operator transaction; activate reopens it, and resume does not', () => {
    const lane = new Bench()
    lane.do({ kind: 'forbid', id, reason: 'a leak' })
    lane.do({ kind: 'pause', id, pause: { kind: 'operator', reason: 'and paused' } })
    const sweep = { intentId: 'operatorTransaction/1', callHash: '0x5' }
    expect(nonceOf(lane.do({ kind: 'grant', id, owner: sweep, attempt: first, operatorTransaction: true }))).toBe('forbidden')
    lane.do({ kind: 'resume', id })
    expect(nonceOf(lane.grant('b'))).toBe('forbidden')
    lane.do({ kind: 'pause', id, pause: { kind: 'operator', reason: 'and paused' } })
    lane.do({ kind: 'activate', id })
    expect(nonceOf(lane.grant('b'))).toBe(5)
  })
})

describe('funds', () => {
  const closed = (lane: Bench) => lane.apply({ requests: [] }).view.closed?.why

  test('a lane below its minimum balance has no funds, and works again once funded', () => {
    const lane = new Bench()
    lane.do({ kind: 'configure', id, config: { ...lane.state.config, minimumBalance: '2000000' } })
    expect([nonceOf(lane.grant('a')), closed(lane)]).toEqual(['funds', 'funds'])
    lane.observe({ balance: '1999999', height: 101 })
    expect(closed(lane)).toBe('funds')
    lane.observe({ balance: '2000000', height: 102 })
    expect([closed(lane), nonceOf(lane.grant('a'))]).toEqual([undefined, 5])
  })

  test('a lane is broke only if it can pay neither the next grant nor the lowest nonce', () => {
    const lane = new Bench()
    lane.observe({ balance: '1500' })
    expect([nonceOf(lane.grant('a')), nonceOf(lane.grant('b')), closed(lane)]).toEqual([5, 'funds', undefined])
    lane.observe({ latest: 6, height: 101 })
    expect([nonceOf(lane.grant('c', 'c-1', { value: '600' })), closed(lane)]).toEqual(['funds', undefined])
    lane.observe({ balance: '999', height: 102 })
    expect([nonceOf(lane.grant('b')), closed(lane)]).toEqual(['funds', 'funds'])
    lane.observe({ balance: '1000', height: 103 })
    expect([nonceOf(lane.grant('b')), closed(lane)]).toEqual([6, undefined])
    lane.observe({ balance: '999', height: 104 })
    expect(closed(lane)).toBe('funds')
    lane.observe({ latest: 7, height: 105 })
    expect(closed(lane)).toBeUndefined()
  })

  describe('a refused call', () => {
    const minute = 60_000
    const isTried = (lane: Bench) => mayBeTried(lane.state, lane.now)

    /** A lane that refused a call for 1,000 wei at time 0. */
    function poor(balance: string, owner: Partial<Owner> = {}) {
      const lane = new Bench()
      lane.observe({ balance, height: 101 })
      expect([nonceOf(lane.grant('a', 'a-1', owner)), closed(lane), isTried(lane)]).toEqual(['funds', 'funds', false])
      return lane
    }

    const grant = (lane: Bench, name: string, maxFee: string, more: object = {}) =>
      nonceOf(lane.do({ kind: 'grant', id: name, owner: owner(name), attempt: { ...first, maxFee }, ...more }))

    test.each([
      ['900', 1],
      ['400', 2],
      ['2', 9],
    ])('a lane with %s wei that could not pay 1,000 wei is tried after %i minutes, and shown as broke', (balance, minutes) => {
      const lane = poor(balance)
      lane.now = minutes * minute - 1
      expect([isTried(lane), closed(lane)]).toEqual([false, 'funds'])
      lane.now += 1
      lane.observe({ height: 102 })
      expect([isTried(lane), closed(lane)]).toEqual([true, 'funds'])
    })

    test('a lane whose trial fails is not shown as open, and waits for the same time again', () => {
      const lane = poor('900')
      for (let trial = 1; trial <= 30; trial++) {
        lane.now = trial * minute
        lane.observe({ height: 101 + trial })
        expect([isTried(lane), closed(lane)]).toEqual([true, 'funds'])
        expect([nonceOf(lane.grant('a')), isTried(lane), closed(lane)]).toEqual(['funds', false, 'funds'])
      }
    })

    test('a broke lane opens at the first call that it can pay for, for example once gas is cheaper', () => {
      const lane = poor('900')
      lane.now = minute
      expect([grant(lane, 'cheaper', '5'), closed(lane)]).toEqual([5, undefined])
      lane.observe({ height: 102 })
      expect(closed(lane)).toBeUndefined()
    })

    test('a call that the lane could pay, were other nonces mined, opens it too', () => {
      const lane = poor('900')
      expect(grant(lane, 'sweep', '6', { operatorTransaction: true })).toBe(5)
      expect([grant(lane, 'cheaper', '5'), closed(lane)]).toEqual(['funds', undefined])
    })

    test('an operator transaction that the lane can pay does not open it', () => {
      const lane = poor('900')
      expect([grant(lane, 'sweep', '5', { operatorTransaction: true }), closed(lane)]).toEqual([5, 'funds'])
    })

    test('among refused calls, the cheapest decides when the lane is tried', () => {
      const lane = poor('400')
      expect(grant(lane, 'cheaper', '5')).toBe('funds')
      lane.now = minute - 1
      expect(grant(lane, 'dearer', '80')).toBe('funds')
      lane.now = minute
      expect(isTried(lane)).toBe(true)
    })

    test('a lane that is empty, below its minimum or owes its lowest nonce stays closed, and is not tried', () => {
      const late = (lane: Bench) => {
        lane.now = 10 ** 12
        lane.observe({ height: 102 })
        return [closed(lane), isTried(lane)]
      }
      expect(late(poor('0'))).toEqual(['funds', false])
      const low = poor('900')
      low.do({ kind: 'configure', id, config: { ...low.state.config, minimumBalance: '901' } })
      expect(late(low)).toEqual(['funds', false])
      const owing = poor('900')
      expect(grant(owing, 'sweep', '9', { operatorTransaction: true })).toBe(5)
      owing.observe({ balance: '899', height: 102 })
      expect(late(owing)).toEqual(['funds', false])
    })

    test('a lane that nobody tries forgets the call ten minutes later', () => {
      const lane = poor('900')
      lane.now = 11 * minute - 1
      lane.observe({ height: 102 })
      expect(closed(lane)).toBe('funds')
      lane.now += 1
      lane.observe({ height: 103 })
      expect([closed(lane), lane.state.broke]).toEqual([undefined, undefined])
    })

    test('a call that an earlier release refused counts from the first report', () => {
      const lane = poor('900')
      lane.state = { ...lane.state, broke: { detail: 'balance 900 wei, needed 1000 wei', cost: '1000' } }
      lane.now = 10 ** 12
      expect(isTried(lane)).toBe(false)
      lane.observe({ height: 102 })
      lane.now += minute
      expect([isTried(lane), closed(lane)]).toEqual([true, 'funds'])
    })
  })
})

describe('one nonce', () => {
  test('an operator fills only a nonce without an owner; cancel-nonce takes it from its owner', () => {
    const lane = new Bench()
    for (const name of ['a', 'b']) lane.grant(name)
    expect(nonceOf(lane.do({ kind: 'fill', id, nonce: 5, reason: 'operator' }))).toBe('conflict')
    expect(lane.do({ kind: 'fill', id, nonce: 9, reason: 'operator' })).toMatchObject({
      why: 'none',
      detail: expect.stringContaining('is 7'),
    })
    expect(nonceOf(lane.do({ kind: 'cancelNonce', id, nonce: 5 }))).toBe('done')
    expect(lane.orders).toEqual([[5, 'cancelled']])
    expect(nonceOf(lane.grant('a', 'a-2'))).toBe(5)
    lane.observe({ latest: 6, height: 101 })
    expect(nonceOf(lane.do({ kind: 'cancelNonce', id, nonce: 5 }))).toBe('none')
  })

  test('an inherited nonce is filled at once, and stays inherited until it is mined', () => {
    const lane = new Bench('unsynced')
    lane.observe({ pending: 6 })
    expect(lane.orders).toEqual([])
    lane.do({ kind: 'fill', id, nonce: 5, reason: 'operator' })
    expect(lane.orders).toEqual([[5, 'inherited']])
    expect(nonceOf(lane.grant('a'))).toBe('unsynced')
  })

  test('a nonce is replaced by one more attempt, which stays ordered until it is recorded', () => {
    const lane = new Bench()
    lane.grant('a')
    expect(lane.apply({ requests: [] }).raises).toEqual([])
    lane.do({ kind: 'replace', id, nonce: 5, maxFee: '30' })
    expect(lane.apply({ requests: [] }).raises).toEqual([{ nonce: 5, after: 1, maxFee: '30' }])
    // The market caused this raise, so it does not fulfil the order.
    lane.attempt(5, 1, { ...bump, maxFee: '29' })
    expect(lane.apply({ requests: [] }).raises).toEqual([{ nonce: 5, after: 2, maxFee: '30' }])
    lane.attempt(5, 2, { ...bump, maxFee: '30' })
    expect(lane.apply({ requests: [] }).raises).toEqual([])
    lane.do({ kind: 'cancelNonce', id, nonce: 5 })
    lane.do({ kind: 'replace', id, nonce: 5 })
    lane.attempt(5, 3, noop)
    expect(lane.state.entries[5]).not.toHaveProperty('raise')
    expect(nonceOf(lane.do({ kind: 'replace', id, nonce: 6 }))).toBe('none')
  })
})

test('each republish order is separate, for one nonce of the ledger or for all', () => {
  const lane = new Bench()
  const told = () => lane.apply({ requests: [] }).view.republish
  lane.grant('a')
  expect(told()).toBeUndefined()
  expect(lane.do({ kind: 'republish', id, order: { by: 'ops', reason: 'an empty pool' } })).toEqual({ kind: 'done' })
  const first = told()
  expect(first).toEqual({ at: expect.any(Number) })
  expect(nonceOf(lane.do({ kind: 'republish', id, nonce: 6 }))).toBe('none')
  expect(told()).toEqual(first)
  lane.do({ kind: 'republish', id, nonce: 5 })
  expect(told()).toMatchObject({ nonce: 5 })
  expect(lane.state.orders?.map(({ kind, by, facts }) => [kind, by, facts])).toEqual([
    ['republish', 'ops', undefined],
    ['republish', 'unnamed', { nonce: 5 }],
  ])
})

describe('configure', () => {
  test("an operator's window stays until the config's own value changes", () => {
    const lane = new Bench()
    const { config } = lane.state
    const tell = (window: number) => lane.do({ kind: 'configure', id, config: { ...config, window, fillAfterBlocks: 9 } })
    lane.do({ kind: 'setWindow', id, window: 1 })
    tell(3)
    expect(lane.state.config).toEqual({ ...config, window: 1, fillAfterBlocks: 9 })
    tell(7)
    expect(lane.state.config.window).toBe(7)
  })
})

describe('the author and the reason of an order', () => {
  const order = { by: 'night-shift', reason: 'a test' }

  test('every obeyed order is kept with its author and facts, and survives a reset', () => {
    const lane = new Bench()
    lane.grant('a')
    lane.grant('b')
    lane.now = 7
    const asks: Ask[] = [
      { kind: 'pause', pause: { kind: 'operator', reason: 'a test' } },
      { kind: 'resume' },
      { kind: 'drain', reason: 'a test' },
      { kind: 'forbid', reason: 'a test' },
      { kind: 'activate' },
      { kind: 'setWindow', window: 4 },
      { kind: 'replace', nonce: 5, maxFee: '90' },
      { kind: 'cancelNonce', nonce: 6 },
      { kind: 'resync' },
      { kind: 'reset' },
    ]
    for (const ask of asks) expect(lane.do({ ...ask, id, order } as LaneRequest)).toEqual({ kind: 'done' })
    expect(lane.state.orders).toEqual([
      { kind: 'pause', ...order, at: 7 },
      { kind: 'resume', ...order, at: 7 },
      { kind: 'drain', ...order, at: 7 },
      { kind: 'forbid', ...order, at: 7 },
      { kind: 'activate', ...order, at: 7 },
      { kind: 'setWindow', ...order, at: 7, facts: { window: 4 } },
      { kind: 'replace', ...order, at: 7, facts: { nonce: 5, maxFee: '90' } },
      { kind: 'cancelNonce', ...order, at: 7, facts: { nonce: 6 } },
      { kind: 'resync', ...order, at: 7 },
      { kind: 'reset', ...order, at: 7 },
    ])
  })

  test('a fill is kept as an order; refused orders and reports of processes are not', () => {
    const lane = new Bench()
    lane.observe({ pending: 6 })
    expect(lane.do({ kind: 'fill', id, nonce: 5, reason: 'operator', order })).toEqual({ kind: 'done' })
    expect(lane.do({ kind: 'fill', id, nonce: 9, reason: 'operator', order })).toMatchObject({ kind: 'refused' })
    lane.do({ kind: 'configure', id, config: lane.state.config })
    expect(lane.state.orders).toMatchObject([{ kind: 'fill', ...order, facts: { nonce: 5 } }])
  })

  test('an order without a name is kept as unnamed', () => {
    const lane = new Bench()
    lane.do({ kind: 'pause', id, pause: { kind: 'operator', reason: 'key rotation' } })
    lane.do({ kind: 'resync', id })
    expect(lane.state.paused).toEqual({ kind: 'operator', reason: 'key rotation', by: 'unnamed' })
    expect(lane.state.orders).toMatchObject([
      { kind: 'pause', by: 'unnamed', reason: 'update without a name' },
      { kind: 'resync', by: 'unnamed', reason: 'update without a name' },
    ])
  })

  test("Portage, whose view of the lane may be old, never undoes an operator's order", () => {
    const lane = new Bench()
    const own = { order: { by: 'portage', reason: 'no role' } }
    lane.do({ kind: 'pause', id, pause: { kind: 'operator', reason: 'a test' }, order })
    lane.do({ kind: 'pause', id, pause: { kind: 'unauthorized', reason: 'no role' }, ...own })
    lane.do({ kind: 'resume', id, only: 'unauthorized', ...own })
    expect(lane.state.paused).toEqual({ kind: 'operator', reason: 'a test', by: 'night-shift' })
    expect(lane.state.orders?.map(({ by }) => by)).toEqual(['night-shift'])
    lane.do({ kind: 'resume', id, order })
    lane.do({ kind: 'pause', id, pause: { kind: 'unauthorized', reason: 'no role' }, ...own })
    expect(lane.state.paused?.kind).toBe('unauthorized')
    lane.do({ kind: 'resume', id, only: 'unauthorized', ...own })
    expect(lane.state.paused).toBeUndefined()
  })
})
