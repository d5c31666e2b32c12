import { Command, Option } from 'commander'
import type { Cli, CliContext } from '../context.ts'
import { exitCodes, readConfig } from '../context.ts'
import { toRelayerError } from '../../domain/errors.ts'
import { laneAddress } from '../../domain/lane/lane-id.ts'
import type { LogLevel } from '../../observability/logger.ts'
import { createLogger, logLevels } from '../../observability/logger.ts'
import type { Role } from '../../workers/roles.ts'
import { roles } from '../../workers/roles.ts'

interface RunOptions {
  readonly role: Role
  readonly chain?: string[]
  readonly lane?: string[]
  readonly logLevel: LogLevel
  readonly pretty?: boolean
}

/** `portage run` */
export function runCommand({ context, action }: Cli): Command {
  return new Command('run')
    .description('Run a worker until SIGINT or SIGTERM. Logs go to stderr, as JSON lines unless --pretty.')
    .addOption(new Option('--role <role>', 'what this process does').choices(roles).makeOptionMandatory())
    .option('--chain <name>', 'serve only this chain (may be repeated)', collect)
    .option('--lane <lane>', 'serve only this lane, by id or address (may be repeated)', collect)
    .addOption(new Option('--log-level <level>', 'least level that is logged').choices(logLevels).default('info'))
    .option('--pretty', 'readable log lines')
    .addHelpText('after', help)
    .action(
      action(async (globals, options: RunOptions) => {
        const config = await readConfig(context, globals)
        const logger = createLogger({ level: options.logLevel, pretty: options.pretty ?? false })
        // The worker's native parts load slowly: only the command that needs them pays.
        const { runRole } = await import('../../workers/runtime.ts')
        const stopping = new AbortController()
        const release = onInterrupt(context, () => {
          logger.info('stopping: work in hand is finished or handed back')
          stopping.abort()
        })
        try {
          const running = await runRole(options.role, config, {
            env: context.env,
            logger,
            stopping: stopping.signal,
            ...(options.chain && { chains: options.chain }),
            ...(options.lane && { lanes: options.lane.map(toAddress) }),
          })
          const stop = () =>
            void running.stop().catch((error: unknown) => logger.error('stopping failed', { error: toRelayerError(error).message }))
          stopping.signal.addEventListener('abort', stop)
          // Asked for while the parts were made: they stop as soon as they run.
          if (stopping.signal.aborted) stop()
          await running.stopped
        } finally {
          release()
        }
        return exitCodes.ok
      }),
    )
}

/** Calls `listener` at the first SIGINT or SIGTERM; a second one ends the process as if nobody listened. */
function onInterrupt(context: CliContext, listener: () => void): () => void {
  const release = (): void => {
    context.off('SIGINT', once)
    context.off('SIGTERM', once)
  }
  const once = (): void => {
    release()
    listener()
  }
  context.on('SIGINT', once)
  context.on('SIGTERM', once)
  return release
}

/** A lane by its id or by its address: the runtime wants the address. */
function toAddress(lane: string): string {
  return lane.includes(':') ? laneAddress(lane) : lane
}

function collect(value: string, previous: string[] = []): string[] {
  return [...previous, value]
}

const help = `
Roles:
  all      everything below in one process
  chain    transfer workflows and the steps of a chain that need no key
  lane     what needs the keys of this process
  lanes    the nonce ledgers
  intake   listens to the guardian spy
  api      the REST API

Examples:
  portage run --role all --pretty
  portage run --role lane --chain ethereum
  portage run --role chain --chain ethereum --chain avalanche`
