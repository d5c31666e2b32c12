import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { inspect } from 'node:util'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { startChild } from '../../../lab/devnet/child.ts'
import { until } from '../../../lab/devnet/until.ts'
import { recover } from '../../../temporal/recovery/remedies.ts'
import { readKeptOrders } from '../../../temporal/client/settings/kept-orders.ts'
import { applyToLane, setLaneMode } from '../../../temporal/client/lanes/lanes.ts'
import { orderOfNotifier, raiseNotification, readNotifier, testNotifier } from '../../../temporal/client/settings/notifiers.ts'
import { changeSettings } from '../../../temporal/client/settings/settings.ts'
import { applyToStream } from '../../../temporal/client/streams/streams.ts'
import { notifierOrderSignal, notifierWorkflowId } from '../../../temporal/contracts/notifier.ts'
import type { Notification } from '../../../domain/notification/notification.ts'
import { openApi } from '../../api/setting.ts'
import type { Check } from '../../../cli/doctor/check.ts'
import { runCli } from '../../cli/run-cli.ts'
import { expectForgedUntold } from './forged-runs.ts'
import { answering, type Received, startReceiver, type TestReceiver, testSecrets } from './receiver.ts'
import { temporaryFolder } from '../../helpers/folders.ts'
import { causeOf, lane, type NotificationSetting, receiverAt, startNotificationSetting, testShown, writeReceiverConfig } from './setting.ts'

const order = { by: 'night-shift', reason: 'a test' }
const deliveries = { events: ['transfer.delivered'] } as const
const timeoutMs = 60_000
const launcher = fileURLToPath(new URL('../../../bin/portage.js', import.meta.url))

