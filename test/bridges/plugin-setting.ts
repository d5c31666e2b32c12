import { afterAll, expect } from 'vitest'
import { type ConfiguredPlugin, createPlugin, loadPlugins, readPlugin } from '../../bridges/packages/load.ts'
import { createPluginMessages } from '../../bridges/kit/plugin-bridge.ts'
import type { Plugin } from '../../bridges/kit/plugin.ts'
import type { ThreadLimits } from '../../bridges/packages/thread.ts'
import { temporaryFolder } from '../helpers/folders.ts'
import { signVaa } from '../helpers/vaa.ts'
import { context, emitter, names, settings, source, write } from './plugin-source.ts'

/** A folder for plug-ins. Their threads end after the tests of the file that calls this. */
export function pluginSetting() {
  const folder = temporaryFolder()
  const ends: (() => void)[] = []
  afterAll(() => ends.forEach((end) => end()))
  async function loaded(plugins: Record<string, ConfiguredPlugin>, limits?: ThreadLimits) {
    const closing = new AbortController()
    ends.push(() => closing.abort())
    return loadPlugins(plugins, context, { closing: closing.signal, ...(limits && { limits }) })
  }
  async function readFile(text: string) {
    const file = await readPlugin((await write(folder, text)).module)
    ends.push(() => file.thread.close())
    return file
  }
  return {
    ...{ folder, loaded, readFile },
    load: async (plugins: Record<string, ConfiguredPlugin>) => Object.fromEntries(await loaded(plugins)),
    made: async (parts: Readonly<Record<string, string>>) => (await createPlugin(await readFile(source(parts)), settings, context)).plugin,
  }
}

export const bytesOf = (payload: string) => signVaa({ emitterChain: 2, emitter, sequence: 7n, payload }, { guardians: 1 }).bytes
export const read = <C>(plugin: Plugin<C>, payload = '0x0102') => createPluginMessages(plugin, names).readBytes(bytesOf(payload)).message
export const failure = (text: string) =>
  expect.objectContaining({ code: 'PLUGIN_FAILED', message: expect.stringContaining(`mine: ${text}`) as string })
