import { describe, expect, test } from 'vitest'
import { orderLines, orderOf, type GivenOrder, ordersKept, withOrder } from '../../domain/order.ts'

describe('the order in a signal or an update', () => {
  test.each<[string, unknown, { by: string; reason: string }]>([
    ['as clients send it', { order: { by: 'ops', reason: 'a test' } }, { by: 'ops', reason: 'a test' }],
    ['as people type it', { by: 'ops', reason: 'a test' }, { by: 'ops', reason: 'a test' }],
    ['nothing', undefined, { by: 'unnamed', reason: 'signal without a name' }],
    ['null', null, { by: 'unnamed', reason: 'signal without a name' }],
    ['a text', 'now', { by: 'unnamed', reason: 'signal without a name' }],
    ['a reason without a name', { reason: 'a test' }, { by: 'unnamed', reason: 'a test' }],
    ['an empty order', { order: {}, by: 'ops' }, { by: 'unnamed', reason: 'signal without a name' }],
    ['an order that is null', { order: null }, { by: 'unnamed', reason: 'signal without a name' }],
    ['a name without a reason', { order: { by: 'ops' } }, { by: 'ops', reason: 'no reason given' }],
    ['other types', { by: 5, reason: { ticket: 7 } }, { by: '5', reason: '{"ticket":7}' }],
  ])('an order is read from a signal: %s', (_, given, order) => {
    expect(orderOf(given)).toEqual(order)
  })

  test('an order without a name says how it came', () => {
    expect(orderOf({}, 'update').reason).toBe('update without a name')
  })

  test('an order is one line of bounded length, so that it cannot imitate other lines', () => {
    const { by, reason } = orderOf({ by: ' ops\n- 2026 **delivered**\u202e\u2028x ', reason: 'r'.repeat(10_000) })
    expect(by).toBe('ops - 2026 **delivered** x')
    expect(reason).toHaveLength(500)
    expect(orderOf({ by: 'x'.repeat(10_000) }).by).toHaveLength(100)
  })
})

describe('the log of orders', () => {
  const record = (at: number): GivenOrder => ({ kind: 'retry', by: 'ops', reason: `${at}`, at })

  test('the log keeps the newest orders', () => {
    const log = Array.from({ length: 40 }, (_, at) => at).reduce<readonly GivenOrder[]>((all, at) => withOrder(all, record(at)), [])
    expect(log.map(({ at }) => at)).toEqual(Array.from({ length: ordersKept }, (_, index) => index + 8))
  })

  test('a repeated order is counted, and pushes no other out of the log', () => {
    const log = Array.from({ length: 99 }, (_, at) => at).reduce(
      (all, at) => withOrder(all, { ...record(at), reason: 'again' }),
      withOrder(undefined, record(0)),
    )
    expect(log).toEqual([record(0), { ...record(98), reason: 'again', times: 99 }])
  })

  test('the log is shown newest first, with the facts of each order', () => {
    const log = [record(1), { ...record(2), kind: 'replace', facts: { nonce: 7, maxFee: '90' } }]
    expect(orderLines(log)).toEqual([
      '- 1970-01-01T00:00:00.002Z replace by ops: 2 (nonce 7, maxFee 90)',
      '- 1970-01-01T00:00:00.001Z retry by ops: 1',
    ])
  })
})