describe('Receivers of notifications', () => {
  let on: NotificationSetting
  let sequence = 0
  let names = 0
  const ends: (() => Promise<unknown>)[] = []
  const client = () => on.ledgers.temporal.client
  const next = () => String(++sequence)
  /** Each receiver name has its own notifier. */
  const named = (what: string) => `${what}-${++names}`
  const idsOf = (received: readonly Received[], transfer: string, type = 'transfer.delivered') =>
    received.filter((one) => one.type === type && one.data['transfer'] === transfer).map(({ id }) => id)
  const serve: NotificationSetting['serve'] = async (...args) => {
    const end = await on.serve(...args)
    ends.push(end)
    return end
  }
  const begun = (name: string) => until(() => readNotifier(client(), name), { timeoutMs, what: `the notifier of ${name}` })
  const configFile = (name: string, url: string) => writeReceiverConfig(on, temporaryFolder(), { name, url })

  beforeAll(async () => {
    on = await startNotificationSetting()
  })
  afterAll(() => on?.stop())
  // A worker that still runs would take tasks of the next test's notifiers.
  afterEach(async () => {
    for (const end of ends.splice(0).toReversed()) await end()
  })

  test('receivers are notified once of every delivery that their filter wants, also if the first try fails', async () => {
    const [all, other] = [await startReceiver(), await startReceiver()]
    let refusals = 3
    all.answer = (one, response) => answering(refusals-- > 0 ? 503 : 204)(one, response)
    const [first, second] = [named('all'), named('other')]
    await serve([receiverAt(first, all.url, deliveries), receiverAt(second, other.url, { ...deliveries, chains: ['avalanche'] })])
    await Promise.all([begun(first), begun(second)])
    const transfers = await Promise.all([next(), next(), next()].map((one) => on.transfer(one)))
    const elsewhere = await on.transfer(next(), { sourceChain: 'avalanche' })
    const told = ({ received }: TestReceiver, ids: readonly string[]) => ids.every((id) => idsOf(received, id).length > 0)
    const isDone = () => told(all, [...transfers, elsewhere]) && told(other, [elsewhere]) && refusals <= 0
    await until(isDone, { timeoutMs, what: 'all to be notified' })
    const taken = async () => (await readNotifier(client(), first))?.counts.sent === 4
    await until(taken, { timeoutMs, what: 'all to be taken' })
    for (const id of [...transfers, elsewhere]) expect(new Set(idsOf(all.received, id)).size).toBe(1)
    expect(all.received.length).toBeGreaterThan(4)
    expect(other.received.map(({ data }) => data['transfer'])).toEqual([elsewhere])
    expect([all.forged, other.forged]).toEqual([[], []])
    const [one] = other.received
    expect(one?.data).toMatchObject({
      bridge: 'wormhole-token-bridge',
      sourceChain: 'avalanche',
      targetChain: 'bsc',
      txHash: /^0x0+4$/ as never,
      ...testShown,
    })
  })

  test('a receiver is notified of a reversal, and of the next delivery under another id', async () => {
    const books = await startReceiver()
    const name = named('books')
    await serve([receiverAt(name, books.url, deliveries)])
    await begun(name)
    const id = await on.transfer(next())
    await until(() => idsOf(books.received, id).length === 1, { timeoutMs, what: 'the delivery to be notified' })
    // Do what the audit does when the effect of a delivery is gone.
    const { runId } = await client().workflow.getHandle(id).describe()
    await recover(client(), { workflowId: id, runId }, 'effectGone')
    await client().workflow.getHandle(id).result()
    const isNotified = () => idsOf(books.received, id, 'transfer.reversed').length > 0 && new Set(idsOf(books.received, id)).size === 2
    await until(isNotified, { timeoutMs, what: 'the reversal and the next delivery to be notified' })
    const about = books.received.filter(({ data }) => data['transfer'] === id).toSorted((a, b) => a.sequence - b.sequence)
    expect(about.map(({ type }) => type)).toEqual(['transfer.delivered', 'transfer.reversed', 'transfer.delivered'])
    expect(about[1]?.data['txHash']).toBe(about[0]?.data['txHash'])
    for (const { data } of about) expect(data).toMatchObject(testShown)
  })

  test("receivers and event streams of the API get no events of a stranger's runs", async () =>
    expectForgedUntold(on, ends, { receiver: await startReceiver(), name: named('forged'), next }))

  test('receivers are notified once of each condition: parked, paused, funds, gap, halt, spending', async () => {
    const pager = await startReceiver()
    const name = named('pager')
    const events = ['transfer.parked', 'lane.paused', 'lane.funds_low', 'lane.spending_high', 'stream.gap', 'settings.halted'] as const
    await serve([receiverAt(name, pager.url, { events })])
    await begun(name)
    const id = await on.transfer(next(), { parks: true })
    const observation = { latest: 0, finalized: 0, height: 1, hash: '0x01', balance: '1', claims: [], since: 1, pending: 0 }
    const start = { config: { lane, window: 1, fillAfterBlocks: 1, minimumBalance: '5' } }
    await applyToLane(client(), lane, { observe: observation, requests: [] }, { start })
    await setLaneMode(client(), lane, 'pause', order)
    const stream = 'native-bridge:ethereum:bsc'
    const begin = () => ({ config: { stream, origin: '1/x', first: '1', maxOpen: 10 } })
    await applyToStream(client(), stream, { requests: [{ kind: 'seen', numbers: [['3']] }] }, { begin })
    const known = { bridges: [], lanes: [], nodes: { bsc: ['node-1'] } }
    await changeSettings(client(), known, { ...order, orders: [{ kind: 'halt', scope: { chain: 'bsc' } }] })
    const spending: Notification = { id: 'evt_spending', type: 'lane.spending_high', at: 1, data: { lane } }
    for (const one of [spending, spending]) await raiseNotification(client(), name, one)
    const types = () => pager.received.map(({ type }) => type).toSorted()
    await until(() => types().length >= events.length, { timeoutMs, what: 'all to be notified' })
    expect(types()).toEqual([...events].toSorted())
    const of = (type: string) => pager.received.find((one) => one.type === type)?.data
    // The id in the signal was chosen by its sender, so the notifier must not use it.
    expect(pager.received.filter(({ id }) => id === spending.id)).toEqual([])
    expect(of('transfer.parked')).toMatchObject({ transfer: id, code: 'DELIVERY_IMPOSSIBLE', reason: 'it reverts', ...testShown })
    expect(of('lane.paused')).toMatchObject({ lane, chain: 'bsc', why: 'paused', by: 'night-shift', reason: 'a test' })
    expect(of('settings.halted')).toMatchObject({ chain: 'bsc', by: 'night-shift' })
    expect(of('stream.gap')).toMatchObject({ stream })
    // Wait until the notifier has seen the end of the pause, and only then pause again.
    await setLaneMode(client(), lane, 'resume', order)
    const isOver = async () => !Object.keys((await readNotifier(client(), name))?.holding ?? {}).includes(`lane/${lane}/closed`)
    await orderOfNotifier(client(), name, { kind: 'replay', since: Date.now() + 60_000, order })
    await until(isOver, { timeoutMs, what: 'the end of the pause to be seen' })
    await setLaneMode(client(), lane, 'pause', order)
    const pauses = () => pager.received.filter(({ type }) => type === 'lane.paused')
    await until(() => pauses().length > 1, { timeoutMs, what: 'the second pause to be notified' })
    expect(new Set(pauses().map((one) => one.id)).size).toBe(2)
    await changeSettings(client(), known, { ...order, orders: [{ kind: 'unhalt', scope: { chain: 'bsc' } }] })
  })

  test('a receiver that hangs or is gone delays no other, and gets the rest once it is enabled', async () => {
    const [good, hanging, gone] = [await startReceiver(), await startReceiver(), await startReceiver()]
    hanging.answer = () => {}
    gone.answer = answering(410)
    const startedAt = Date.now()
    const [a, b, c] = [named('good'), named('hanging'), named('gone')]
    await serve([receiverAt(a, good.url, deliveries), receiverAt(b, hanging.url, deliveries), receiverAt(c, gone.url, deliveries)])
    await Promise.all([a, b, c].map(begun))
    const ids = [await on.transfer(next()), await on.transfer(next())]
    await until(() => ids.every((id) => idsOf(good.received, id).length > 0), { timeoutMs, what: 'the good one to be notified' })
    await until(async () => (await readNotifier(client(), c))?.disabled?.why === 'gone', { timeoutMs, what: 'the other to be disabled' })
    const gauge = `portage_notification_receiver_disabled{receiver="${c}",why="gone"} 1`
    await until(async () => (await on.metrics.render()).includes(gauge), { timeoutMs, what: 'the metric' })
    const asked = gone.received.length
    const later = await on.transfer(next())
    const waiting = `portage_notifications_waiting{receiver="${c}"} 3`
    await until(async () => (await on.metrics.render()).includes(waiting), {
      timeoutMs,
      what: 'the notifications in Temporal to be counted',
    })
    const cause = await causeOf(on, c, gone.url)
    expect(cause).toMatchObject({
      code: 'RECEIVER_GONE',
      where: { id: c },
      count: 3,
      next: expect.arrayContaining([expect.stringContaining(c)]),
    })
    await until(() => idsOf(good.received, later).length > 0, { timeoutMs, what: 'the good one to be notified again' })
    expect(gone.received.length).toBe(asked)
    // The first four requests arrive together. Later requests arrive one at a time, and each lasts 15 s.
    expect(hanging.received.length).toBeLessThanOrEqual(4 + (Date.now() - startedAt) / 15_000)
    gone.answer = answering(204)
    await orderOfNotifier(client(), c, { kind: 'enable', order })
    await until(() => [...ids, later].every((id) => idsOf(gone.received, id).length > 0), { timeoutMs, what: 'the rest to be notified' })
  })

  test('a replay sends events again under the same ids, and none from before its start', async () => {
    const books = await startReceiver()
    const name = named('replayed')
    await serve([receiverAt(name, books.url, deliveries)])
    await begun(name)
    const before = await on.transfer(next())
    await until(() => idsOf(books.received, before).length === 1, { timeoutMs, what: 'the first to be notified' })
    const { closeTime } = await client().workflow.getHandle(before).describe()
    const ids = [await on.transfer(next()), await on.transfer(next())]
    await until(() => ids.every((id) => idsOf(books.received, id).length === 1), { timeoutMs, what: 'the others to be notified' })
    await orderOfNotifier(client(), name, { kind: 'replay', since: (closeTime?.getTime() ?? 0) + 1, order })
    await until(() => ids.every((id) => idsOf(books.received, id).length === 2), { timeoutMs, what: 'them to be notified again' })
    for (const id of ids) expect(new Set(idsOf(books.received, id)).size).toBe(1)
    expect(idsOf(books.received, before)).toHaveLength(1)
    await until(async () => !(await readNotifier(client(), name))?.replay, { timeoutMs, what: 'the replay to end' })
    expect((await readNotifier(client(), name))?.orders).toMatchObject([{ kind: 'replay', ...order }])
    // A replay from the epoch passes half a million hours without an event.
    await orderOfNotifier(client(), name, { kind: 'replay', since: 0, order })
    await until(() => idsOf(books.received, before).length === 2, { timeoutMs, what: 'the first to be notified again' })
  })

  test('no history, log or list has a secret or URL of a receiver, and malformed orders change nothing', async () => {
    const books = await startReceiver(testSecrets.second)
    const name = named('secret')
    books.answer = answering(503)
    await serve([receiverAt(name, books.url, deliveries, testSecrets.first, testSecrets.second)])
    await begun(name)
    await on.transfer(next())
    await until(async () => ((await readNotifier(client(), name))?.counts.failed ?? 0) > 0, { timeoutMs, what: 'a try to fail' })
    expect(await causeOf(on, name, books.url)).toMatchObject({
      code: 'RECEIVER_FAILING',
      count: 1,
      what: expect.stringContaining('HTTP 503'),
    })
    const handle = client().workflow.getHandle(notifierWorkflowId(name))
    for (const junk of [
      null,
      7,
      'x',
      {},
      { kind: 'constructor' },
      { kind: 'replay', since: '1' },
      { kind: 'test', id: 'a b' },
      { kind: 'raise', notification: { __proto__: 1 } },
      { kind: 'raise', notification: { id: 'evt_forged', type: 'transfer.delivered', at: 1, data: { transfer: 'forged' } } },
      { kind: 'raise', notification: { id: 'evt_late', type: 'lane.spending_high', at: 9e15, data: {} } },
    ])
      await handle.signal(notifierOrderSignal, junk as never)
    books.answer = answering(204)
    expect(await testNotifier(client(), name, order, timeoutMs)).toMatchObject({ taken: true })
    expect((await readNotifier(client(), name))?.orders?.map(({ kind }) => kind)).toEqual(['test'])
    expect(books.received.filter(({ id }) => id === 'evt_forged')).toEqual([])
    const { events } = await handle.fetchHistory()
    const decoded = JSON.stringify(events, (_, value: unknown) => (value instanceof Uint8Array ? Buffer.from(value).toString() : value))
    const seen = [decoded, ...on.logged, inspect(await readNotifier(client(), name), { depth: 20 }), await on.metrics.render()].join('\n')
    expect(seen).toContain(name)
    for (const secret of [...Object.values(testSecrets), 'path-secret']) {
      expect(seen).not.toContain(secret)
      expect(seen).not.toContain(secret.replace('whsec_', ''))
    }
  })

  test('after a kill before a delivery is recorded, the next process notifies again under the same id', async () => {
    const books = await startReceiver()
    const name = named('killed')
    const { file, folder } = await configFile(name, books.url)
    const run = (failpoints?: string) =>
      startChild(process.execPath, [launcher, '--config', file, 'run', '--role', 'ledger'], {
        env: { ...process.env, ...(failpoints && { PORTAGE_FAILPOINTS: failpoints }) },
        logFile: join(folder, 'log'),
      })
    const doomed = await run('notified=kill@1')
    ends.push(() => doomed.stop(0))
    await until(() => readNotifier(client(), name), {
      timeoutMs,
      what: 'its notifier',
      giveUp: () => (doomed.ended ? doomed.tail() : undefined),
    })
    const id = await on.transfer(next())
    await until(() => doomed.ended, { timeoutMs, what: 'the failpoint to kill it' })
    expect([doomed.ended, idsOf(books.received, id).length]).toEqual(['ended by SIGKILL', 1])
    const sound = await run()
    ends.push(() => sound.stop())
    await until(() => idsOf(books.received, id).length > 1, {
      timeoutMs,
      what: 'it to be notified again',
      giveUp: () => (sound.ended ? sound.tail() : undefined),
    })
    expect(new Set(idsOf(books.received, id)).size).toBe(1)
  })

  test('receivers are listed, tested, disabled and enabled by the command line and REST with the right token', async () => {
    const books = await startReceiver()
    const name = named('ordered')
    const { file, notifications } = await configFile(name, books.url)
    await serve([receiverAt(name, books.url, deliveries)])
    await begun(name)
    const cli = (...argv: string[]) => runCli(['--config', file, '--json', 'notifications', ...argv])
    expect((await cli('list')).json()).toMatchObject({
      receivers: [{ name, host: new URL(books.url).origin, events: ['transfer.delivered'] }],
    })
    const tested = await cli('test', name)
    expect([tested.code, tested.json()]).toMatchObject([0, { receiver: name, taken: true }])
    const before = books.received.length
    const { checks } = (await runCli(['--config', file, '--json', 'doctor', '--send-test'])).json() as { checks: Check[] }
    const here = checks.filter(({ area }) => area === `receiver ${name}`)
    expect(here.map((one) => [one.name.split(' ')[0], one.status])).toEqual(['url', 'secret', 'test', 'progress'].map((one) => [one, 'ok']))
    expect(books.received.length).toBe(before + 1)
    expect((await cli('disable', 'nobody', '--reason', 'x')).json()).toMatchObject({ error: { code: 'RECEIVER_NOT_FOUND' } })
    const api = await openApi({ ...on.config, temporal: { ...on.config.temporal, address: on.ledgers.server.address }, notifications })
    try {
      const post = (what: string, payload: object) => api.api.inject({ method: 'POST', url: `/v1/notifications/${name}/${what}`, payload })
      expect((await post('disable', { reason: 'a test' })).statusCode).toBe(200)
      const state = async () => (await api.api.inject('/v1/notifications')).json<{ receivers: { state: string }[] }>().receivers[0]?.state
      await until(async () => (await state()) === 'disabled', { timeoutMs, what: 'it to be disabled' })
      expect((await post('test', {})).json()).toMatchObject({ code: 'INPUT_INVALID' })
      expect((await post('enable', { reason: 'a test' })).json()).toEqual({ asked: true })
      expect((await post('test', {})).json()).toEqual({ taken: true })
      const kept = await readKeptOrders(client(), { lanes: [], receivers: [name] }, 0, ['receiver'])
      const kinds = kept.find(({ id }) => id === name)?.orders.map(({ kind }) => kind)
      expect(kinds).toEqual(['test', 'disable', 'enable', 'test'])
      const reader = await api.token({ level: 'write' })
      const request = { method: 'POST', url: `/v1/notifications/${name}/test`, payload: {} } as const
      const refused = await api.bare.inject({ ...request, headers: { authorization: `Bearer ${reader}` } })
      expect(refused.json()).toMatchObject({ code: 'ACCESS_LEVEL' })
    } finally {
      await api.close()
    }
  })
})
