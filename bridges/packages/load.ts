import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { extname } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { z } from 'zod'
import type { Config } from '../../config/schema/schema.ts'
import { pluginName, pluginRoutesSchema } from '../../config/schema/plugin-schema.ts'
import { backoffMs } from '../../domain/backoff.ts'
import { type ErrorCode, isPluginFailure, RelayerError, toRelayerError } from '../../domain/catalogue/errors.ts'
import type { Plugin, PluginContext } from '../kit/plugin.ts'
import { firstLine, guarded } from './guard.ts'
import { demandParts, type Made, remotePlugin } from './remote.ts'
import { type PluginThread, startThread, type ThreadLimits, threadLimits } from './thread.ts'
import { LateJob } from './thread-run.ts'

export type ConfiguredPlugin = NonNullable<Config['bridges']['plugins']>[string]
/** The plug-in, or the error that kept it from being loaded. The map changes if a plug-in is loaded later. */
export type LoadedPlugins = ReadonlyMap<string, Plugin<unknown> | RelayerError>

const packageSchema = z.object({
  name: pluginName,
  version: z.string().min(1).max(100),
  kit: z.literal(1, 'must be 1: this Portage has version 1 of the kit'),
  settings: z.object({ parse: z.literal('function') }),
  create: z.literal('function'),
})

const madeSchema = z.object({ routes: pluginRoutesSchema })

export const noFee = 'does not say what its fees are worth (earned), so your lanes would pay the gas for everyone'

export interface PluginFile {
  readonly definition: { readonly name: string; readonly version: string }
  readonly sha256: string
  /** Runs the code of the file until `close`. The thread does not keep the process from ending. */
  readonly thread: PluginThread
}

/**
 * Reads a file, compares its SHA-256 with `expected`, and imports the same bytes in a thread. Does not read the file a
 * second time, because the file may change. Throws PLUGIN_INVALID, PLUGIN_CHANGED.
 */
export async function readPlugin(file: string, expected?: string, limits?: ThreadLimits): Promise<PluginFile> {
  const about = { module: file }
  const bytes = await readFile(file).catch((cause: unknown) => {
    throw broken('PLUGIN_INVALID', 'The file cannot be read.', about, cause)
  })
  const sha256 = sha256Of(bytes)
  if (expected !== undefined && sha256 !== expected)
    throw broken('PLUGIN_CHANGED', `Its SHA-256 is ${sha256}, and the config has ${expected}.`, about)
  if (!['.js', '.mjs'].includes(extname(file)))
    throw broken('PLUGIN_INVALID', 'It must be one JavaScript module (.mjs or .js): compile and bundle it first.', about)
  const thread = await startThread(bytes, limits).catch((cause: unknown) => {
    throw broken('PLUGIN_INVALID', `It cannot be imported: ${firstLine(cause, 300)}`, about, cause)
  })
  const { success, data, error } = packageSchema.safeParse(thread.definition)
  if (success) return { definition: data, sha256, thread }
  thread.close()
  throw broken('PLUGIN_INVALID', `Its default export is not plugin({ … }): ${problemsOf(error)}`, about)
}

/**
 * Creates the plug-in in its thread. `routes` has the form of the config. If the plug-in is refused, closes the thread
 * and throws PLUGIN_INVALID.
 */
export async function createPlugin(
  { definition: { name }, thread }: PluginFile,
  settings: unknown,
  context: PluginContext,
): Promise<{ readonly plugin: Plugin<unknown>; readonly routes: ConfiguredPlugin['routes'] }> {
  const refuse = (what: string, cause: unknown): never => {
    thread.close()
    const text = cause instanceof z.ZodError ? problemsOf(cause) : firstLine(cause, 300)
    throw broken('PLUGIN_INVALID', `${what}${text}`, { plugin: name }, cause)
  }
  const made = (await thread.create(settings, context).catch((cause: unknown) => refuse('', cause))) as Made
  try {
    const { routes } = madeSchema.parse(asData(made))
    demandParts(made)
    return { plugin: guarded(remotePlugin(name, made, routes, thread)), routes }
  } catch (cause) {
    return refuse('It is not a plug-in of this kit: ', cause)
  }
}

