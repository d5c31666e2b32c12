import { describe, expect, test } from 'vitest'
import { afterAttempt, attemptSchedule, dueUnsent, hasRoom } from '../../../domain/notification/attempts.ts'
import { haltConditions, laneConditions, streamConditions } from '../../../domain/notification/condition.ts'
import { type Notification, wantsSubject, wantsType } from '../../../domain/notification/notification.ts'
import {
  newNotifier,
  notifierLimits,
  type NotifierState,
  oldestUnsent,
  silentSince,
  waitingCount,
  withConditions,
  obeyNotifierOrder,
} from '../../../domain/notification/notifier.ts'
import { newLane } from '../../../domain/lane/lane.ts'
import { conditionNotification, transferNotification } from '../../../operations/notifications/events.ts'
import { bodyOf, wireId } from '../../../operations/notifications/send.ts'
import { cursorAfter, NotifiedRuns } from '../../../operations/notifications/notified-runs.ts'
import { nearLimits } from '../../../workers/roles/lane-notices.ts'

const { triesMs } = attemptSchedule
const order = { by: 'night-shift', reason: 'a test' }
const about = (id: string, at = 1): Notification => ({ id, type: 'lane.paused', at, data: {} })
const start = newNotifier(1_000)
const failed = { kind: 'failed', why: 'no connection' } as const
const refused = { kind: 'refused', why: 'HTTP 400' } as const
const again = (state: NotifierState, id: string, answer: Parameters<typeof afterAttempt>[2], now: number) =>
  afterAttempt(state, about(id), answer, { now, jitter: 0 })

describe('A receiver that does not answer', () => {
  test('the pauses of a failing receiver become longer, and each notification follows the schedule', () => {
    const rests: number[] = []
    let state: NotifierState = start
    for (let [tries, now] = [1, 0]; tries <= 7; tries++, now = state.failure?.nextAt ?? 0) {
      state = again(state, 'a', failed, now)
      // Attempts that were pending at the same time count as one failure.
      state = again(state, 'b', failed, now)
      rests.push(((state.failure?.nextAt ?? 0) - now) / 60_000)
      expect(state.unsent[0]).toEqual({ notification: about('a'), tries, nextAt: now + (triesMs[tries - 1] ?? 0), why: 'no connection' })
    }
    expect(rests).toEqual([5 / 60, 1, 5, 15, 30, 30, 30])
    expect(triesMs.reduce((sum, ms) => sum + ms, 0) / 3_600_000).toBeCloseTo(75.585, 2)
    expect(state.counts).toEqual({ sent: 0, failed: 14, givenUp: 0 })
  })

  test('a failing receiver can ask for a pause of up to an hour', () => {
    expect(again(start, 'a', { ...failed, retryAfterMs: 600_000 }, 0).failure?.nextAt).toBe(600_000)
    expect(again(start, 'a', { ...failed, retryAfterMs: 86_400_000 }, 0).failure?.nextAt).toBe(3_600_000)
  })

  test('a clock that was a day ahead keeps neither a receiver nor its notifications at rest', () => {
    const day = 86_400_000
    let state = start
    for (let tries = 0; tries < 12; tries++) state = again(state, 'a', failed, 3 * day)
    expect(state.unsent[0]?.nextAt).toBe(4 * day)
    expect(dueUnsent(state, day).map(({ notification }) => notification.id)).toEqual(['a'])
    expect(dueUnsent(state, 3 * day)).toEqual([])
    const later = again(state, 'b', failed, day)
    expect(later.failure).toMatchObject({ tries: 2, nextAt: day + 60_000 })
  })

  test('a receiver that is back gets the waiting notifications at once, except those that failed three times', () => {
    let state = again(again(again(start, 'often', failed, 0), 'often', failed, 0), 'often', failed, 0)
    state = again(state, 'once', failed, 0)
    const back = again(state, 'new', { kind: 'taken' }, 10)
    expect(back).toMatchObject({ failure: undefined, lastSentAt: 10, counts: { sent: 1 } })
    expect(dueUnsent(back, 10).map(({ notification: { id } }) => id)).toEqual(['once'])
  })

  test('a failing notification is never lost, and a refused one is given up after ten tries', () => {
    let [away, refusing] = [start, start]
    for (let tries = 0; tries < 30; tries++) away = again(away, 'a', failed, tries)
    expect(away.unsent).toHaveLength(1)
    for (let tries = 0; tries < 9; tries++) refusing = again(refusing, 'a', refused, tries)
    expect([refusing.unsent.length, refusing.failure]).toEqual([1, undefined])
    refusing = again(refusing, 'a', refused, 10)
    expect([refusing.unsent, refusing.counts.givenUp]).toEqual([[], 1])
  })

  test('a receiver that wants no more is disabled, and its notifications are kept until it is enabled', () => {
    const gone = again({ ...start, pending: [about('a')] }, 'a', { kind: 'gone', why: 'it wants no more notifications (410)' }, 5)
    expect(gone).toMatchObject({ disabled: { why: 'gone', at: 5 }, pending: [], unsent: [{ tries: 1 }] })
    const enabled = obeyNotifierOrder(gone, { kind: 'enable', order }, 9)
    expect([enabled.disabled, dueUnsent(enabled, 9).length]).toEqual([undefined, 1])
    expect(enabled.orders).toMatchObject([{ kind: 'enable', ...order, at: 9 }])
    const fresh = obeyNotifierOrder(gone, { kind: 'enable', order, fromNow: true }, 9)
    expect([fresh.unsent, fresh.cursor.from]).toEqual([[], 9])
  })

  test('a receiver with a hundred waiting notifications has no room, and nothing more is read', () => {
    let state: NotifierState = start
    for (let index = 0; hasRoom(state); index++) state = again(state, `n${index}`, refused, 0)
    expect(state.unsent).toHaveLength(notifierLimits.unsent)
    expect(oldestUnsent(state)).toBe(1)
  })
})

