import type { Call, CommandSpec } from '../command.ts'
import { checkAccess } from '../doctor/access.ts'
import { checkArchive } from '../doctor/archive.ts'
import { checkChains } from '../doctor/chains.ts'
import type { Check } from '../doctor/check.ts'
import { checkFiles } from '../doctor/files.ts'
import { checkLanes } from '../doctor/lanes.ts'
import { checkNativeRoutes } from '../doctor/native.ts'
import { checkReceivers } from '../doctor/receivers.ts'
import { checkServices } from '../doctor/services.ts'
import { checkSources } from '../doctor/sources.ts'
import { checkStreams } from '../doctor/streams.ts'
import { checkTemporal } from '../doctor/temporal.ts'

const checkers = [
  checkTemporal,
  checkChains,
  checkSources,
  checkNativeRoutes,
  checkServices,
  checkLanes,
  checkStreams,
  checkAccess,
  checkArchive,
]

export const doctorCommand: CommandSpec = {
  description: 'Ask everything that Portage needs whether it is there and is what the config says. Changes nothing.',
  notes: `Looks at: the Temporal server, by which settings and how openly it is reached, its namespace, our
permission there and its search attributes; each node's network, head and finality; the Wormhole
contracts and the guardian set; the token bridges of sources without a node; the native bridges'
contracts, pause, budget and roles; the lanes' balances and keys, each of which signs a no-op that
is thrown away; the fees for which there is delivery; the guardian spy; the guardian APIs; how many nonces wait for finality; whether the
streams run by what the config says; the keys of access tokens and whether anybody has a token; how
far the archive is behind, if there is one; of each receiver of notifications whether its host can
be reached, the form of its secrets, and whether it takes what it is told; who else may write the
config and the data folder, or read keys. With --send-test it sends each receiver a signed
notification.test from here; without it, nothing is sent. The exit code is 1 if anything failed.`,
  options: (command) => command.option('--send-test', 'send each receiver of notifications a signed notification.test from this machine'),
  examples: ['portage doctor --json', 'portage doctor --send-test'],
  run: async (call: Call<{ readonly sendTest?: true }>) => {
    const config = await call.config()
    const temporal = call.temporalOf(config)
    const files = checkFiles(call.configFile, config, temporal)
    const receivers = checkReceivers(config, temporal, { env: call.context.env, sendTest: call.options.sendTest === true })
    const checks = (await Promise.all([...checkers.map((check) => check(config, temporal)), receivers, files])).flat()
    const count = (status: Check['status']) => checks.filter((one) => one.status === status).length
    const failed = count('fail') > 0
    const summary = `${count('ok')} ok, ${count('warn')} to look at, ${count('fail')} failed`
    return { json: { healthy: !failed, checks }, text: `${checksText(checks)}\n${summary}`, failed }
  },
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
