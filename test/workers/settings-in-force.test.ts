import { expect, test } from 'vitest'
import type { Config } from '../../config/schema/schema.ts'
import { applySettingsOrders, noSettings, type Settings, type SettingsOrder } from '../../domain/settings/settings.ts'
import type { Logger } from '../../observability/logger.ts'
import { isUnread, unread } from '../../temporal/client/settings/settings-watch.ts'
import { settingsInForce } from '../../workers/roles/settings-in-force.ts'

const config = { chains: { bsc: { nodes: [], lanes: [] } }, bridges: { ntt: {} } } as unknown as Pick<Config, 'bridges' | 'chains'>

function setting() {
  let now: Settings = unread
  const warnings: unknown[] = []
  const listeners: ((settings: Settings) => void)[] = []
  const watch = {
    current: () => now,
    subscribe: (listener: (settings: Settings) => void) => {
      listeners.push(listener)
      return () => true
    },
  }
  const logger = { warn: (_: string, facts: unknown) => void warnings.push(facts) } as unknown as Logger
  const settings = settingsInForce(watch, { config, logger })
  const order = (...orders: readonly SettingsOrder[]) => {
    now = applySettingsOrders(noSettings, { by: 'ops', reason: 'a test', orders }, 1)
    for (const listener of listeners) listener(now)
  }
  return { settings, order, warnings }
}

test('a process applies settings by the names in its config, and logs each order whose name is missing', () => {
  const { settings, order, warnings } = setting()
  order(
    { kind: 'halt', scope: { targetChain: 'bsc' } },
    { kind: 'halt', scope: { sourceChain: 'former' } },
    { kind: 'setFees', scope: { kind: 'chain', chain: 'former' }, policy: { maxTip: '1' } },
  )
  expect(settings().halts.map(({ scope }) => scope)).toEqual([{ targetChain: 'bsc' }, {}])
  const code = 'ORDER_NAME_UNKNOWN'
  expect(warnings).toEqual([
    { code, order: 'halt from former', why: 'there is no chain former' },
    { code, order: 'fees of chain:former', why: 'there is no chain former' },
  ])
})

test('settings that have not changed are the same object, and those before the first read stay unread', () => {
  const { settings, order } = setting()
  expect(isUnread(settings())).toBe(true)
  order({ kind: 'halt', scope: {} })
  expect(settings()).toBe(settings())
})
