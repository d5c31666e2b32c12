import { randomBytes } from 'node:crypto'
import { inspect } from 'node:util'
import { defaultPayloadConverter } from '@temporalio/common'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { changeSettings, readSettings } from '../../temporal/client/settings/settings.ts'
import { namesOf } from '../../config/chains.ts'
import type { KnownNames } from '../../domain/settings/known-names.ts'
import { freePort } from '../../lab/devnet/ports.ts'
import { until } from '../../lab/devnet/until.ts'
import { type Settings, type SettingsOrder, noSettings } from '../../domain/settings/settings.ts'
import { type Logger, silentLogger } from '../../observability/logger.ts'
import { createMetrics } from '../../observability/metrics.ts'
import { startWorkflowRecovery } from '../../temporal/recovery/workflow-recovery.ts'
import type { PayloadEncryption } from '../../domain/temporal-access.ts'
import type { TemporalClient } from '../../temporal/client/connection/client.ts'
import { createLedgerWorker } from '../../workers/roles/chain.ts'
import { connectTemporal } from '../../workers/process/temporal.ts'
import { defaultTuning } from '../../workers/process/create-worker.ts'
import { changeSettingsUpdate, type SettingsInput } from '../../temporal/contracts/settings.ts'
import { ledgerQueue, searchAttributes, settingsWorkflowId } from '../../temporal/contracts/names.ts'
import { watchSettings } from '../../temporal/client/settings/settings-watch.ts'
import { deadConfig, openApi } from '../api/setting.ts'
import { type Ledgers, startLedgers } from '../lanes/setting.ts'

const halt = (chain: string): SettingsOrder => ({ kind: 'halt', scope: { chain } })
const unhalt = (chain: string): SettingsOrder => ({ kind: 'unhalt', scope: { chain } })

