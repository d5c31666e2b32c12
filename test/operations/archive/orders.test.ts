import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeEach, describe, expect, test } from 'vitest'
import { createArchiveStore } from '../../../operations/archive/create-store.ts'
import { freshnessOf } from '../../../operations/archive/transfers.ts'
import { exportOrders, lastExport, verifyDay } from '../../../operations/archive/orders.ts'
import type { ArchiveStore } from '../../../operations/archive/store.ts'
import type { KeptOrders } from '../../../temporal/client/settings/kept-orders.ts'
import { temporaryFolder } from '../../helpers/folders.ts'

const at = (time: string) => Date.parse(time)
const lane: KeptOrders = {
  ...{ subject: 'lane', id: 'evm-1:0xa', isFull: false },
  orders: [
    { kind: 'pause', by: 'dora', reason: 'key rotation', at: at('2026-11-22T10:00:00Z') },
    { kind: 'setWindow', by: 'dora', reason: 'smaller', at: at('2026-11-23T09:00:00Z'), facts: { window: 4 } },
  ],
}
const settings: KeptOrders = {
  ...{ subject: 'settings', id: 'settings', isFull: false },
  orders: [
    {
      ...{ kind: 'halt', by: 'emil', reason: 'an incident', at: at('2026-11-22T09:00:00Z') },
      order: { kind: 'halt', scope: { chain: 'bsc' } },
    },
  ],
}
const now = at('2026-11-23T12:00:00Z')

