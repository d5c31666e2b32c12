import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { cp, readFile, rename, stat, writeFile } from 'node:fs/promises'
import { basename, dirname, join, relative, resolve } from 'node:path'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { demandOwnMessages, pluginContext } from '../../bridges/configured-emitters.ts'
import { asData, type ConfiguredPlugin, createPlugin, noFee, type PluginFile, readPlugin } from '../../bridges/packages/load.ts'
import { SettingsRefused } from '../../bridges/packages/thread-run.ts'
import type { ArgumentBound } from '../../bridges/kit/plugin.ts'
import { parseConfig } from '../../config/load/load.ts'
import { editYaml, readYaml } from '../../config/load/yaml.ts'
import { typesOf } from '../../config/schema/bridge-schema.ts'
import { pluginName } from '../../config/schema/plugin-schema.ts'
import type { Config } from '../../config/schema/schema.ts'
import { RelayerError, toRelayerError } from '../../domain/catalogue/errors.ts'
import type { Call, CommandSpec } from '../command.ts'
import { stateOfFile } from '../doctor/plugins.ts'
import { textOfFile, writing } from '../arguments/options.ts'
import { facts, list, type Outcome, verbatim } from '../output/output.ts'
import { invalid } from '../../operations/orders/spec.ts'

const template = fileURLToPath(new URL('../../bridges/packages/template', import.meta.url))
/** Missing in a release, because a release has no devnet. */
const suite = fileURLToPath(new URL('../../lab/plugins/main.ts', import.meta.url))

export const pluginCommand: CommandSpec = {
  description: 'Plug-ins: packages that deliver the messages of a product (docs/develop/plugins.md).',
  commands: {
    new: {
      description: 'Write a plug-in to begin with, its test and a README into a new folder.',
      options: (command) => command.argument('<folder>', 'a folder that does not exist yet; its name is the name of the plug-in'),
      examples: ['portage plugin new my-plugin'],
      run: async ({ context }: Call, folder: string): Promise<Outcome> => {
        const to = resolve(context.cwd(), folder)
        const name = basename(to)
        const { error } = pluginName.safeParse(name)
        if (error) throw invalid(`The folder names the plug-in: it ${error.issues[0]?.message ?? ''}.`, { folder })
        if (existsSync(to)) throw invalid('The folder exists already; nothing is overwritten.', { folder })
        await writing(folder, 'The folder exists already; nothing is overwritten.', async () => {
          await cp(template, to, { recursive: true })
          const file = join(to, 'plugin.mjs')
          await writeFile(file, (await readFile(file, 'utf8')).replace(`name: 'my-plugin'`, `name: '${name}'`))
        })
        const next = [`portage plugin test ${folder}/plugin.mjs`, `portage plugin add ${folder}/plugin.mjs --settings <file> --free`]
        return {
          json: { folder: to, next },
          text: [`${folder}: plugin.mjs, plugin.test.mjs, README.md`, 'Then:', verbatim(next.join('\n'))],
        }
      },
    },
    add: {
      description: 'Write a plug-in into the config: path, SHA-256, settings, and the calls that keys will sign for the plug-in.',
      options: (command) =>
        command
          .argument('<module>', 'the file of the plug-in')
          .option('--settings <file>', 'settings of the plug-in, as YAML or JSON (default: the settings in the config)')
          .option('--free', 'deliver all messages, whatever their fees are worth: your lanes pay for gas (default: as in the config)'),
      notes: `The command runs the code of the plug-in, so read the code first. After each change of the file or of its settings, run the command again and start the
processes again. The config file keeps its comments.`,
      examples: ['portage plugin add my-plugin/plugin.mjs --settings settings.yaml', 'portage plugin add my-plugin/plugin.mjs --free'],
      run: addPlugin,
    },
    list: {
      description: 'The plug-ins in the config, and whether a file has changed since it was added. The command does not run the plug-ins.',
      examples: ['portage plugin list --json'],
      run: listPlugins,
    },
    test: {
      description: 'Deliver messages of a plug-in on a devnet, give its decoder junk, and try to get forged calls signed.',
      options: (command) =>
        command
          .argument('<module>', 'the file of the plug-in')
          .option('--with <file>', 'the file with deploy and send (default: plugin.test.mjs for plugin.mjs)'),
      notes: 'The command needs the repository of Portage after `npm run setup`: the devnet is not part of a release.',
      examples: ['portage plugin test my-plugin/plugin.mjs'],
      run: testPlugin,
    },
  },
}

type AddCall = Call<{ settings?: string; free?: boolean }>

async function addPlugin(call: AddCall, module: string): Promise<Outcome> {
  const config = await call.config()
  const path = resolve(call.context.cwd(), module)
  const file = await readPlugin(path)
  try {
    return await addFile(call, config, path, file)
  } finally {
    file.thread.close()
  }
}

