import { readFile, rm, writeFile } from 'node:fs/promises'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { namesOf } from '../../config/chains.ts'
import type { Config } from '../../config/schema/schema.ts'
import type { SettingsCheckpoint } from '../../domain/settings/checkpoint.ts'
import { applySettingsOrders, type SettingsOrder, noSettings } from '../../domain/settings/settings.ts'
import { until } from '../../lab/devnet/until.ts'
import { silentLogger } from '../../observability/logger.ts'
import { isGone } from '../../temporal/client/connection/errors.ts'
import { changeSettings, readSettings, restoreSettings } from '../../temporal/client/settings/settings.ts'
import { watchSettings } from '../../temporal/client/settings/settings-watch.ts'
import { settingsWorkflowId } from '../../temporal/contracts/names.ts'
import type { Role } from '../../workers/roles/roles.ts'
import { keepSettings } from '../../workers/roles/settings-keeper.ts'
import { deadConfig } from '../api/setting.ts'
import { type Ledgers, startLedgers } from '../lanes/setting.ts'
import { temporaryFolder } from '../helpers/folders.ts'
import { listenHttp } from '../helpers/servers.ts'

const logger = silentLogger()
const halt = (chain: string): SettingsOrder => ({ kind: 'halt', scope: { chain } })
const timeoutMs = 60_000