describe('the log of orders', () => {
  let dir: string
  let store: ArchiveStore
  const file = (day: string) => join(dir, 'orders', '2026', '11', `${day}.jsonl`)
  const linesOf = async (day: string) => (await readFile(file(day), 'utf8')).trim().split('\n')

  beforeEach(async () => {
    dir = temporaryFolder()
    store = createArchiveStore({ kind: 'directory', path: dir })
  })

  test('the log has each order once by its day with name and reason, and a repeated export writes nothing', async () => {
    const first = await exportOrders(store, [lane, settings], now)
    expect(first).toMatchObject({ found: 3, added: 3, maybeIncomplete: [] })
    const parsed = (await linesOf('22')).map((line) => JSON.parse(line) as object)
    expect(parsed).toMatchObject([
      { version: 1, at: '2026-11-22T09:00:00.000Z', subject: 'settings', kind: 'halt', by: 'emil', order: { scope: { chain: 'bsc' } } },
      { version: 1, at: '2026-11-22T10:00:00.000Z', subject: 'lane', id: 'evm-1:0xa', kind: 'pause', by: 'dora', reason: 'key rotation' },
    ])
    expect(JSON.parse((await linesOf('23'))[0] ?? '')).toMatchObject({ kind: 'setWindow', facts: { window: 4 } })
    const before = await readFile(file('22'), 'utf8')
    expect(await exportOrders(store, [settings, lane], now + 1)).toMatchObject({ found: 3, added: 0, heads: {} })
    expect(await readFile(file('22'), 'utf8')).toBe(before)
    expect(await lastExport(store)).toBe(now + 1)
  })

  test('an order to a transaction is in the log once, although a later run reports another time', async () => {
    const send = { kind: 'send', by: 'dora', reason: 'rent', at: at('2026-11-22T10:00:00Z'), facts: { valueWei: '7' } }
    const told = (time: number): KeptOrders => ({
      ...{ subject: 'operator transaction', id: 'operator-transaction:a', isFull: false },
      orders: [
        { ...send, at: time },
        { ...send, kind: 'cancel', at: time },
      ],
    })
    expect(await exportOrders(store, [told(send.at)], now)).toMatchObject({ added: 2 })
    expect(await exportOrders(store, [told(send.at + 3_600_000)], now)).toMatchObject({ found: 2, added: 0 })
    expect(await linesOf('22')).toHaveLength(2)
  })

  test('the log only grows: later orders are appended, and the chain continues', async () => {
    const { heads } = await exportOrders(store, [lane], now)
    expect(await verifyDay(store, '2026-11-22')).toEqual({ orders: 1, head: heads['2026-11-22'] })
    const [was] = await linesOf('22')
    await exportOrders(store, [lane, settings], now)
    expect((await linesOf('22'))[0]).toBe(was)
    expect(await verifyDay(store, '2026-11-22')).toMatchObject({ orders: 2 })
    expect(await verifyDay(store, '2026-11-21')).toMatchObject({ orders: 0 })
  })

  test.each([
    ['was changed', (lines: string[]) => [lines[0]!.replace('emil', 'dora'), ...lines.slice(1)], 2],
    ['was taken out', (lines: string[]) => lines.slice(1), 1],
    ['was put in', (lines: string[]) => [lines[0]!, lines[0]!, ...lines.slice(1)], 2],
  ])('the log of orders shows that a line %s', async (_, forge, line) => {
    await exportOrders(store, [lane, settings], now)
    await writeFile(file('22'), `${forge(await linesOf('22')).join('\n')}\n`)
    await expect(verifyDay(store, '2026-11-22')).rejects.toMatchObject({ code: 'ARCHIVE_INVALID', facts: { line } })
  })

  test.each(['null', '5', '"x"', '[]', '{}', '{"previous":5}'])(
    'a line that is not an order (%s) is reported as a damaged archive',
    async (line) => {
      await exportOrders(store, [lane], now)
      await writeFile(file('22'), `${line}\n`)
      await expect(verifyDay(store, '2026-11-22')).rejects.toMatchObject({ code: 'ARCHIVE_INVALID' })
      await expect(exportOrders(store, [lane, settings], now)).rejects.toMatchObject({ code: 'ARCHIVE_INVALID' })
    },
  )

  test.each(['null', '5', '[]', '{"through":5}', '{"through":"5"}', '{"through":"+275760-09-13T00:00:00.000Z"}'])(
    'progress that is not a time (%s) is reported as a damaged archive',
    async (text) => {
      await exportOrders(store, [lane], now)
      await writeFile(join(dir, 'orders', 'progress.json'), text)
      await expect(lastExport(store)).rejects.toMatchObject({ code: 'ARCHIVE_INVALID' })
    },
  )

  test('a kept last hash shows that the last line was removed', async () => {
    const { heads } = await exportOrders(store, [lane, settings], now)
    await writeFile(file('22'), `${(await linesOf('22'))[0]}\n`)
    expect((await verifyDay(store, '2026-11-22')).head).not.toBe(heads['2026-11-22'])
  })

  test('an export names subjects whose orders may be lost since the last export', async () => {
    await exportOrders(store, [lane], at('2026-11-22T09:30:00Z'))
    const full = { ...lane, isFull: true }
    expect((await exportOrders(store, [full, settings], now)).maybeIncomplete).toEqual([lane.id])
    // Now the oldest kept order is older than the last export, so no order can be missing.
    expect((await exportOrders(store, [full, settings], now)).maybeIncomplete).toEqual([])
  })

  test('two exports at the same time lose no order, and the chain holds', async () => {
    const ofStream = (n: number): KeptOrders => ({
      ...{ subject: 'stream', id: `s${n}`, isFull: false },
      orders: [{ kind: 'pause', by: 'dora', reason: 'a test', at: at('2026-11-22T11:00:00Z') + n }],
    })
    await Promise.all([1, 2, 3, 4].map((n) => exportOrders(store, [lane, ofStream(n)], now + n)))
    expect(await verifyDay(store, '2026-11-22')).toMatchObject({ orders: 5 })
    expect(await verifyDay(store, '2026-11-23')).toMatchObject({ orders: 1 })
    expect(await lastExport(store)).toBe(now + 4)
  })

  test('an incomplete export keeps the end of the last one', async () => {
    await exportOrders(store, [lane], now)
    expect(await exportOrders(store, [settings], undefined)).toMatchObject({ added: 1 })
    expect(await lastExport(store)).toBe(now)
  })

  test.each<[string, object]>([
    ['a time that is none', { at: Number.NaN }],
    ['a text for a time', { at: 'x' }],
    ['a time of another age', { at: 8.64e15 }],
    ['no name', { by: undefined }],
    ['facts that are none', { facts: { to: undefined } }],
    ['megabytes', { reason: 'x'.repeat(2_000_000) }],
  ])('the log of orders skips an order with %s, and has the others', async (_, odd) => {
    const order = { kind: 'retry', by: 'dora', reason: 'a test', at: at('2026-11-22T10:00:00Z') }
    const junk = { subject: 'transfer', id: 'junk', isFull: false, orders: [{ ...order, ...odd }, null, order] } as unknown as KeptOrders
    expect(await exportOrders(store, [junk, lane], now)).toMatchObject({ found: 3, added: 3, skipped: ['junk'] })
    expect(await lastExport(store)).toBe(now)
    expect((await exportOrders(store, [junk, lane], now)).added).toBe(0)
  })

  test('unread subjects are named, and the orders of an unread ledger count as missing until it is read', async () => {
    const unread = { orders: [], isFull: false, unread: true } as const
    const silent = (count: number) =>
      Array.from({ length: count }, (_, index) => ({ ...unread, subject: 'transfer' as const, id: `t${index}` }))
    expect((await exportOrders(store, [lane, ...silent(1)], at('2026-11-22T09:30:00Z'))).maybeIncomplete).toEqual(['t0'])
    expect((await exportOrders(store, [{ ...lane, ...unread }], now)).maybeIncomplete).toEqual([lane.id])
    expect((await exportOrders(store, [{ ...lane, isFull: true }], now)).maybeIncomplete).toEqual([lane.id])
    expect((await exportOrders(store, silent(30), now)).maybeIncomplete.slice(-2)).toEqual(['t19', 'and 10 more'])
  })

  test('a file that is no log of orders is left unchanged', async () => {
    await exportOrders(store, [lane], now)
    await writeFile(file('22'), 'none\n')
    await expect(exportOrders(store, [lane, settings], now)).rejects.toMatchObject({ code: 'ARCHIVE_INVALID' })
    expect(await readFile(file('22'), 'utf8')).toBe('none\n')
  })
})

test('the archive is late after half of the retention, and losing after nine tenths', () => {
  const behind = (hours: number) => freshnessOf(now - hours * 3_600_000, 72, now).state
  expect([0, 35.9, 36, 64, 65, 100].map(behind)).toEqual(['fresh', 'fresh', 'late', 'late', 'losing', 'losing'])
  expect(freshnessOf(undefined, 72, now)).toMatchObject({ state: 'losing', behindHours: 72 })
})
