import { buildIdOf } from '../../config/build-id.ts'
import type { Config } from '../../config/schema/schema.ts'
import { type DeploymentStatus, describeDeployment, promoteVersion } from '../../temporal/client/connection/deployments.ts'
import { pause } from '../../runtime/wait.ts'
import type { Call, CommandSpec } from '../command.ts'
import { withInterrupt } from '../context.ts'
import { orderText } from '../orders.ts'
import { numberWithin, type Reasoned, withReason } from '../arguments/options.ts'
import { list, type Text } from '../output/output.ts'
import { type NamespaceSetup, setUpNamespace } from '../../temporal/client/connection/namespace-setup.ts'
import { invalid } from '../../operations/orders/spec.ts'

const pollMs = 2_000

export const deployCommand: CommandSpec = {
  description: 'Versions of the workers of a fleet (worker.deployment in the config), and the work of each.',
  commands: {
    status: {
      description: 'Each version of the workers, and its share of new work.',
      examples: ['portage deploy status --json'],
      run: async ({ withTemporal }: Call) => {
        const status = await withTemporal((client, config) => describeDeployment(client, deploymentOf(config).name))
        return { json: status, text: statusText(status) }
      },
    },
    promote: {
      ...orderText('deploy promote'),
      options: (command) =>
        withReason(command.argument('[build-id]', 'the version; absent: the version in the config'))
          .option('--ramp <percent>', 'send only this share of new work to the version, 0 to 100', numberWithin(0, 100))
          .option('--ignore-missing-queues', 'promote even if the version has no worker on a queue of the current version'),
      run: async (call: Call<Reasoned & { ramp?: number; ignoreMissingQueues?: true }>, given?: string) =>
        call.withOrder(async (client, config, allow) => {
          const { name: deploymentName, buildId } = deploymentOf(config, given)
          const { by, reason } = allow({})
          const { ramp, ignoreMissingQueues } = call.options
          await promoteVersion(client, { deploymentName, buildId, percent: ramp, ignoreMissingQueues, by: `${by}: ${reason}` })
          const status = await describeDeployment(client, deploymentName)
          return { json: status, text: statusText(status) }
        }),
    },
    drained: {
      description: 'Whether a version is drained: it has no open transfer. Workers of a drained version end by themselves by default.',
      options: (command) =>
        command
          .argument('[build-id]', 'the version; absent: the version in the config')
          .option('--wait', 'wait until the version is drained; Ctrl-C ends the wait'),
      notes: `The exit code is 0 if the version is drained, otherwise 1. Temporal checks versions every few minutes. To list the open transfers of a version:
  temporal workflow list --query 'ExecutionStatus = "Running" AND
      TemporalWorkerDeploymentVersion = "<name>:<build-id>"'`,
      examples: ['portage deploy drained 2.4.0 --wait'],
      run: async ({ withTemporal, options, context }: Call<{ wait?: true }>, given?: string) =>
        withInterrupt(context, (stopping) =>
          withTemporal(async (client, config) => {
            const { name, buildId } = deploymentOf(config, given)
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

function deploymentOf(config: Config, given?: string) {
  const { deployment } = config.worker
  if (!deployment) throw invalid('The config has no worker.deployment: its workers have no versions.')
  return { name: deployment.name, buildId: given ?? buildIdOf(config) ?? '' }
}

const wholeHours = numberWithin(1, 99_999, 'It must be a whole number of hours, at least 1')

export const setupCommand: CommandSpec = {
  description: 'Set up the servers that Portage uses.',
  commands: {
    temporal: {
      description:
        'Create the Temporal namespace and its search attributes where they are missing. The command changes nothing that exists.',
      options: (command) => command.option('--retention <hours>', 'retention of closed workflows in a new namespace', wholeHours, 72),
      notes: `The command connects to the server with the same settings as portage run: the config, temporal.toml and TEMPORAL_*. The command needs the role admin in the namespace
(in a token: <namespace>:admin), which portage run does not need. On Temporal Cloud create both in its UI or with tcld. The exit
code is 1 if something is missing afterwards.`,
      examples: ['portage setup temporal', 'TEMPORAL_API_KEY=… portage setup temporal --retention 168 --json'],
      run: async ({ config, temporalOf, options: { retention } }: Call<{ retention: number }>) => {
        const target = temporalOf(await config())
        const { namespace, searchAttributes } = await setUpNamespace(target, { retentionHours: retention })
        const remedy = remedyOf(searchAttributes, target.namespace)
        return {
          json: { address: target.address, ready: remedy === undefined, namespace, searchAttributes, ...(remedy && { remedy }) },
          text: setupText({ namespace, searchAttributes }, remedy),
          failed: remedy !== undefined,
        }
      },
    },
  },
}

function remedyOf({ wrongType, refused }: NamespaceSetup['searchAttributes'], namespace: string): string | undefined {
  if (wrongType.length > 0) {
    return `${wrongType.join(', ')}: of another type than Keyword. Remove them (temporal operator search-attribute remove --namespace ${namespace}), or use another namespace.`
  }
  if (refused.length > 0) {
    return `${refused.join(', ')}: the server does not allow their creation. Run this with ${namespace}:admin; on Temporal Cloud create them in its UI or with tcld, of the type Keyword.`
  }
  return undefined
}

function setupText({ namespace, searchAttributes: { made, present } }: NamespaceSetup, remedy: string | undefined): string {
  const kept = `closed workflows are kept ${namespace.retentionHours} h`
  const lines = [
    `namespace ${namespace.name}: ${namespace.made ? 'made' : 'was there'}, ${kept}`,
    ...(made.length > 0 ? [`search attributes made: ${made.join(', ')}`] : []),
    ...(present.length > 0 ? [`search attributes that were there: ${present.join(', ')}`] : []),
  ]
  return [...lines, ...(remedy ? [`→ ${remedy}`] : [])].join('\n')
}
