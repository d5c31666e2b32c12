import { resolve } from 'node:path'
import type { Command } from 'commander'
import { loadConfig } from '../config/load/load.ts'
import type { Config } from '../config/schema/schema.ts'
import { streamNames } from '../bridges/configured-emitters.ts'
import { type ResolvedTemporal, resolveTemporal } from '../config/temporal-access.ts'
import type { TemporalClient } from '../temporal/client/connection/client.ts'
import { withTemporalClient } from '../temporal/client/connection/connect.ts'
import { assertLevel, assertNotRevoked, assertScope } from '../operations/access/principals.ts'
import type { OrderContext } from '../operations/orders/spec.ts'
import { type CliContext, type ExitCode, exitCodes, type GlobalOptions } from './context.ts'
import type { Outcome } from './output/output.ts'
import { print } from './output/print.ts'
import { wrap } from './output/layout.ts'
import { createKeyRing } from '../operations/access/keys.ts'
import { orderNamed, orderOf } from '../operations/orders/orders.ts'
import { verifyToken } from '../operations/access/tokens.ts'
import { accessSource } from '../config/data-folder.ts'
import type { Principal } from '../domain/access.ts'
import { RelayerError } from '../domain/catalogue/errors.ts'
import { readSettings } from '../temporal/client/settings/settings.ts'
import { textOfFile } from './arguments/options.ts'

export type Call<Options = object> = ReturnType<typeof createCall<Options>>

export interface CommandSpec {
  readonly description: string
  readonly options?: (command: Command) => Command
  /** Shown before the examples. A line that begins with a space (a command, a table) breaks only before an option. */
  readonly notes?: string
  readonly examples?: readonly string[]
  readonly commands?: Commands
  /** Absent for a command that only groups others. Returns nothing if the command has already printed everything. */
  readonly run?: (call: Call<never>, ...args: never[]) => Promise<Outcome | void>
}

export type Commands = Readonly<Record<string, CommandSpec>>

export function addCommands(
  parent: Command,
  commands: Commands,
  context: CliContext,
  ended: (code: ExitCode) => void,
  groups: readonly string[] = [],
): void {
  for (const [name, spec] of Object.entries(commands)) {
    const path = [...groups, name]
    const { description, options, run } = spec
    const command = parent
      .command(name)
      .description(description)
      .addHelpText('after', () => helpEnd(spec))
    options?.(command)
    addCommands(command, spec.commands ?? {}, context, ended, path)
    if (!run) continue
    command.action(async (...typed: unknown[]) => {
      const call = createCall(context, command, path.join(' '), typed.at(-2) as never)
      const outcome = await run(call, ...(typed.slice(0, -2) as never[]))
      if (outcome) print(context, call.globals, outcome)
      ended(outcome?.failed ? exitCodes.failure : exitCodes.ok)
    })
  }
}

function createCall<Options>(context: CliContext, command: Command, path: string, options: Options) {
  const globals = command.optsWithGlobals<GlobalOptions>()
  const configFile = resolve(context.cwd(), globals.config ?? context.env['PORTAGE_CONFIG'] ?? 'portage.yaml')
  /** Loads the config, in which the environment may replace Temporal's address and namespace. Throws CONFIG_INVALID. */
  const config = async (): Promise<Config> => {
    const loaded = await loadConfig(configFile, context.env)
    const { address, namespace } = resolveTemporal(loaded.temporal, context.env)
    // Access tokens are valid for one namespace, so the loaded config must name the namespace in use.
    return { ...loaded, temporal: { ...loaded.temporal, address, namespace } }
  }
  const temporalOf = (loaded: Config): ResolvedTemporal => ({
    ...resolveTemporal(loaded.temporal, context.env),
    streamNames: streamNames(loaded),
  })
  return {
    options,
    globals,
    context,
    configFile,
    config,
    temporalOf,
    /** Loads the config and calls `use` with a client. Throws CONFIG_INVALID and the errors of `withTemporalClient`. */
    async withTemporal<Answer>(this: void, use: (temporal: TemporalClient, config: Config) => Promise<Answer>): Promise<Answer> {
      const loaded = await config()
      return withTemporalClient(temporalOf(loaded), (client) => use(client, loaded))
    },
    /** Like `withTemporal`, for orders: checks the access token before the first call to Temporal. Throws ACCESS_*. */
    async withOrder<Answer>(
      this: void,
      use: (temporal: TemporalClient, config: Config, allow: OrderContext['allow']) => Promise<Answer>,
    ): Promise<Answer> {
      const loaded = await config()
      const principal = await authenticate(context, globals, loaded, path)
      return withTemporalClient(temporalOf(loaded), async (client) => {
        await assertStillGood(context, client, principal)
        const { reason = '' } = Object(options) as { reason?: string }
        return use(client, loaded, (about) => {
          assertScope(principal, path, about)
          return { by: principal.name, reason }
        })
      })
    },
    program(this: void): Command {
      let top = command
      while (top.parent) top = top.parent
      return top
    },
    misuse: (detail: string): never => command.error(`error: ${detail}`),
  }
}