describe('The settings', () => {
  let ledgers: Ledgers
  let known: KnownNames
  const client = () => ledgers.temporal.client
  const handle = () => client().workflow.getHandle(settingsWorkflowId)
  const change = (...orders: SettingsOrder[]) => changeSettings(client(), known, { by: 'night-shift', reason: 'a test', orders })

  beforeAll(async () => {
    known = namesOf(deadConfig(await freePort()))
    // A task waits only 200 ms for the sticky queue of a worker that has gone, and then goes to any worker.
    ledgers = await startLedgers({ tuning: { stickyMs: 200 } })
  })
  afterAll(() => ledgers?.stop())

  beforeEach(async () => {
    const { halts, denied, nodes } = await readSettings(client())
    const orders: SettingsOrder[] = [
      ...halts.map(({ scope }): SettingsOrder => ({ kind: 'unhalt', scope })),
      ...denied.map(({ kind: what, value }): SettingsOrder => ({ kind: 'allow', what, value })),
      ...nodes.map(({ chain, name }): SettingsOrder => ({ kind: 'clearNode', chain, name })),
    ]
    if (orders.length > 0) await change(...orders)
  })

  test('the settings are empty until the first change, and then hold each order with its author', async () => {
    expect(await readSettings(client())).toEqual(noSettings)
    const { before, after } = await change(halt('bsc'))
    expect(before).toEqual(noSettings)
    expect(after).toMatchObject({ version: 1, halts: [{ scope: { chain: 'bsc' }, by: 'night-shift', reason: 'a test' }] })
    expect(Math.abs(after.halts[0]!.at - Date.now())).toBeLessThan(60_000)
    expect(await readSettings(client())).toEqual(after)
    expect((await change(halt('bsc'))).after).toEqual(after)
  })

  test('the settings take the orders of many at once, each once', async () => {
    const { version } = await readSettings(client())
    const addresses = Array.from({ length: 20 }, (_, index) => `0x${index.toString(16).padStart(40, '0')}`)
    await Promise.all(addresses.map((value) => change({ kind: 'deny', what: 'recipient', value })))
    const after = await readSettings(client())
    expect(after.denied.map(({ value }) => value).toSorted((a, b) => a.localeCompare(b))).toEqual(addresses)
    expect(after.version).toBe(version + 20)
  })

  test.each<[string, string, unknown]>([
    ['an unknown chain', 'orders[0].scope.chain: there is no chain bcs; there are: ethereum, bsc', halt('bcs')],
    [
      'an unknown bridge',
      'orders[0].scope.bridge: there is no bridge x; there are: wormhole-token-bridge',
      { kind: 'halt', scope: { bridge: 'x' } },
    ],
    ['a field that is no field', 'orders[0].scope.to: unknown', { kind: 'halt', scope: { to: 'bsc' } }],
    [
      'an unknown node',
      'orders[0].change.name: there is no node of bsc',
      { kind: 'setNode', change: { chain: 'bsc', name: 'x', disabled: true } },
    ],
    [
      'the name of a configured node',
      'has a node node-1 in the config',
      { kind: 'setNode', change: { chain: 'bsc', name: 'node-1', disabled: false, url: '${NODE_URL}' } },
    ],
    [
      'a secret in a URL',
      'orders[0].change.url: must not hold a path',
      { kind: 'setNode', change: { chain: 'bsc', name: 'spare', disabled: false, url: 'https://node.example/s3cret' } },
    ],
  ])('the settings refuse %s, and change nothing', async (_, why, order) => {
    const before = await readSettings(client())
    const refused = change(halt('bsc'), order as SettingsOrder).catch((error: unknown) => error)
    expect(await refused).toMatchObject({ code: 'INPUT_INVALID', message: expect.stringContaining(why.replace('[0]', '[1]')) })
    expect(String(await refused)).not.toContain('s3cret')
    expect(await readSettings(client())).toEqual(before)
  })

  test("another client's invalid order is refused by the workflow itself, and not recorded", async () => {
    await change(halt('bsc'))
    const events = async () => (await handle().describe()).historyLength
    const before = await events()
    const request = { by: 'me', reason: '', orders: [halt('bsc')] }
    const refused = handle().executeUpdate(changeSettingsUpdate, { args: [request] })
    await expect(refused).rejects.toMatchObject({ cause: { type: 'REQUEST_MALFORMED', message: 'reason: must be a text' } })
    const secret: SettingsOrder = { kind: 'setNode', change: { chain: 'bsc', name: 'x', disabled: false, url: 'http://a:s3cret@b' } }
    const another = handle().executeUpdate(changeSettingsUpdate, { args: [{ by: 'me', reason: 'x', orders: [secret] }] })
    await expect(another).rejects.toMatchObject({ cause: { message: expect.stringContaining('orders[0].change.url') } })
    expect(await events()).toBe(before)
  })

  test('the settings go on in a new run with all that they hold', async () => {
    const before = (await change(halt('bsc'))).after
    await handle().terminate('the next run is to be short')
    const input: SettingsInput = { settings: before, updatesPerRun: 3 }
    const first = await client().workflow.start('settings', { workflowId: settingsWorkflowId, taskQueue: ledgerQueue, args: [input] })
    for (let round = 0; round < 4; round++) await change(halt('ethereum')).then(() => change(unhalt('ethereum')))
    const after = await readSettings(client())
    expect(after).toMatchObject({ version: before.version + 8, halts: before.halts })
    expect(after.audit).toHaveLength(Math.min(200, before.audit.length + 8))
    expect((await handle().describe()).runId).not.toBe(first.firstExecutionRunId)
  })

  test('the settings outlive a terminated workflow: the next change starts it with them', async () => {
    await change(halt('bsc'))
    await handle().terminate('by mistake')
    expect((await readSettings(client())).halts).toHaveLength(1)
    const { after } = await change(halt('ethereum'))
    expect(after.halts.map(({ scope }) => scope.chain)).toEqual(['bsc', 'ethereum'])
  })

  test('every process sees new settings without a restart', async () => {
    const seen: [Settings[], Settings[]] = [[], []]
    const watches = await Promise.all([0, 1].map(() => watchSettings({ client: client(), logger: silentLogger() })))
    for (const watch of watches) {
      watch.subscribe(() => {
        throw new Error('this listener always fails')
      })
    }
    watches.forEach((watch, index) => watch.subscribe((settings) => seen[index as 0 | 1].push(settings)))
    const { after } = await change(halt('bsc'))
    await until(() => watches.every((watch) => watch.current().version === after.version), { timeoutMs: 60_000, what: 'both to see it' })
    for (const list of seen) expect(list.at(-1)).toEqual(after)
    for (const watch of watches) await watch.stop()
  })

  test('the end of a halt wakes the transfers that wait for it, and no others', async () => {
    const { TransferState, Bridge } = searchAttributes
    // Unhalts of earlier tests may still be waking transfers by chain, so these transfers have only a bridge. No worker
    // serves their queue, so the signals stay in their history.
    const waiting = (id: string, bridge: string) =>
      client().workflow.start('transfer', {
        workflowId: id,
        taskQueue: 'unserved',
        args: [],
        typedSearchAttributes: [
          { key: TransferState, value: 'waiting' },
          { key: Bridge, value: bridge },
        ],
      })
    const [held, free] = await Promise.all([waiting('held', 'wormhole-token-bridge'), waiting('free', 'native-bridge')])
    const listed = async () => (await client().workflow.count("WorkflowType = 'transfer'")).count === 2
    await until(listed, { timeoutMs: 60_000, what: 'both to be listed' })
    const scope = { bridge: 'wormhole-token-bridge' }
    await change({ kind: 'halt', scope })
    await change({ kind: 'unhalt', scope })
    const signals = async (one: typeof held) =>
      ((await one.fetchHistory()).events ?? []).flatMap(({ workflowExecutionSignaledEventAttributes: signal }) =>
        signal
          ? [[signal.signalName, ...(signal.input?.payloads ?? []).map((payload) => defaultPayloadConverter.fromPayload(payload))]]
          : [],
      )
    await until(async () => (await signals(held)).length > 0, { timeoutMs: 60_000, what: 'the one that was held to be woken' })
    // A batch cannot encrypt a payload for each workflow, so the signal has none.
    expect([await signals(held), await signals(free)]).toEqual([[['wake']], []])
    await Promise.all([held.terminate(), free.terminate()])
  })

  test('the settings are shown and changed over REST', async () => {
    const config = deadConfig(1)
    const { api, close } = await openApi({ ...config, temporal: { ...config.temporal, address: ledgers.server.address } })
    const post = (payload: object) => api.inject({ method: 'POST', url: '/v1/settings', payload })
    const changed = await post({ reason: 'see https://tickets.example/12?token=s3cret', orders: [halt('bsc')] })
    expect([changed.statusCode, changed.json()]).toMatchObject([200, { halts: [{ by: 'night-shift', scope: { chain: 'bsc' } }] }])
    expect((await api.inject('/v1/settings')).json()).toEqual(changed.json())
    const audit = await api.inject('/v1/settings/audit?limit=1')
    expect(audit.json()).toMatchObject({ audit: [{ by: 'night-shift', reason: 'see https://tickets.example', order: halt('bsc') }] })
    const wrong = await post({ reason: 'x', orders: [{ kind: 'halt', scope: { chains: ['bsc'] } }] })
    expect(wrong.statusCode).toBe(400)
    expect(wrong.json()).toMatchObject({
      code: 'INPUT_INVALID',
      errors: [{ path: 'body.orders.0.scope.chains', message: 'is not known here' }],
    })
    const unknown = await post({ reason: 'x', orders: [halt('bcs')] })
    expect(unknown.json()).toMatchObject({ detail: expect.stringContaining('there is no chain bcs') })
    await close()
  })

  // Keep this test last, because it leaves payloads that the other tests cannot read.
  test('the settings survive every change of keys, and without the key only tasks fail', async () => {
    const keys = { one: randomBytes(32), two: randomBytes(32) }
    const encryption = (ids: readonly (keyof typeof keys)[], required = false): PayloadEncryption => ({
      keys: ids.map((id) => ({ id, source: { from: 'a test', read: () => keys[id].toString('hex') } })),
      required,
    })
    const served = async (given: PayloadEncryption, during: (client: TemporalClient) => Promise<void>) => {
      const target = { address: ledgers.server.address, namespace: 'default', encryption: given }
      const temporal = await connectTemporal(target, silentLogger())
      const worker = await createLedgerWorker({ temporal, logger: silentLogger(), tuning: { ...defaultTuning, graceMs: 0, stickyMs: 200 } })
      await worker.runUntil(during(temporal.client))
      await temporal.connection.close()
    }
    const order = (client: TemporalClient, chain: string) =>
      changeSettings(client, known, { by: 'night-shift', reason: 'a secret reason', orders: [halt(chain)] })
    const halted = async (client: TemporalClient) => (await readSettings(client)).halts.map(({ scope }) => scope.chain)
    const written = async () =>
      inspect(texts((await handle().fetchHistory()).events), { depth: 20, maxArrayLength: null, maxStringLength: null })
    await change({ kind: 'deny', what: 'recipient', value: `0x${'ab'.repeat(20)}` })

    await ledgers.without(async () => {
      // The history before this order is not encrypted.
      await served(encryption(['one']), async (client) => {
        await order(client, 'bsc')
        expect(await written()).not.toContain('a secret reason')
      })
      await served(encryption(['two', 'one']), async (client) => {
        expect((await readSettings(client)).denied).toHaveLength(1)
        await order(client, 'ethereum')
        expect(await halted(client)).toEqual(['bsc', 'ethereum'])
      })
      const ids = await written()
      expect([ids.includes("'encryption-key-id': 'one'"), ids.includes("'encryption-key-id': 'two'")]).toEqual([true, true])

      const { runId } = await handle().describe()
      const said: string[] = []
      const logger: Logger = { ...silentLogger(), error: (text, fields) => void said.push(`${text} ${JSON.stringify(fields)}`) }
      await served(encryption(['two']), async (client) => {
        await handle().signal('without a handler')
        const recovery = startWorkflowRecovery({ client, logger, metrics: createMetrics(), everyMs: 200, restMs: 0, tries: 2 })
        await until(() => said.length > 0, { timeoutMs: 60_000, what: 'the stuck workflow to be reported' })
        await recovery.stop()
      })
      expect(said).toEqual([expect.stringMatching(/fails repeatedly.*encrypted with a key that this process does not have\. \(key=one/)])
      // The workflow has neither failed nor been reset. The texts of the failures are encrypted.
      expect(await handle().describe()).toMatchObject({ runId, status: { name: 'RUNNING' } })
      const { events } = await handle().fetchHistory()
      const failures = (events ?? []).flatMap(({ workflowTaskFailedEventAttributes: failed }) => (failed ? [failed.failure?.message] : []))
      expect(new Set(failures)).toEqual(new Set(['Encoded failure']))
      await served(encryption(['two', 'one']), async (client) => {
        const goesOn = async () => !(await handle().describe()).raw.pendingWorkflowTask
        await until(goesOn, { timeoutMs: 120_000, what: 'the task to be done' })
        expect(await halted(client)).toEqual(['bsc', 'ethereum'])
      })
      await handle().terminate('the end of the test')
    })
  })
})

test('known settings stay while Temporal is away; before the first read everything is halted', async () => {
  const lines: string[] = []
  const logger: Logger = { ...silentLogger(), warn: (message) => lines.push(message) }
  const ledgers = await startLedgers()
  const { client } = ledgers.temporal
  const watch = await watchSettings({ client, logger })
  expect(watch.current()).toEqual(noSettings)
  const names: KnownNames = { bridges: [], lanes: [], nodes: { bsc: [] } }
  const { after } = await changeSettings(client, names, { by: 'me', reason: 'a test', orders: [halt('bsc')] })
  await until(() => watch.current().version === after.version, { timeoutMs: 60_000, what: 'the change to be seen' })
  await ledgers.server.stop()
  await until(() => lines.length > 0, { timeoutMs: 60_000, what: 'the outage to be noticed' })
  const early: string[] = []
  const fresh = await watchSettings({ client, logger: { ...silentLogger(), warn: (message) => early.push(message) } })
  expect(fresh.current().halts).toMatchObject([{ scope: {}, by: 'portage' }])
  expect(watch.current()).toEqual(after)
  expect(lines).toEqual(['the settings cannot be read; using the last known ones'])
  await until(() => early.length > 0, { timeoutMs: 60_000, what: 'the fresh one to say so, too' })
  expect(early).toEqual(['the settings cannot be read; nothing is signed until they are read'])
  await Promise.all([watch.stop(), fresh.stop(), ledgers.stop()])
})

function texts(value: unknown): unknown {
  if (value instanceof Uint8Array) return Buffer.from(value).toString()
  if (Array.isArray(value)) return value.map(texts)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, texts(one)]))
}
