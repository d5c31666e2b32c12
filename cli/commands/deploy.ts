import { InvalidArgumentError, Option } from 'commander'
import { setTimeout as delay } from 'node:timers/promises'
import type { Config } from '../../config/schema/schema.ts'
import { describeDeployment, type DeploymentStatus, promoteVersion } from '../../temporal/client/connection/deployments.ts'
import type { Call, CommandSpec } from '../command.ts'
import { withInterrupt } from '../context.ts'
import { orderText } from '../orders.ts'
import { invalid, type Reasoned, withReason } from '../arguments/options.ts'
import { list, type Text } from '../output/output.ts'

/** ms. */
const pollMs = 2_000

interface Promote extends Reasoned {
  readonly ramp?: number
  readonly ignoreMissingQueues?: true
}

const everything = {} as const

export const deployCommand: CommandSpec = {
  description: 'Versions of the workers of a fleet (worker.deployment in the config), and the work of each.',
  commands: {
    status: {
      description: 'Each version, and its share of new work.',
      examples: ['portage deploy status --json'],
      run: async ({ withTemporal }: Call) => {
        const status = await withTemporal((client, config) => describeDeployment(client, nameOf(config)))
        return { json: status, text: statusText(status) }
      },
    },
    promote: {
      ...orderText('deploy promote'),
      options: (command) =>
        withReason(command.argument('[build-id]', 'the version; absent: that of the config'))
          .addOption(new Option('--ramp <percent>', 'only this share of new work, 0 to 100').argParser(percent))
          .option('--ignore-missing-queues', 'even if no worker of this version serves a queue that the current one serves'),
      run: async (call: Call<Promote>, given?: string) =>
        call.withOrder(async (client, config, allow) => {
          const deploymentName = nameOf(config)
          const buildId = given ?? buildIdOf(config)
          const { by, reason } = allow(everything)
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
            const [name, buildId] = [nameOf(config), given ?? buildIdOf(config)]
            const read = async () => (await describeDeployment(client, name)).versions.find((one) => one.buildId === buildId)?.status
            let status = await read()
            while (options.wait && status !== 'drained' && !stopping.aborted) {
              await delay(pollMs, undefined, { signal: stopping }).catch(() => {})
              status = await read()
            }
            const drained = status === 'drained'
            return { json: { buildId, drained, status: status ?? 'unknown' }, text: `${buildId}: ${status ?? 'unknown'}`, failed: !drained }
          }),
        ),
    },
  },
}

function statusText({ deploymentName, current, ramping, versions }: DeploymentStatus): Text {
  const rows = versions.map(({ buildId, status, createdAt }) => [buildId, status, createdAt])
  const share = ramping ? `, ${ramping.percent} % to ${ramping.buildId}` : ''
  return [
    `deployment ${deploymentName}: new work goes to ${current ?? 'workers without a version'}${share}`,
    list('none of its workers has polled yet', ['version', 'status', 'since'], rows),
  ]
}

function nameOf({ worker: { deployment } }: Config): string {
  if (!deployment) throw invalid('The config has no worker.deployment: its workers have no versions.', {})
  return deployment.name
}

function buildIdOf({ worker: { deployment } }: Config): string {
  return deployment?.buildId ?? ''
}

function percent(text: string): number {
  const value = Number(text)
  if (!/^\d{1,3}$/.test(text) || value > 100) throw new InvalidArgumentError('It must be a whole number from 0 to 100')
  return value
}