describe('A condition', () => {
  const condition = { key: 'lane/a/closed', type: 'lane.paused', about: {}, data: {} } as const
  const read = (state: NotifierState, at: number, ...conditions: (typeof condition)[]) =>
    withConditions(state, [{ source: 'lane/a', conditions }], at, conditionNotification)

  test('a condition is notified once while it holds, and under another id when it begins again', () => {
    const first = read(start, 10, condition)
    expect(first.pending).toHaveLength(1)
    expect(read(first, 20, condition).pending).toEqual(first.pending)
    const second = read(read(first, 30), 40, condition)
    expect(second.pending.map(({ at }) => at)).toEqual([10, 40])
    expect(new Set(second.pending.map(({ id }) => id)).size).toBe(2)
  })

  test('a condition of an unreadable source is not over, and one of a source that is gone is', () => {
    const held = read(start, 10, condition)
    const unread = withConditions(held, [{ source: 'lane/a' }], 20, conditionNotification)
    expect(unread.holding).toEqual({ 'lane/a/closed': 10 })
    expect(withConditions(held, [], 20, conditionNotification).holding).toEqual({})
  })

  test('a condition without room waits for the next read', () => {
    const many = Array.from({ length: 300 }, (_, index) => ({ ...condition, key: `lane/a/${index}` }) as never)
    const state = read(start, 10, ...many)
    expect([state.pending.length, Object.keys(state.holding).length]).toEqual([notifierLimits.pending, notifierLimits.pending])
    const next = read({ ...state, pending: [] }, 20, ...many)
    expect(next.pending).toHaveLength(100)
  })

  test('a lane has the conditions closed, for any reason, and without funds', () => {
    const lane = newLane({ lane: 'evm-1:0xa', window: 1, fillAfterBlocks: 1 })
    const types = (state: Parameters<typeof laneConditions>[2]) =>
      laneConditions('evm-1:0xa', 'bsc', state).map(({ type, data }) => [type, data['why']])
    expect(types(lane)).toEqual([])
    const broke = { detail: 'balance 0 wei', cost: '0' }
    expect(types({ ...lane, paused: { kind: 'operator', reason: 'x', by: 'ops' }, broke })).toEqual([
      ['lane.paused', 'paused'],
      ['lane.funds_low', undefined],
    ])
    expect(types({ ...lane, closing: { mode: 'forbidden', reason: 'x', by: 'ops' } })).toEqual([['lane.paused', 'forbidden']])
    expect(types({ ...lane, broke })).toEqual([['lane.funds_low', undefined]])
  })

  test('a stream has the condition of a gap that is ten minutes old', () => {
    const view = { stream: 'native-bridge:a:b', gaps: { unobserved: '2' }, oldestGapAt: 1 } as never
    expect(streamConditions(view, 600_000)).toEqual([])
    expect(streamConditions(view, 600_001)).toMatchObject([{ type: 'stream.gap', about: { chains: ['a', 'b'], bridge: 'native-bridge' } }])
  })

  test('the condition of a halt shows printable names of a forged scope, and no other field', () => {
    const scope = { chain: 'bsc\u001b[2J', junk: '\u001b[2J', reason: '\u001b[2J' } as { chain: string }
    const [condition] = haltConditions({ halts: [{ scope, by: 'me', reason: 'x', at: 1 }] })
    expect(JSON.parse(JSON.stringify(condition?.data))).toEqual({
      chain: 'bsc [2J',
      by: 'me',
      reason: 'x',
      since: '1970-01-01T00:00:00.001Z',
    })
  })

  test('the settings have the condition of a halt, and another one if it is ordered again', () => {
    const halts = (at: number) => ({ halts: [{ scope: { chain: 'bsc' }, by: 'me', reason: 'x\u001b[2J', at }] })
    expect(haltConditions(halts(1))).toMatchObject([{ about: { chains: ['bsc'] }, data: { reason: 'x [2J' } }])
    expect(haltConditions(halts(1))[0]?.key).not.toBe(haltConditions(halts(2))[0]?.key)
  })
})

