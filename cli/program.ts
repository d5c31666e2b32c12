import { readFileSync } from 'node:fs'
import { Command } from 'commander'
import { auditCommand } from './commands/audit.ts'
import { configCommand } from './commands/config.ts'
import { allowCommand, denyCommand } from './commands/deny.ts'
import { doctorCommand } from './commands/doctor.ts'
import { feesCommand } from './commands/fees.ts'
import { haltCommand, unhaltCommand } from './commands/halt.ts'
import { keystoreCommand } from './commands/keystore.ts'
import { laneCommand } from './commands/lane.ts'
import { nodeCommand } from './commands/node.ts'
import { runCommand } from './commands/run.ts'
import { settingsCommand } from './commands/settings.ts'
import { streamCommand } from './commands/stream.ts'
import { transferCommand } from './commands/transfer.ts'
import type { CliContext, ExitCode } from './context.ts'

const commands = [
  runCommand,
  transferCommand,
  settingsCommand,
  haltCommand,
  unhaltCommand,
  denyCommand,
  allowCommand,
  feesCommand,
  nodeCommand,
  laneCommand,
  streamCommand,
  auditCommand,
  configCommand,
  doctorCommand,
  keystoreCommand,
]

/** The whole command line. Throws CommanderError instead of ending the process. */
export function createProgram(context: CliContext, ended: (code: ExitCode) => void): Command {
  const program = new Command('portage')
  program
    .version(version())
    .description('Portage carries cross-chain transfers to their destination and loses none.')
    .option('--config <file>', 'config file (default: $PORTAGE_CONFIG, else portage.yaml)')
    .option('--json', 'one JSON object on stdout, for scripts')
    .option('--verbose', 'with an error, print its stack and causes')
    .configureHelp({ showGlobalOptions: true })
    .configureOutput({
      writeOut: (text) => context.stdout.write(text),
      writeErr: (text) => context.stderr.write(text),
      // The same width in a terminal, a log and a document.
      getOutHelpWidth: () => 100,
      getErrHelpWidth: () => 100,
    })
    .exitOverride()
    .showHelpAfterError('(portage <command> --help shows how)')
    .addHelpText('after', footer)
  for (const add of commands) add({ context, ended }, program)
  return program
}

function version(): string {
  const { version: own } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')) as { version: string }
  return own
}

const footer = `
Exit codes:
  0  done
  1  it failed, or the answer is no: the error's code and remedy are on stderr (with --json: on stdout)
  2  the command line is wrong (with --json: the error is on stdout, too)

Examples:
  portage config check                     is portage.yaml right?
  portage doctor                           do Temporal, nodes, contracts, keys, spy and guardians answer?
  portage run --role all                   the whole relayer in one process
  portage transfer list --state parked     what waits for an operator`
