import type { Call, CommandSpec } from '../command.ts'
import { checkAccess } from '../doctor/access.ts'
import { checkFiles } from '../doctor/files.ts'
import { checkSettings } from '../doctor/settings.ts'
import { checkLanes, checkStreams, checkWithoutTokenBridge } from '../doctor/workflows.ts'
import { checkChains, checkNodeCounts } from '../doctor/chains.ts'
import type { Check } from '../doctor/check.ts'
import { checkCctp } from '../doctor/cctp.ts'
import { checkExecutor } from '../doctor/executor.ts'
import { checkArchive, checkNativeRoutes, checkReceiverRoutes, checkServices, checkSources } from '../doctor/services.ts'
import { checkTokens } from '../doctor/ntt.ts'
import { checkPlugins } from '../doctor/plugins.ts'
import { checkReceivers } from '../doctor/receivers.ts'
import { checkTemporal } from '../doctor/temporal.ts'

const checkers = [
  checkTemporal,
  checkChains,
  checkNodeCounts,
  checkSources,
  checkNativeRoutes,
  checkReceiverRoutes,
  checkPlugins,
  checkTokens,
  checkExecutor,
  checkCctp,
  checkServices,
  checkWithoutTokenBridge,
  checkLanes,
  checkStreams,
  checkSettings,
  checkAccess,
  checkArchive,
]

export const doctorCommand: CommandSpec = {
  description: 'Check every dependency of Portage against the config. The command changes nothing.',
  notes: `The command checks Temporal: the server, the settings and security of the connection, the namespace, its permissions and its search
attributes. For each chain, the command checks whether only one node serves reads. For each node, it checks the network, the head and
finality. For each lane, it checks the balance, the nonces that wait for finality, and the key. The key signs a no-op that is not sent.
For Wormhole, the command checks the contracts, the guardian set, the guardian spy, the guardian APIs, the fees of tokens, the token
bridges of sources without a node, and whether open transfers need a token bridge that the config does not name. For native bridges, it checks the contracts, pause, budget and roles. For plug-ins, it checks the files
and the contracts. For NTT, it checks the contracts, peers, threshold and pause. For the Executor, it checks the contracts and the
quoter's key. For CCTP, it checks the contracts, domains, pause, attesters and Circle's APIs. The command checks whether the streams run
with the values in the config, and whether the config has the names in the orders in force. It checks the keys of access tokens, and
whether a valid token exists. It checks the delay of the archive, and the permissions of the config, the data folder and key files. For
each receiver of notifications, it checks whether the host can be reached, the form of the secrets, and whether the receiver accepts
notifications. Only --send-test sends each receiver a signed notification.test. The exit code is 1 if a check failed.`,
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
    const summary = `${count('ok')} ok, ${count('warn')} warnings, ${count('fail')} failed`
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