describe('A filter', () => {
  test('a filter of deliveries includes their reversals', () => {
    expect(wantsType({ events: ['transfer.delivered'] }, 'transfer.reversed')).toBe(true)
    expect(wantsType({ events: ['transfer.parked'] }, 'transfer.reversed')).toBe(false)
  })

  test('a filter drops events of other subjects, and passes events without a subject', () => {
    const filter = { events: [], chains: ['bsc'], bridges: ['native-bridge'], lanes: ['evm-1:0xa'] }
    expect(wantsSubject(filter, {})).toBe(true)
    expect(wantsSubject(filter, { chains: ['ethereum', 'bsc'] })).toBe(true)
    expect(wantsSubject(filter, { chains: ['ethereum'] })).toBe(false)
    expect(wantsSubject(filter, { bridge: 'wormhole-token-bridge' })).toBe(false)
    expect(wantsSubject(filter, { chains: ['bsc'], lane: 'evm-1:0xb' })).toBe(false)
  })
})

describe('Orders', () => {
  test('malformed orders cause no notification, and a repeated order causes one', () => {
    const raise = (state: NotifierState, notification: unknown) =>
      obeyNotifierOrder(state, { kind: 'raise', notification: notification as never }, 1)
    const good = { id: 'evt_a', type: 'lane.spending_high', at: 1, data: { lane: 'x' } }
    const bad = [
      null,
      7,
      {},
      { ...good, id: 'a.b' },
      { ...good, type: 'x' },
      { ...good, at: 1.5 },
      { ...good, at: 9e15 },
      { ...good, type: 'transfer.delivered' },
      { ...good, data: null },
      { ...good, data: { lane: ['x'] } },
      { ...good, data: { x: 'y'.repeat(3_000) } },
    ]
    for (const one of bad) expect(raise(start, one)).toBe(start)
    const once = raise(start, good)
    expect(once.pending).toHaveLength(1)
    expect(raise(once, good)).toBe(once)
    expect(raise({ ...once, pending: [] }, good).pending).toEqual([])
    expect(raise(once, { ...good, id: 'evt_b', type: 'lane.topped_up' }).pending).toHaveLength(2)
  })

  test('an order to replay repeats the latest conditions, and moves no cursor', () => {
    const state = { ...start, recent: [about('old', 5), about('new', 50)] }
    const replayed = obeyNotifierOrder(state, { kind: 'replay', order, since: 40 }, 100)
    expect(replayed.pending.map(({ id }) => id)).toEqual(['new'])
    expect([replayed.replay, replayed.cursor]).toEqual([{ from: 40, to: 100 }, start.cursor])
    expect(obeyNotifierOrder(state, { kind: 'replay', order, since: -8e15 }, 100).replay).toEqual({ from: 0, to: 100 })
  })
})

describe('The cursor', () => {
  test('the cursor moves up to a read only after the settling time', () => {
    const first = cursorAfter(start.cursor, 5_000, 100, 300)
    expect(first).toMatchObject({ from: 1_000, seen: 5_000, settling: { since: 100, seen: 5_000 } })
    const second = cursorAfter(first, 9_000, 399, 300)
    expect(second).toMatchObject({ from: 1_000, seen: 9_000, settling: { since: 100, seen: 5_000 } })
    const third = cursorAfter(second, 9_500, 400, 300)
    expect(third).toMatchObject({ from: 5_000, seen: 9_500, settling: { since: 400, seen: 9_500 } })
  })

  test('the cursor does not trust a clock that went back', () => {
    const first = cursorAfter(start.cursor, 5_000, 1_000, 300)
    expect(cursorAfter(first, 6_000, 10, 300)).toMatchObject({ from: 1_000, settling: { since: 10, seen: 6_000 } })
  })

  test('the cursor carries the newest runs, and forgets those below it', () => {
    const told = new NotifiedRuns()
    for (let index = 0; index < 3_000; index++) told.add(`run-${index}`, index)
    expect(told.carried()).toHaveLength(notifierLimits.notified)
    told.follow({ ...start.cursor, from: 2_990, notified: [] })
    expect([told.has('run-2989'), told.has('run-2990'), told.carried().length]).toEqual([false, true, 10])
  })
})

