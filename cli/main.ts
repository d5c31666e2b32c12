import { readFileSync } from 'node:fs'
import { Command, CommanderError, type ParseOptionsResult } from 'commander'
import { RelayerError } from '../domain/catalogue/errors.ts'
import { addCommands, type Commands, helpWidth } from './command.ts'
import { archiveCommand } from './commands/archive.ts'
import { auditCommand } from './commands/audit.ts'
import { streamCommand } from './commands/stream/stream.ts'
import { codecServerCommand } from './commands/codec-server.ts'
import { completionCommand } from './commands/completion.ts'
import { configCommand, initCommand } from './commands/config.ts'
import { deployCommand, setupCommand } from './commands/temporal.ts'
import { doctorCommand } from './commands/doctor.ts'
import { feesCommand } from './commands/settings/fees.ts'
import { tariffCommand } from './commands/settings/tariff.ts'
import { settingsCommand } from './commands/settings/settings.ts'
import { keystoreCommand } from './commands/keystore.ts'
import { laneCommand } from './commands/lane/lane.ts'
import { nodeCommand } from './commands/settings/node.ts'
import { notificationsCommand } from './commands/settings/notifications.ts'
import { pluginCommand } from './commands/plugin.ts'
import { runCommand } from './commands/run.ts'
import { shadowCommand } from './commands/shadow.ts'
import { stuckCommand } from './commands/stuck.ts'
import { tokenCommand } from './commands/settings/token.ts'
import { transferCommand } from './commands/transfer/transfer.ts'
import { type CliContext, type ExitCode, exitCodes, type GlobalOptions } from './context.ts'
import { orderCommand } from './orders.ts'
import { printError } from './output/print.ts'

export const commands: Commands = {
  run: runCommand,
  stuck: stuckCommand,
  shadow: shadowCommand,
  transfer: transferCommand,
  settings: settingsCommand,
  halt: orderCommand('halt'),
  unhalt: orderCommand('unhalt'),
  deny: orderCommand('deny'),
  allow: orderCommand('allow'),
  fees: feesCommand,
  tariff: tariffCommand,
  node: nodeCommand,
  lane: laneCommand,
  stream: streamCommand,
  audit: auditCommand,
  notifications: notificationsCommand,
  plugin: pluginCommand,
  archive: archiveCommand,
  init: initCommand,
  config: configCommand,
  doctor: doctorCommand,
  setup: setupCommand,
  deploy: deployCommand,
  keystore: keystoreCommand,
  token: tokenCommand,
  'codec-server': codecServerCommand,
  completion: completionCommand,
}

/** Runs a command and resolves with its exit code. Never throws. `argv` contains neither `node` nor the script. */
export async function main(argv: readonly string[], context: CliContext): Promise<ExitCode> {
  let code: ExitCode = exitCodes.ok
  const program = createProgram(context, (result) => {
    code = result
  })
  try {
    await program.parseAsync(argv, { from: 'user' })
    return code
  } catch (error) {
    // Commander has already printed its message. The exit code of help and version is 0.
    if (error instanceof CommanderError) {
      if (error.exitCode === 0) return exitCodes.ok
      if (argv.includes('--json')) {
        const detail = error.code === 'commander.help' ? 'a command is missing; --help lists them' : error.message.replace(/^error: /, '')
        printError(context, { json: true }, new RelayerError('INPUT_INVALID', { detail }))
      }
      return exitCodes.usage
    }
    printError(context, program.opts<GlobalOptions>(), error)
    return exitCodes.failure
  }
}

const dashed = /^-[^-].+/

/** Takes words that begin with one dash as arguments, because a random key id may begin with a dash. */
class Program extends Command {
  override createCommand(name?: string): Program {
    return new Program(name)
  }

  override parseOptions(argv: string[]): ParseOptionsResult {
    const { operands, unknown } = super.parseOptions(argv)
    const takesArguments = this.commands.length === 0 && this.registeredArguments.length > 0
    const isArgument = (word: string) => !word.startsWith('-') || word === '-' || dashed.test(word)
    return takesArguments && unknown.every(isArgument) ? { operands: [...operands, ...unknown], unknown: [] } : { operands, unknown }
  }
}

/** Mistakes in the command line throw CommanderError and do not end the process. Tests pass another `tree`. */
export function createProgram(context: CliContext, ended: (code: ExitCode) => void, tree: Commands = commands): Command {
  const { version } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')) as { version: string }
  const program: Command = new Program('portage')
    .version(version)
    .description('Portage carries cross-chain transfers to their destination and loses none.')
    .option('--config <file>', 'config file (default: $PORTAGE_CONFIG, else portage.yaml)')
    .option('--json', 'one JSON object on stdout, for scripts')
    .option('--wide', 'show whole ids, and each row on one line (default: fit the terminal, or 80 columns)')
    .option('--token-file <file>', 'file with the access token for orders (default: $PORTAGE_TOKEN)')
    .option('--verbose', 'if there is an error, print its stack and causes')
    .configureHelp({ showGlobalOptions: true, minWidthToWrap: 24, helpWidth, subcommandTerm })
    .configureOutput({
      writeOut: (text) => context.stdout.write(text),
      writeErr: (text) => context.stderr.write(text),
    })
    .exitOverride()
    .showHelpAfterError('(portage <command> --help shows how)')
    .addHelpText('after', footer)
  addCommands(program, tree, context, ended)
  return program
}

function subcommandTerm(command: Command): string {
  const named = command.registeredArguments.map((one) => (one.required ? `<${one.name()}>` : `[${one.name()}]`))
  return [command.name(), ...named].join(' ')
}

const footer = `
Exit codes:
  0  done
  1  it failed, or the answer is no: the error's code and remedy are on stderr
     (with --json: on stdout)
  2  the command line is wrong (with --json: the error is on stdout, too)

Examples:
  portage init                          write a config for chains of your choice
  portage config check                  is portage.yaml right?
  portage setup temporal                make Temporal's namespace and attributes
  portage doctor                        do all dependencies answer?
  portage run --role all                the whole relayer in one process
  portage stuck                         what is stuck, why, and what to do
  portage transfer list --state parked  transfers that wait for an operator`
