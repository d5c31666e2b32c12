import { beforeEach, describe, expect, test, vi } from 'vitest'
import { createBridges } from '../../bridges/registry.ts'
import type { Plugin } from '../../bridges/kit/plugin.ts'
import { bytesOf, failure, pluginSetting, read } from './plugin-setting.ts'
import { coreChain, entry, options, source, write } from './plugin-source.ts'

const { folder, loaded: load } = pluginSetting()
const limits = { startMs: 20_000, answerMs: 1_000, nextMs: 500, restMs: 50 }

describe('an operator orders a retry of a message on which the plug-in hangs:', () => {
  let hours: number
  beforeEach(() => {
    hours = 0
    const now = vi.spyOn(performance, 'now').mockImplementation(() => process.uptime() * 1_000 + hours * 3_600_000)
    return () => now.mockRestore()
  })
  async function hanging() {
    const text = source({ decode: `({ payload }) => { while (payload[1] > 3); return {} }` })
    const plugins = { mine: entry(await write(folder, text)) }
    const loaded = await load(plugins, limits)
    const config = options(plugins)
    const bridge = createBridges(config, new Map([['bsc', coreChain('bsc') as never]]), ['bsc'], { loaded }).get('mine')!
    const hears = async (payload: string, reason: string) => {
      const plugin = loaded.get('mine') as Plugin<unknown>
      await expect.poll(() => runs(plugin)).toBe(true)
      expect(() => read(plugin, payload)).toThrow(failure(reason))
    }
    const endpoint = bridge.endpoints.get('bsc')!
    const flood = () => {
      const forged = bridge.decode(bytesOf(other))
      for (let digest = 0; digest < 20_001; digest++) endpoint.retry?.({ ...forged, digest: String(digest) }, 1)
    }
    return { hears, flood, retry: (payload: string, at?: number) => endpoint.retry?.(bridge.decode(bytesOf(payload)), at) }
  }
  const [one, other, hangs] = ['0x0104', '0x0105', 'decode did not answer within 1000 ms']
  const again = (count: number) => `it hung on this message, and gets it again after ${count} h`
  test('each retry by an operator runs a paused message once, and does not shorten its later pauses', async () => {
    const { hears, retry } = await hanging()
    await hears(one, hangs)
    retry(one, Date.now() - 60_000) // older than the hang
    await hears(one, again(1))
    const order = Date.now() + 1
    retry(one, order)
    await hears(one, hangs)
    hours = 1.1
    retry(one, order)
    await hears(one, again(24))
    retry(one, Date.now() + 1)
    await hears(one, hangs)
    await hears(one, again(168))
  })

  test('an order after a hang counts, even if the clocks of the process and of Temporal differ', async () => {
    const { hears, retry } = await hanging()
    const inAnHour = Date.now() + 3_600_000
    retry(one)
    await hears(one, hangs)
    retry(one)
    retry(one, 5) // Temporal's clock is behind.
    await hears(one, hangs)
    hours = 1.1
    retry(one, 5)
    await hears(one, again(24))
    retry(one, inAnHour) // Temporal's clock is ahead.
    await hears(one, hangs)
    hours = 2.2
    retry(one, inAnHour)
    await hears(one, again(168))
    retry(one, 6) // Temporal's clock is right again.
    await hears(one, hangs)
  })

  test('an order has its effect once, even if many forged messages have orders before and after the hang', async () => {
    const { hears, flood, retry } = await hanging()
    const inAnHour = Date.now() + 3_600_000 // Temporal's clock is ahead.
    flood()
    retry(one, inAnHour)
    await hears(one, hangs)
    flood()
    retry(one, inAnHour)
    await hears(one, again(1))
    retry(one, inAnHour + 1)
    await hears(one, hangs)
    flood()
    hours = 1.1
    retry(one, inAnHour + 1)
    await hears(one, again(24))
  })

  test('for messages on which a plug-in hangs, orders end at most one pause an hour', async () => {
    const { hears, retry } = await hanging()
    for (const payload of [one, other]) await hears(payload, hangs)
    for (const payload of [one, other]) retry(payload, Date.now() + 1)
    await hears(one, hangs)
    await hears(other, again(1))
    retry(one, Date.now() + 1)
    await hears(one, again(24))
  })
})

function runs(plugin: Plugin<unknown>): boolean {
  try {
    return read(plugin).sequence === '7'
  } catch {
    return false
  }
}