test('the id of a delivery follows from its run and transaction, and its reversal has another', () => {
  const row = { kind: 'delivered', id: 'x:1:2:3:4', runId: 'r', txHash: '0x1', closedAt: 7, at: 7 } as const
  expect(transferNotification({ ...row, lane: 'evm-1:0xa' }, 'encrypted').id).toBe(transferNotification(row, 'temporal').id)
  const ids = [row, { ...row, txHash: '0x2' }, { ...row, runId: 's' }, { ...row, kind: 'reversed' as const }].map(
    (one) => transferNotification(one, 'temporal').id,
  )
  expect(new Set(ids).size).toBe(4)
  for (const id of ids) expect(id).toMatch(/^evt_[\w-]{27}$/)
})

test('a notification from a signal does not use the id of another notification', () => {
  const delivery = transferNotification({ kind: 'delivered', id: 'x:1:2:3:4', runId: 'r', closedAt: 7, at: 7 }, 'temporal')
  const sent = (one: Notification) => (JSON.parse(bodyOf(one)) as { id: string }).id
  expect([wireId(delivery), sent(delivery)]).toEqual([delivery.id, delivery.id])
  for (const type of ['lane.spending_high', 'lane.topped_up'] as const) {
    const raised = { ...delivery, type, data: { lane: 'x' } }
    expect(sent(raised)).toBe(wireId(raised))
    expect(wireId(raised)).toMatch(/^evt_[\w-]{27}$/)
    expect(wireId(raised)).not.toBe(delivery.id)
  }
})

test('every process notifies once per hour or day of a key above 80 % of its limit, under one id', () => {
  const agents = [
    {
      lane: 'evm-1:0xa',
      spending: [
        { kind: 'cost', window: 'hour', spent: 81n, limit: 100n },
        { kind: 'cost', window: 'day', spent: 80n, limit: 100n },
        { kind: 'payment', window: 'hour', spent: 99n, limit: 100n },
      ],
    },
  ] as never
  const lanes = [{ id: 'evm-1:0xa', chain: 'bsc' }]
  const [first, payments, ...others] = nearLimits({ lanes, agents }, 0)
  expect(others).toEqual([])
  expect(payments?.notification).toMatchObject({ data: { kind: 'payment', spentWei: '99' } })
  expect(payments?.notification.id).not.toBe(first?.notification.id)
  expect(first?.notification).toMatchObject({
    type: 'lane.spending_high',
    data: { kind: 'cost', window: 'hour', spentWei: '81', limitWei: '100', chain: 'bsc' },
  })
  const idAt = (now: number) => nearLimits({ lanes, agents }, now)[0]?.notification.id
  expect([idAt(3_599_999) === first?.notification.id, idAt(3_600_000) === first?.notification.id]).toEqual([true, false])
})

describe('Waiting notifications', () => {
  const recorded: NotifierState = { ...start, recordedAt: 10_000 }
  const delivered = (id: string, at: number) => ({
    notification: { ...about(id, at), type: 'transfer.delivered' as const },
    tries: 1,
    nextAt: 0,
    why: '',
  })

  test('a receiver is silent while disabled, failing, or without a record for five minutes since an order', () => {
    expect(silentSince(recorded, 20_000)).toBeUndefined()
    expect(silentSince({ ...recorded, disabled: { why: 'gone', at: 7 } }, 20_000)).toBe(7)
    expect(silentSince({ ...recorded, failure: { since: 8, tries: 1, nextAt: 9, why: '' } }, 20_000)).toBe(8)
    expect(silentSince(recorded, 10_000 + 300_001)).toBe(10_000)
    const enabled = obeyNotifierOrder(recorded, { kind: 'enable', order }, 300_000)
    expect(silentSince(enabled, 10_000 + 300_001)).toBeUndefined()
  })

  test('a kept notification counts once, although Temporal lists it too', () => {
    const state = { ...recorded, pending: [about('p')], unsent: [delivered('a', 2_000), delivered('old', 500)] }
    expect(waitingCount(state, 0)).toBe(3)
    expect(waitingCount(state, 5)).toBe(7)
  })
})
