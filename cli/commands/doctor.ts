import { Command } from 'commander'
import type { Cli, ExitCode } from '../context.ts'
import { exitCodes, readConfig } from '../context.ts'
import { checkChains } from '../doctor/chains.ts'
import type { Check } from '../doctor/check.ts'
import { checkNativeRoutes } from '../doctor/native.ts'
import { checkServices } from '../doctor/services.ts'
import { checkStreams } from '../doctor/streams.ts'
import { checkTemporal } from '../doctor/temporal.ts'
import { print } from '../output.ts'

/** `portage doctor` */
export function doctorCommand({ context, action }: Cli): Command {
  return new Command('doctor')
    .description('Ask everything that Portage needs whether it is there and is what the config says. Changes nothing.')
    .addHelpText('after', help)
    .action(
      action(async (globals): Promise<ExitCode> => {
        const config = await readConfig(context, globals)
        const checks = (
          await Promise.all([
            checkTemporal(config),
            checkChains(config),
            checkNativeRoutes(config),
            checkServices(config),
            checkStreams(config),
          ])
        ).flat()
        const failed = checks.filter(({ status }) => status === 'fail').length
        const warned = checks.filter(({ status }) => status === 'warn').length
        const summary = `${checks.length - failed - warned} ok, ${warned} to look at, ${failed} failed`
        print(context, globals, { healthy: failed === 0, checks }, `${checksText(checks)}\n${summary}`)
        return failed === 0 ? exitCodes.ok : exitCodes.failure
      }),
    )
}

const marks = { ok: '✓', warn: '!', fail: '✗' } as const

function checksText(checks: readonly Check[]): string {
  const areas = [...new Set(checks.map(({ area }) => area))]
  const lines = areas.flatMap((area) => [
    area,
    ...checks
      .filter((check) => check.area === area)
      .flatMap(({ status, name, detail, remedy }) => [`  ${marks[status]} ${name}: ${detail}`, ...(remedy ? [`      → ${remedy}`] : [])]),
    '',
  ])
  return lines.join('\n')
}

const help = `
Looks at: the Temporal server, its namespace and search attributes; each node's network, head and finality; the Wormhole contracts and
the guardian set; the native bridges' contracts, pause, budget and roles; the lanes' balances and keys, each of which signs a no-op that is
thrown away; the guardian spy; the guardian APIs; whether the streams run by what the config says. The exit code is 1 if anything failed.

Example:
  portage doctor --json`
