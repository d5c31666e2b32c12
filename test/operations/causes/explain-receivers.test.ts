import { describe, expect, test } from 'vitest'
import { explain } from '../../../operations/causes/explain.ts'
import type { Facts, ReceiverFacts } from '../../../operations/causes/facts.ts'
import { newNotifier, type NotifierState } from '../../../domain/notification/notifier.ts'
import { at, config, facts, read, unpolled, unread } from './facts.ts'

const causes = (changes: Partial<Facts>) => explain(facts(changes), config)
const codes = (changes: Partial<Facts>) => causes(changes).map(({ code }) => code)

describe('receivers of notifications', () => {
  const one = (changes: Partial<NotifierState>, more: Partial<ReceiverFacts> = {}): ReceiverFacts => ({
    ...{ receiver: 'books', notifier: read({ ...newNotifier(at - 3_600_000), recordedAt: at - 20_000, ...changes }) },
    queue: read({ isPolled: true, polledAt: at - 1_000, waiting: 0, waitingMs: 0 }),
    ...more,
  })
  const unsent = (tries: number) =>
    ({
      notification: { id: 'evt_1', type: 'transfer.delivered', at: at - 90_000, data: {} },
      ...{ tries, nextAt: at + 1_000, why: 'HTTP 403' },
    }) as const
  const failure = { since: at - 60_000, tries: 3, nextAt: at + 1_000, why: 'no connection' }
  const gone = { at: at - 5_000, why: 'gone' } as const
  const ordered = { at: at - 5_000, why: 'ordered', by: 'ann', reason: 'it is moved' } as const

  test.each<[string, string | undefined, string, ReceiverFacts]>([
    ['is notified', undefined, '', one({})],
    ['says that it wants no more', 'RECEIVER_GONE', '410', one({ disabled: gone })],
    ['is disabled', 'RECEIVER_DISABLED', 'by ann: it is moved', one({ disabled: ordered })],
    ['does not answer', 'RECEIVER_FAILING', '3 times: no connection', one({ failure, recordedAt: at - 3_600_000 })],
    ['refuses', 'RECEIVER_FAILING', '2 times: HTTP 403', one({ unsent: [unsent(1), unsent(2)] })],
    ['has no process', 'RECEIVER_UNSERVED', 'No process takes the steps', one({}, { queue: unpolled })],
    [
      ...(['has a process that was killed', 'RECEIVER_UNSERVED', 'No process takes the steps'] as const),
      one({}, { queue: read({ isPolled: true, polledAt: at - 30_000, waiting: 1, waitingMs: 9_000 }) }),
    ],
    ['has not begun', 'RECEIVER_UNSERVED', 'has not begun', one({}, { notifier: read(undefined) })],
    ['has a notifier that does not answer', 'RECEIVER_UNSERVED', 'does not answer', one({}, { notifier: unread('LANE_UNREACHABLE') })],
    ['is in no config', 'RECEIVER_UNSERVED', 'has books in its config', one({ recordedAt: at - 600_000 })],
    ['has a step under way after a rest', undefined, '', one({ recordedAt: at - 600_000 }, { step: { tries: 1 } })],
    [
      ...(['has a step that fails', 'RECEIVER_UNSERVED', 'was tried 4 times: a bug'] as const),
      one({ recordedAt: at - 600_000 }, { step: { tries: 4, failure: 'a bug' } }),
    ],
  ])('a receiver that %s: %s', (_, code, what, receiver) => {
    const rows = causes({ receivers: [receiver] })
    expect(rows.map((row) => [row.code, row.where])).toEqual(code ? [[code, { kind: 'receiver', id: 'books' }]] : [])
    expect(rows.map((row) => row.what).join('')).toContain(what)
    for (const { next } of rows) expect(next.join()).not.toContain('<receiver>')
  })

  test('the row of a receiver counts its waiting notifications; without a ledger, there is no row', () => {
    const receivers = [one({ unsent: [unsent(2)] }, { waiting: 7 })]
    expect(causes({ receivers })).toMatchObject([
      { code: 'RECEIVER_FAILING', count: 7, oldest: '2026-11-22T11:58:30.000Z', asOf: '2026-11-22T11:59:40.000Z' },
    ])
    expect(codes({ receivers, ledger: { queue: unpolled, asked: 2, answered: 0 } })).toEqual(['LEDGER_WITHOUT_WORKER'])
  })
})
