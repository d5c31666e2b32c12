import { expect, test } from 'vitest'
import type { SettingsCheckpoint } from '../../domain/settings/checkpoint.ts'
import { applySettingsOrders, noSettings, type Settings } from '../../domain/settings/settings.ts'
import { silentLogger } from '../../observability/logger.ts'
import type { TemporalClient } from '../../temporal/client/connection/client.ts'
import type { SettingsWatch } from '../../temporal/client/settings/settings-watch.ts'
import { keepSettings } from '../../workers/roles/settings-keeper.ts'
import { deadConfig } from '../api/setting.ts'
import { listenHttp } from '../helpers/servers.ts'

const halt = (settings: Settings, chain: string, at: number) =>
  applySettingsOrders(settings, { by: 'night-shift', reason: 'a test', orders: [{ kind: 'halt', scope: { chain } }] }, at)
const older = halt(noSettings, 'bsc', 5)
const newer = halt(older, 'ethereum', 6)

test.each([
  ['first', undefined, noSettings],
  ['next', { version: 1, namespace: 'default', at: 5, settings: older }, older],
] as [string, SettingsCheckpoint | undefined, Settings][])(
  'settings that Temporal loses before their %s checkpoint is written stay in force, and are restored',
  async (_, checkpoint, before) => {
    let finishWrite = () => {}
    const url = await listenHttp(({ method }, response) => {
      if (method === 'PUT') finishWrite = () => void response.end()
      else response.writeHead(checkpoint ? 200 : 404).end(JSON.stringify(checkpoint))
    })
    const config = deadConfig(9)
    const streams = { ...config.streams, checkpoints: { kind: 'http' as const, url } }
    const restored: Settings[] = []
    const client = {
      withDeadline: (_deadline: number, work: () => unknown) => work(),
      workflow: { start: async (_type: string, { args }: { args: [{ settings: Settings }] }) => restored.push(args[0].settings) },
    } as unknown as TemporalClient
    let current = before
    let apply: (settings: Settings) => void = () => {}
    let replace: (found: Settings) => Settings | undefined = () => undefined
    const watch = {
      current: () => current,
      whileLost: (kept: typeof replace) => void (replace = kept),
      subscribe: (listener: typeof apply) => ((apply = listener), () => {}),
    } as unknown as SettingsWatch
    const options = { config: { ...config, streams }, client, namespace: 'default', watch, logger: silentLogger() }
    const keeper = await keepSettings({ ...options, role: 'intake' })
    current = newer
    apply(newer)
    expect(replace(noSettings)).toEqual(newer)
    await expect.poll(() => (finishWrite(), restored)).toEqual([newer])
    await keeper.stop()
  },
)
