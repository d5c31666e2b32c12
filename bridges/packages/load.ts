import { createHash } from 'node:crypto'
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { extname, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { isDeepStrictEqual } from 'node:util'
import { z } from 'zod'
import type { Config } from '../../config/schema/schema.ts'
import { pluginName, pluginRoutesSchema } from '../../config/schema/plugin-schema.ts'
import { type ErrorCode, isPluginFailure, RelayerError, toRelayerError } from '../../domain/catalogue/errors.ts'
import { type Plugin, plugin, type PluginContext, type PluginPackage } from '../kit/plugin.ts'
import { firstLine, guarded } from './guard.ts'

export type ConfiguredPlugin = NonNullable<Config['bridges']['plugins']>[string]
/** The plug-in, or the error that kept it from being loaded. */
export type LoadedPlugins = ReadonlyMap<string, Plugin<unknown> | RelayerError>

const nodeImport = createRequire(import.meta.url)('../../bin/import.cjs') as (url: string) => Promise<Record<string, unknown>>

const packageSchema = z.object({
  name: pluginName,
  version: z.string().min(1).max(100),
  kit: z.literal(1, 'must be 1: this Portage has version 1 of the kit'),
  settings: z.object({ parse: z.function() }),
  create: z.function(),
})

const kitKey = 'portage.plugin-kit'

/** A loaded file imports this module as `portage/plugin`. */
const kitModule = `const kit = globalThis[Symbol.for('${kitKey}')]\nexport const plugin = kit.plugin\nexport const z = kit.z\n`
const kitManifest = JSON.stringify({ name: 'portage', type: 'module', exports: { './plugin': './plugin.js' } })

export interface PluginFile {
  readonly definition: PluginPackage<unknown, unknown>
  readonly sha256: string
}

/**
 * Imports a copy of the bytes whose SHA-256 is `expected`: the file may change. Throws PLUGIN_INVALID, PLUGIN_CHANGED.
 */
export async function readPlugin(file: string, expected?: string): Promise<PluginFile> {
  const about = { module: file }
  const bytes = await readFile(file).catch((cause: unknown) => {
    throw broken('PLUGIN_INVALID', 'The file cannot be read.', about, cause)
  })
  const sha256 = createHash('sha256').update(bytes).digest('hex')
  if (expected !== undefined && sha256 !== expected)
    throw broken('PLUGIN_CHANGED', `Its SHA-256 is ${sha256}, and the config has ${expected}.`, about)
  if (!['.js', '.mjs'].includes(extname(file)))
    throw broken('PLUGIN_INVALID', 'It must be one JavaScript module (.mjs or .js): compile and bundle it first.', about)
  const { default: definition } = await importBytes(bytes).catch((cause: unknown) => {
    throw broken('PLUGIN_INVALID', `It cannot be imported: ${firstLine(toRelayerError(cause), 300)}`, about, cause)
  })
  const parsed = packageSchema.safeParse(definition)
  if (parsed.success) return { definition: definition as PluginFile['definition'], sha256 }
  throw broken('PLUGIN_INVALID', `Its default export is not plugin({ … }): ${problemsOf(parsed.error)}`, about)
}

async function importBytes(bytes: Uint8Array): Promise<Record<string, unknown>> {
  Reflect.set(globalThis, Symbol.for(kitKey), { plugin, z })
  // Only this user may enter the folder (mode 0700).
  const folder = await mkdtemp(join(tmpdir(), 'portage-plugin-'))
  try {
    const kit = join(folder, 'node_modules/portage')
    await mkdir(kit, { recursive: true })
    await writeFile(join(kit, 'package.json'), kitManifest)
    await writeFile(join(kit, 'plugin.js'), kitModule)
    await writeFile(join(folder, 'plugin.mjs'), bytes)
    return await nodeImport(pathToFileURL(join(folder, 'plugin.mjs')).href)
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

/** `routes` has the form of the config. Throws PLUGIN_INVALID. */
export function createPlugin(
  { definition }: PluginFile,
  settings: unknown,
  context: PluginContext,
): { readonly plugin: Plugin<unknown>; readonly routes: ConfiguredPlugin['routes'] } {
  const { name } = definition
  const step = <T>(what: string, make: () => T): T => {
    try {
      return make()
    } catch (cause) {
      const text = cause instanceof z.ZodError ? problemsOf(cause) : firstLine(toRelayerError(cause), 300)
      throw broken('PLUGIN_INVALID', `${what}: ${text}`, { plugin: name }, cause)
    }
  }
  const parsed = step('Its settings are refused', () => definition.settings.parse(settings))
  const made = step('It cannot be created', () => definition.create(parsed, context))
  return step('It is not a plug-in of this kit', () => {
    const routes = pluginRoutesSchema.parse(asData(made.routes))
    return { plugin: guarded({ ...made, name }), routes }
  })
}

/** Never throws: if a plug-in cannot be loaded, only its own messages wait. */
export async function loadPlugins(plugins: Config['bridges']['plugins'] = {}, context: PluginContext): Promise<LoadedPlugins> {
  const loaded = Object.entries(plugins).map(async ([name, configured]) => {
    const one = await loadPlugin(name, configured, context).catch((error: unknown) => named(name, toRelayerError(error)))
    return [name, one] as const
  })
  return new Map(await Promise.all(loaded))
}

async function loadPlugin(name: string, { module, sha256, settings, routes }: ConfiguredPlugin, context: PluginContext) {
  const file = await readPlugin(module, sha256)
  if (file.definition.name !== name) throw broken('PLUGIN_INVALID', `Its own name is ${file.definition.name}.`, { plugin: name })
  const made = createPlugin(file, settings, context)
  if (isDeepStrictEqual(made.routes, asData(routes))) return made.plugin
  throw broken('PLUGIN_CHANGED', 'The routes that it makes of its settings are not those of the config.', { plugin: name })
}

/** The form of a config file, in which a bigint is a text. */
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