describe('Settings that are kept outside Temporal', () => {
  let ledgers: Ledgers
  const folder = temporaryFolder()
  const ends: (() => Promise<void>)[] = []
  const client = () => ledgers.temporal.client

  beforeAll(async () => {
    ledgers = await startLedgers()
  })
  afterAll(async () => {
    await ledgers?.stop()
  })
  beforeEach(() => async () => {
    for (const end of ends.splice(0)) await end()
    await wipe()
  })

  async function wipe(): Promise<void> {
    const { namespace } = client().options
    const workflowExecution = { workflowId: settingsWorkflowId }
    await client()
      .workflowService.deleteWorkflowExecution({ namespace, workflowExecution })
      .catch(() => {})
    const gone = () =>
      client()
        .workflow.getHandle(settingsWorkflowId)
        .describe()
        .then(
          () => false,
          (error: unknown) => isGone(error),
        )
    await until(gone, { timeoutMs, everyMs: 50, what: 'the settings to be gone' })
  }

  const configOf = (name: string): Config => ({ ...deadConfig(9), dataFolder: join(folder, name) })
  const fileOf = (name: string) => join(folder, name, 'checkpoints', 'settings.json')
  const kept = async (name: string) =>
    JSON.parse(await readFile(fileOf(name), 'utf8').catch(() => '{}')) as { settings?: { version: number; halts: object[] } }

  async function start(name: string, role: Role = 'all', streams: Partial<Config['streams']> = {}) {
    const base = configOf(name)
    const config = { ...base, streams: { ...base.streams, ...streams } }
    const watch = await watchSettings({ client: client(), logger })
    const keeper = await keepSettings({ config, client: client(), namespace: 'default', watch, logger, role })
    const stop = async () => {
      await keeper.stop()
      await watch.stop()
    }
    ends.push(stop)
    const change = (...orders: SettingsOrder[]) =>
      changeSettings(client(), namesOf(config), { by: 'night-shift', reason: 'a test', orders })
    return { watch, stop, change }
  }

  test('settings are restored to a wiped Temporal before the process does anything', async () => {
    const first = await start('a')
    const { after } = await first.change(halt('bsc'), { kind: 'deny', what: 'recipient', value: `0x${'ab'.repeat(20)}` })
    await until(async () => (await kept('a')).settings?.version === after.version, { timeoutMs, what: 'the file' })
    await first.stop()
    await wipe()
    await ledgers.without(async () => {
      // No ledger worker runs, so the settings can only come from the data folder.
      const second = await start('a')
      expect(second.watch.current()).toMatchObject({
        halts: [{ scope: { chain: 'bsc' }, by: 'night-shift' }],
        denied: [{ kind: 'recipient' }],
      })
    })
    expect(await readSettings(client())).toMatchObject({ halts: after.halts, denied: after.denied })
  })

  test('while Temporal has no settings, no part of the process sees that it has none', async () => {
    const { watch, change } = await start('unseen')
    await change(halt('bsc'))
    await until(async () => (await kept('unseen')).settings?.version === 1, { timeoutMs, what: 'the checkpoint' })
    const seen: number[] = []
    watch.subscribe(({ version }) => seen.push(version))
    await wipe()
    await until(async () => (await readSettings(client())).halts.length === 1, { timeoutMs, what: 'the settings to be restored' })
    await change(halt('ethereum'))
    await until(async () => watch.current().halts.length === 2, { timeoutMs, what: 'the next order' })
    expect(seen.filter((version) => version === 0)).toEqual([])
  })

  test('settings are restored when Temporal is wiped under a process, and stay in force', async () => {
    const { watch, change } = await start('b')
    const { after } = await change(halt('bsc'))
    await until(async () => (await kept('b')).settings?.version === after.version, { timeoutMs, what: 'the file' })
    const seen: number[] = []
    watch.subscribe(({ halts }) => seen.push(halts.length))
    await wipe()
    await until(async () => (await readSettings(client())).halts.length === 1, { timeoutMs, what: 'the halt to be back' })
    expect(watch.current().halts).toHaveLength(1)
  })

  test('of two settings files the first is in force, and the newer one adds restrictions', async () => {
    const old = await start('c')
    await old.change(halt('ethereum'))
    await until(async () => (await kept('c')).settings?.version === 1, { timeoutMs, what: 'the older file' })
    await old.stop()
    const newer = await start('d')
    await newer.change(halt('bsc'))
    await newer.change({ kind: 'unhalt', scope: { chain: 'ethereum' } })
    await until(async () => (await kept('d')).settings?.version === 3, { timeoutMs, what: 'the newer file' })
    await newer.stop()
    await wipe()
    await start('c')
    expect((await readSettings(client())).halts).toMatchObject([{ scope: { chain: 'ethereum' } }])
    await start('d')
    const both = async () => (await readSettings(client())).halts.length === 2
    await until(both, { timeoutMs, what: 'the newer halt to be back' })
    // Only a person can know whether the older halt was meant to end for good, so both stay.
    expect(new Set((await readSettings(client())).halts.map(({ scope }) => scope.chain))).toEqual(new Set(['bsc', 'ethereum']))
  })

  test('a process repeats the halt in its copy if Temporal has other settings of the same version', async () => {
    const before = await start('k')
    await before.change(halt('bsc'))
    await until(async () => (await kept('k')).settings?.version === 1, { timeoutMs, what: 'the file' })
    await before.stop()
    await wipe()
    const { change, stop } = await start('l')
    await change(halt('ethereum'))
    await stop()
    await start('k', 'ledger')
    await expect.poll(async () => (await readSettings(client())).halts.map(({ scope }) => scope.chain)).toEqual(['ethereum', 'bsc'])
    await expect.poll(async () => (await kept('k')).settings?.halts).toHaveLength(2)
  })

  describe('after a restore of Temporal, when other orders get version numbers that are known already', () => {
    const scopes = [{ chain: 'ethereum' }, { sourceChain: 'bsc' }]

    /** Keeps two older changes in one file, and a later one, with a lower version number, in another file. */
    async function setBack(before: string, later: string) {
      const first = await start(before, 'lane')
      await first.change(...scopes.map((scope) => ({ kind: 'halt', scope }) as const))
      await until(async () => (await kept(before)).settings?.version === 2, { timeoutMs, what: 'the older file' })
      await first.stop()
      await wipe()
      const second = await start(later)
      await second.change(halt('bsc'))
      await until(async () => (await kept(later)).settings?.version === 1, { timeoutMs, what: 'the later file' })
      await second.stop()
    }

    test('a process that may not repeat orders keeps the later settings, even if their version is lower', async () => {
      await setBack('m', 'n')
      await start('m', 'lane')
      await expect.poll(async () => (await kept('m')).settings).toMatchObject({ version: 1, halts: [{ scope: { chain: 'bsc' } }] })
    })

    test('a halt is ordered again if older settings with a higher version number were restored', async () => {
      await setBack('o', 'p')
      await wipe()
      await start('o', 'lane')
      expect((await readSettings(client())).version).toBe(2)
      await start('p', 'ledger')
      await expect.poll(async () => (await readSettings(client())).halts.map(({ scope }) => scope)).toEqual([...scopes, { chain: 'bsc' }])
    })
  })

  test('a halt that was ended is not ordered again, although the clock was ahead when it was ordered', async () => {
    const inAnHour = Date.now() + 3_600_000
    const halted = applySettingsOrders(noSettings, { by: 'night-shift', reason: 'x', orders: [halt('bsc')] }, inAnHour)
    await restoreSettings(client(), halted)
    const first = await start('q')
    await until(async () => (await kept('q')).settings?.version === 1, { timeoutMs, what: 'the file' })
    const { after } = await first.change({ kind: 'unhalt', scope: { chain: 'bsc' } })
    await until(async () => (await kept('q')).settings?.version === 2, { timeoutMs, what: 'the later file' })
    expect([after.version, await readSettings(client())]).toEqual([2, after])
  })

  test('settings begin anew if the operator removed the file, or keeps none', async () => {
    const first = await start('e')
    await first.change(halt('bsc'))
    await until(async () => (await kept('e')).settings?.version === 1, { timeoutMs, what: 'the file' })
    await first.stop()
    await wipe()
    await rm(fileOf('e'))
    const second = await start('e')
    expect(second.watch.current()).toEqual(noSettings)
    expect(await readSettings(client())).toEqual(noSettings)
  })

  describe('in an object store that only intake and API may use', () => {
    const objects = new Map<string, string>()
    const authorization = 'Bearer of-intake'
    let checkpoints: { kind: 'http'; url: string; authorization: string }
    beforeAll(async () => {
      const url = await listenHttp((request, response) => void answer(request, response))
      checkpoints = { kind: 'http', url: `${url}/`, authorization }
    })

    async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
      const path = request.url ?? ''
      const body = await text(request)
      if (request.headers.authorization !== authorization) return void response.writeHead(401).end()
      if (request.method === 'PUT') objects.set(path, body)
      const found = objects.get(path)
      response.writeHead(found === undefined ? 404 : 200).end(found)
    }

    test.each(['lane', 'chain', 'ledger'] as const)('a process of role %s needs no authorization of the store', async (role) => {
      const withheld = { checkpoints: { ...checkpoints, authorization: 'withheld' } }
      const first = await start(`g-${role}`, role, withheld)
      const { after } = await first.change(halt('bsc'))
      await until(async () => (await kept(`g-${role}`)).settings?.version === after.version, { timeoutMs, what: 'the file' })
      await first.stop()
      await wipe()
      expect((await start(`g-${role}`, role, withheld)).watch.current().halts).toHaveLength(1)
    })

    test('intake restores the settings of the store, and repeats a halt that Temporal does not have', async () => {
      const first = await start('h', 'intake', { checkpoints })
      await first.change(halt('ethereum'), halt('bsc'))
      const stored = () => objects.get('/settings.json') ?? ''
      await until(() => stored().includes('bsc'), { timeoutMs, what: 'the object' })
      await first.stop()
      await wipe()
      const changed = await start('i', 'lane', { checkpoints: { ...checkpoints, authorization: 'withheld' } })
      await changed.change(halt('ethereum'))
      const found = JSON.parse(stored()) as SettingsCheckpoint
      objects.set('/settings.json', JSON.stringify({ ...found, settings: { ...found.settings, version: 9 } }))
      await start('j', 'intake', { checkpoints })
      await expect.poll(async () => (await readSettings(client())).halts.map(({ scope }) => scope.chain)).toEqual(['ethereum', 'bsc'])
    })
  })

  test.each([
    ['no JSON', '{'],
    ['nothing', ''],
    ['of another namespace', JSON.stringify({ version: 1, namespace: 'x', at: 1, settings: { ...noSettings, version: 5 } })],
    ['a list', '[]'],
  ])('settings are not taken from a file that is %s: the process starts, and the next change writes it', async (_, content) => {
    const name = `f${content.length}`
    await (await start(name)).stop()
    await writeFile(fileOf(name), content).catch(async () => {
      const { mkdir } = await import('node:fs/promises')
      await mkdir(join(folder, name, 'checkpoints'), { recursive: true })
      await writeFile(fileOf(name), content)
    })
    const { change } = await start(name)
    expect(await readSettings(client())).toEqual(noSettings)
    await change(halt('bsc'))
    await until(async () => readFile(fileOf(name), 'utf8').then((now) => now.includes('night-shift')), { timeoutMs, what: 'the file' })
  })
})