export function sha256Of(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex')
}

interface LoadOptions {
  /** Ends the threads of all plug-ins. */
  readonly closing?: AbortSignal
  readonly limits?: ThreadLimits
  readonly onLoaded?: (name: string, one: Plugin<unknown> | RelayerError) => void
}

const longestRestMs = 3_600_000

/**
 * Loads the plug-ins of the config. Never throws: if a plug-in cannot be loaded, only its own messages wait. If loading
 * takes too long, it is tried again later.
 */
export async function loadPlugins(
  plugins: Config['bridges']['plugins'] = {},
  context: PluginContext,
  { closing, limits = threadLimits, onLoaded }: LoadOptions = {},
): Promise<LoadedPlugins> {
  const all = new Map<string, Plugin<unknown> | RelayerError>()
  const threads: PluginThread[] = []
  const close = () => {
    for (const thread of threads) thread.close()
  }
  async function load(name: string, configured: ConfiguredPlugin, tries: number): Promise<void> {
    let one: Plugin<unknown> | RelayerError
    try {
      const { plugin, thread } = await loadPlugin(name, configured, context, limits)
      threads.push(thread)
      one = plugin
    } catch (error) {
      one = named(name, toRelayerError(error))
    }
    if (closing?.aborted) return close()
    all.set(name, one)
    onLoaded?.(name, one)
    // The machine may have been too busy to start the thread in time.
    if (one instanceof RelayerError && one.cause instanceof LateJob)
      setTimeout(() => closing?.aborted || void load(name, configured, tries + 1), backoffMs(tries, limits.restMs, longestRestMs)).unref()
  }
  closing?.addEventListener('abort', close)
  await Promise.all(Object.entries(plugins).map(([name, configured]) => load(name, configured, 0)))
  return all
}

async function loadPlugin(
  name: string,
  { module, sha256, settings, routes, free }: ConfiguredPlugin,
  context: PluginContext,
  limits: ThreadLimits | undefined,
) {
  const file = await readPlugin(module, sha256, limits)
  const { definition, thread } = file
  try {
    if (definition.name !== name) throw broken('PLUGIN_INVALID', `Its own name is ${definition.name}.`, { plugin: name })
    const made = await createPlugin(file, settings, context)
    const { earned, ...withoutFee } = made.plugin
    if (!earned && !free) throw broken('PLUGIN_INVALID', `It ${noFee}. Set bridges.plugins.${name}.free to true.`, { plugin: name })
    if (isDeepStrictEqual(made.routes, asData(routes))) return { plugin: free ? withoutFee : made.plugin, thread }
    throw broken('PLUGIN_CHANGED', 'The routes that it makes of its settings are not those of the config.', { plugin: name })
  } catch (error) {
    thread.close()
    throw error
  }
}

/** Returns a value in the form of a config file: a bigint becomes a text. */
export function asData(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value, (_, one: unknown) => (typeof one === 'bigint' ? String(one) : one)) ?? 'null') as unknown
}

function named(name: string, error: RelayerError): RelayerError {
  const { code, about, facts, cause } = error
  if (facts['plugin'] !== undefined) return error
  return new RelayerError(isPluginFailure(error) ? code : 'PLUGIN_INVALID', { detail: `${name}: ${about}`, cause })
}

function broken(code: ErrorCode, detail: string, facts: Readonly<Record<string, string>>, cause?: unknown): RelayerError {
  return new RelayerError(code, { detail, facts, cause })
}

function problemsOf({ issues }: z.ZodError): string {
  return issues.map(({ path, message }) => `${path.join('.') || 'the value'}: ${message}`).join('; ')
}
