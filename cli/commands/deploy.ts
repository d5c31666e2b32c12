import type { Config } from '../../config/schema/schema.ts'
import { describeDeployment, type DeploymentStatus, promoteVersion } from '../../temporal/client/connection/deployments.ts'
import { pause } from '../../runtime/wait.ts'
import type { Call, CommandSpec } from '../command.ts'
import { withInterrupt } from '../context.ts'
import { orderText } from '../orders.ts'
import { invalid, numberWithin, type Reasoned, withReason } from '../arguments/options.ts'
import { list, type Text } from '../output/output.ts'

const pollMs = 2_000

interface Promote extends Reasoned {
  readonly ramp?: number
  readonly ignoreMissingQueues?: true
}

const percent = numberWithin(0, 100, 'It must be a whole number from 0 to 100')

export const deployCommand: CommandSpec = {
  description: 'Versions of the workers of a fleet (worker.deployment in the config), and the work of each.',
  commands: {
    status: {
      description: 'Each version, and its share of new work.',
      examples: ['portage deploy status --json'],
      run: async ({ withTemporal }: Call) => {
        const status = await withTemporal((client, config) => describeDeployment(client, deploymentOf(config).name))
        return { json: status, text: statusText(status) }
      },
    },
    promote: {
      ...orderText('deploy promote'),
      options: (command) =>
        withReason(command.argument('[build-id]', 'the version; absent: that of the config'))
          .option('--ramp <percent>', 'only this share of new work, 0 to 100', percent)
          .option('--ignore-missing-queues', 'even if no worker of this version serves a queue that the current one serves'),
      run: async (call: Call<Promote>, given?: string) =>
        call.withOrder(async (client, config, allow) => {
          const { name: deploymentName, buildId: configured } = deploymentOf(config)
          const buildId = given ?? configured
          const { by, reason } = allow({})
          const { ramp, ignoreMissingQueues } = call.options
          await promoteVersion(client, { deploymentName, buildId, percent: ramp, ignoreMissingQueues, by: `${by}: ${reason}` })
          const status = await describeDeployment(client, deploymentName)
          return { json: status, text: statusText(status) }
        }),
    },
    drained: {
      description:
        'Whether a version is drained: it has no open transfer. Then its workers can be stopped; by default they end by themselves.',
      options: (command) =>
        command.argument('[build-id]', 'the version; absent: that of the config').option('--wait', 'until it is drained, or Ctrl-C'),
      notes: `The exit code is 0 if it is drained, else 1. The server checks every few minutes. This lists the open transfers of a version:
  temporal workflow list --query 'ExecutionStatus = "Running" AND
      TemporalWorkerDeploymentVersion = "<name>:<build-id>"'`,
      examples: ['portage deploy drained 2.4.0 --wait'],
      run: async ({ withTemporal, options, context }: Call<{ wait?: true }>, given?: string) =>
        withInterrupt(context, (stopping) =>
          withTemporal(async (client, config) => {
            const { name, buildId: configured } = deploymentOf(config)
            const buildId = given ?? configured
            const read = async () =>
              (await describeDeployment(client, name)).versions.find((one) => one.buildId === buildId)?.status ?? 'unknown'
            let status = await read()
            while (options.wait && status !== 'drained' && !stopping.aborted) {
              await pause(pollMs, stopping)
              status = await read()
            }
            const drained = status === 'drained'
            return { json: { buildId, drained, status }, text: `${buildId}: ${status}`, failed: !drained }
          }),
        ),
    },
  },
}

function statusText({ deploymentName, current, ramping, versions }: DeploymentStatus): Text {
  const rows = versions.map(({ buildId, status, createdAt }) => ({ version: buildId, status, since: createdAt }))
  const share = ramping ? `, ${ramping.percent} % to ${ramping.buildId}` : ''
  return [
    `deployment ${deploymentName}: new work goes to ${current ?? 'workers without a version'}${share}`,
    list('none of its workers has polled yet', rows),
  ]
}

function deploymentOf({ worker: { deployment } }: Config) {
  if (!deployment) throw invalid('The config has no worker.deployment: its workers have no versions.', {})
  return deployment
}
