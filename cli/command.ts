import { resolve } from 'node:path'
import type { Command } from 'commander'
import { loadConfig } from '../config/load/load.ts'
import type { Config } from '../config/schema/schema.ts'
import { streamNames } from '../bridges/registry.ts'
import { type ResolvedTemporal, resolveTemporal } from '../config/temporal-access.ts'
import type { TemporalClient } from '../temporal/client/connection/client.ts'
import { withTemporalClient } from '../temporal/client/connection/connect.ts'
import { type Allow, allowing, assertStillGood, authenticate } from './access.ts'
import { type CliContext, type ExitCode, exitCodes, type GlobalOptions } from './context.ts'
import type { Text } from './output/output.ts'
import { print, printRefusal, type Refusal } from './output/print.ts'
import { wrap } from './output/layout.ts'

/** JSON for `--json`, and text for people. `failed`: the exit code is 1. */
export interface Outcome {
  readonly json: object
  readonly text: Text
  readonly failed?: boolean
}

export type Call<Options = object> = ReturnType<typeof createCall<Options>>

/** `refusal`: an error that the API has answered. Nothing: everything is printed already. */
type Result = Outcome | { readonly refusal: Refusal } | void

export interface CommandSpec {
  readonly description: string
  readonly options?: (command: Command) => Command
  /** Shown before the examples. Lines are wrapped, unless they begin with a space. */
  readonly notes?: string
  /** Whole command lines. */
  readonly examples?: readonly string[]
  readonly commands?: Commands
  /** Absent: a group. */
  readonly run?: (call: Call<never>, ...args: never[]) => Promise<Result>
}

/** In the order of the help. */
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
      // Commander passes the arguments, then the options, then the command.
      const call = createCall(context, command, path.join(' '), typed.at(-2) as never)
      ended(finish(call, await run(call, ...(typed.slice(0, -2) as never[]))))
    })
  }
}

function createCall<Options>(context: CliContext, command: Command, path: string, options: Options) {
  const globals = command.optsWithGlobals<GlobalOptions>()
  /** --config, else PORTAGE_CONFIG, else portage.yaml in the working directory. */
  const configFile = resolve(context.cwd(), globals.config ?? context.env['PORTAGE_CONFIG'] ?? 'portage.yaml')
  /** The environment decides Temporal's address and namespace. Throws CONFIG_INVALID. */
  const config = async (): Promise<Config> => {
    const loaded = await loadConfig(configFile, context.env)
    const { address, namespace } = resolveTemporal(loaded.temporal, context.env)
    // Access tokens are for one namespace: that of the variable, if set.
    return { ...loaded, temporal: { ...loaded.temporal, address, namespace } }
  }
  /** Throws CONFIG_INVALID. */
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
    /** Throws CONFIG_INVALID, and as `withTemporalClient`. */
    async withTemporal<Answer>(this: void, use: (temporal: TemporalClient, config: Config) => Promise<Answer>): Promise<Answer> {
      const loaded = await config()
      return withTemporalClient(temporalOf(loaded), (client) => use(client, loaded))
    },
    /** With the principal of an order. Throws ACCESS_*, for an invalid token before any call to Temporal. */
    async withOrder<Answer>(this: void, use: (temporal: TemporalClient, config: Config, allow: Allow) => Promise<Answer>): Promise<Answer> {
      const loaded = await config()
      const principal = await authenticate(context, globals, loaded, path)
      return withTemporalClient(temporalOf(loaded), async (client) => {
        await assertStillGood(context, client, principal)
        return use(client, loaded, allowing(principal, path, options))
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

function finish({ context, globals }: Call<unknown>, outcome: Result): ExitCode {
  if (!outcome) return exitCodes.ok
  if ('refusal' in outcome) {
    printRefusal(context, globals, outcome.refusal)
    return exitCodes.failure
  }
  print(context, globals, outcome)
  return outcome.failed ? exitCodes.failure : exitCodes.ok
}

/** Columns: the same in a terminal, a log and a document. */
export const helpWidth = 80
const indent = '  '

interface HelpEnd {
  readonly notes?: string
  readonly examples?: readonly string[]
}

/** The end of a command's help: its notes and its examples. */
function helpEnd({ notes, examples = [] }: HelpEnd): string {
  const heading = examples.length === 1 ? 'Example' : 'Examples'
  const parts = [
    ...(notes ? [notesText(notes)] : []),
    ...(examples.length > 0 ? [[`${heading}:`, ...examples.map((line) => commandText(indent + line))].join('\n')] : []),
  ]
  return parts.map((part) => `\n${part}`).join('\n')
}

/** A line that begins with a space is not wrapped. */
function notesText(notes: string): string {
  const parts = notes.split('\n').reduce<string[]>((before, line) => {
    const last = before.at(-1)
    const goesOn = last !== undefined && !last.startsWith(' ') && !line.startsWith(' ') && !last.endsWith(':')
    return goesOn ? [...before.slice(0, -1), `${last} ${line}`] : [...before, line]
  }, [])
  return parts.flatMap((part) => (part.startsWith(' ') ? commandText(part) : wrap(part, helpWidth))).join('\n')
}

function commandText(line: string): string {
  const [first = '', ...words] = line.split(/ (?=--)/)
  const more = `\n${indent.repeat(3)}`
  const fits = (text: string, word: string) => (text.split('\n').at(-1) ?? '').length + 1 + word.length + 2 <= helpWidth
  if (line.split('\n').every((one) => one.length <= helpWidth)) return line
  return words.reduce((text, word) => (fits(text, word) ? `${text} ${word}` : `${text} \\${more}${word}`), first)
}