async function addFile({ context, configFile, options }: AddCall, config: Config, path: string, file: PluginFile): Promise<Outcome> {
  const { name, version } = file.definition
  const before = config.bridges.plugins?.[name]
  const isFree = options.free ?? before?.free ?? false
  const settings =
    options.settings === undefined
      ? before?.settings
      : readYaml(await textOfFile(context, options.settings, 'The settings cannot be read.'), options.settings)
  const { plugin, routes } = await createPlugin(file, settings ?? {}, pluginContext(config)).catch((error: unknown) => {
    const { about, cause } = toRelayerError(error)
    if (settings !== undefined || !(cause instanceof SettingsRefused)) throw error
    throw invalid(`The plug-in needs settings: name their file with --settings <file>. ${about}`, {}, error)
  })
  if (!plugin.earned && !isFree) throw invalid(`The plug-in ${noFee}. Add --free to accept that.`, { plugin: name })
  const entry = {
    ...{ module: relative(dirname(configFile), path), sha256: file.sha256, settings: asData(settings ?? {}) },
    ...(isFree && { free: true }),
    routes,
  }
  const edits = Object.entries(entry).map(([field, value]) => [['bridges', 'plugins', name, field], value] as const)
  const edited = editYaml(await readFile(configFile, 'utf8'), edits)
  demandOwnMessages(parseConfig(edited, context.env, configFile))
  await replaceFile(configFile, edited)
  const json = { name, version, ...entry, config: configFile }
  const signed = ['Keys will sign these calls, and no others, for its messages:', verbatim(routes.map(routeText).join('\n'))]
  const fees = isFree ? 'free: your lanes pay for gas' : 'a message waits while its fee is worth less than its call costs'
  return { json, text: [facts({ plugin: `${name} ${version}`, sha256: file.sha256, config: configFile, fees }), ...signed] }
}

function routeText({ from, where = {}, to, calls }: ConfiguredPlugin['routes'][number]): string {
  const places = Object.entries(where).map(([offset, bytes]) => `${bytes} at ${offset}`)
  return [
    ...from.map(
      ({ source, emitter }) => `  from ${source}, emitter ${emitter}${places.length > 0 ? `, payload ${places.join(', ')}` : ''}`,
    ),
    ...calls.map(({ contract, function: signature, proof, rest, coins }) => {
      const why = proof === 'message' ? 'with a signed message' : `if ${proof.view} is not ${JSON.stringify(proof.isNot)}`
      const types = typesOf(signature).slice(1)
      const bounds = rest?.map((bound, index) => `${types[index] ?? ''}: ${boundText(bound)}`)
      return `    to ${to}, ${contract} ${signature} ${why}${bounds ? `, and further arguments (${bounds.join('; ')})` : ''}${coins ? `, and at most ${coins.atMost} wei` : ''}`
    }),
  ].join('\n')
}

function boundText(bound: ArgumentBound): string {
  if ('atMost' in bound) return `at most ${bound.atMost}`
  if ('payload' in bound) return `bytes ${bound.payload[0]} to ${bound.payload[1] - 1} of the payload`
  return bound.is.startsWith('$') ? `${bound.is.slice(1)} of the message` : bound.is
}

/** Renames a finished draft, so that no reader sees half of the file. */
async function replaceFile(file: string, text: string): Promise<void> {
  const draft = `${file}.${process.pid}`
  const { mode } = await stat(file)
  await writeFile(draft, text, { mode })
  await rename(draft, file)
}

async function listPlugins({ config }: Call): Promise<Outcome> {
  const { plugins = {} } = (await config()).bridges
  const rows = await Promise.all(
    Object.entries(plugins).map(async ([name, plugin]) => {
      const { module, sha256, routes } = plugin
      const file = await stateOfFile(plugin)
      return { name, file, routes: routes.length, sha256: { full: sha256, short: sha256.slice(0, 12) }, module }
    }),
  )
  const json = { plugins: rows.map(({ sha256: { full: sha256 }, ...row }) => ({ ...row, sha256 })) }
  return {
    json,
    text: list('The config has no plug-ins.', rows, { wide: ['module'] }),
    failed: rows.some(({ file }) => file !== 'as added'),
  }
}

async function testPlugin({ context, options }: Call<{ with?: string }>, module: string): Promise<Outcome> {
  if (!existsSync(suite))
    throw new RelayerError('SETUP_INCOMPLETE', { detail: 'This release has no devnet: run the command from the repository of Portage.' })
  const existing = (file: string, missing: string) => {
    const path = resolve(context.cwd(), file)
    if (existsSync(path)) return path
    throw invalid(missing, { file })
  }
  const path = existing(module, 'The file of the plug-in is missing.')
  const missing = 'The file with deploy and send is missing. Write it, or name it with --with.'
  const functions = existing(options.with ?? module.replace(/\.(m?js)$/, '.test.$1'), missing)
  const root = join(dirname(suite), '../..')
  const child = spawn(process.execPath, ['--import', 'tsx', suite, 'test', path, '--with', functions], {
    cwd: root,
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const output = await text(child.stdout)
  const code = child.exitCode ?? (await new Promise<number | null>((done) => child.once('close', done)))
  return { json: { module: basename(path), passed: code === 0 }, text: verbatim(output.trimEnd()), failed: code !== 0 }
}