export const helpWidth = 80
const indent = '  '

function helpEnd({ notes, examples = [] }: CommandSpec): string {
  const heading = examples.length === 1 ? 'Example:' : 'Examples:'
  const shown = examples.length === 0 ? [] : ['', heading, ...examples.map((line) => commandText(indent + line))]
  return [...(notes ? ['', notesText(notes)] : []), ...shown].join('\n')
}

function notesText(notes: string): string {
  const paragraphs = notes.replaceAll(/^(\S.*[^:])\n(?=\S)/gm, '$1 ').split('\n')
  return paragraphs.flatMap((part) => (part.startsWith(' ') ? commandText(part) : wrap(part, helpWidth))).join('\n')
}

function commandText(line: string): string {
  const [first = '', ...words] = line.split(/ (?=--)/)
  const more = `\n${indent.repeat(3)}`
  const fits = (text: string, word: string) => (text.split('\n').at(-1) ?? '').length + 1 + word.length + 2 <= helpWidth
  if (line.split('\n').every((one) => one.length <= helpWidth)) return line
  return words.reduce((text, word) => (fits(text, word) ? `${text} ${word}` : `${text} \\${more}${word}`), first)
}

/**
 * Reads --token-file or, if it is not given, PORTAGE_TOKEN. A token is never an argument, because process lists show
 * arguments.
 */
export async function givenToken(context: CliContext, { tokenFile: file }: GlobalOptions): Promise<string | undefined> {
  if (file === undefined) return context.env['PORTAGE_TOKEN']?.trim() || undefined
  return (await textOfFile(context, file, 'The token file cannot be read.')).trim()
}

/** Returns the holder of the given token. Throws ACCESS_TOKEN_*, ACCESS_KEYS, ACCESS_LEVEL. */
async function authenticate(context: CliContext, globals: GlobalOptions, config: Config, command: string): Promise<Principal> {
  const order = orderNamed(command)
  if (!order) throw new Error(`operations/orders has no order ${command}`)
  const token = await givenToken(context, globals)
  if (token === undefined) throw new RelayerError('ACCESS_TOKEN_MISSING')
  const keys = await createKeyRing(accessSource(config)).keys()
  if (keys.length === 0)
    throw new RelayerError('ACCESS_KEYS', { detail: 'This machine has none.', facts: { dataFolder: config.dataFolder } })
  const principal = await verifyToken(keys, config.temporal.namespace, token)
  assertLevel(principal, order, orderOf(order).level)
  return principal
}

/** Throws ACCESS_TOKEN_REVOKED, TEMPORAL_*. Only warns if no worker answers, so that operators can still stop lanes. */
async function assertStillGood({ stderr }: CliContext, client: TemporalClient, principal: Principal): Promise<void> {
  try {
    assertNotRevoked(principal, (await readSettings(client)).tokens)
  } catch (error) {
    if (!(error instanceof RelayerError) || error.code !== 'SETTINGS_UNREACHABLE') throw error
    stderr.write('Whether the token is revoked is not known: no worker serves the settings.\n')
  }
}
