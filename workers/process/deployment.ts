import type { WorkerDeploymentOptions } from '@temporalio/worker'
import { setTimeout as delay } from 'node:timers/promises'
import type { Config } from '../../config/schema/schema.ts'
import { toRelayerError } from '../../domain/catalogue/errors.ts'
import type { Logger } from '../../observability/logger.ts'
import type { TemporalClient } from '../../temporal/client/connection/client.ts'
import { versionStatus, type DeploymentVersion, type VersionStatus } from '../../temporal/client/connection/deployments.ts'
import type { Service } from '../roles/context.ts'

/** Between two looks at what our version gets, ms: a server answers some ten of these a second for all processes of a namespace. */
const lookEveryMs = 10_000

/** The version that this process runs, and whether it ends once that is drained. */
export interface Deployment extends DeploymentVersion {
  readonly endWhenDrained: boolean
}

/** Of the config; undefined: its Workers have no version, and take whatever comes. */
export function deploymentOf({ worker }: Pick<Config, 'worker'>): Deployment | undefined {
  const { deployment } = worker
  return deployment && { deploymentName: deployment.name, buildId: deployment.buildId, endWhenDrained: deployment.endWhenDrained }
}

/**
 * The part of a Worker's options that says its version. PINNED: a workflow ends with the version that it began with (transfers, until their next run).
 * AUTO_UPGRADE: it goes on with the current one at its next task (lanes, streams, settings: they never end).
 */
export function versionOptions(
  deployment: DeploymentVersion | undefined,
  defaultVersioningBehavior: 'PINNED' | 'AUTO_UPGRADE',
): { readonly workerDeploymentOptions?: WorkerDeploymentOptions } {
  if (!deployment) return {}
  const { deploymentName, buildId } = deployment
  return { workerDeploymentOptions: { version: { deploymentName, buildId }, useWorkerVersioning: true, defaultVersioningBehavior } }
}

export interface DeploymentWatch {
  readonly client: TemporalClient
  readonly deployment: Deployment
  readonly logger: Logger
  /** Of `beginVersion`. */
  readonly atStart: VersionStatus | undefined
  /** Called once, when the version becomes drained. Where it was so at the start, the process stays: it may have been started to be promoted again. */
  readonly onDrained: () => void
  readonly everyMs?: number
}

const notices: Partial<Record<VersionStatus, string>> = {
  inactive: 'this version of the deployment gets no work until it is promoted: portage deploy promote',
  current: 'this version of the deployment is the current one',
  ramping: 'this version of the deployment gets a part of the new work',
  draining: 'another version was promoted: this one ends the transfers that it began',
  drained: 'this version of the deployment is drained: none of its transfers is open',
}

/** The version of the config, and what it gets before the Workers of this process poll (undefined: the server does not say now). Undefined: there is none. */
export async function beginVersion(
  config: Pick<Config, 'worker'>,
  client: TemporalClient,
): Promise<Pick<DeploymentWatch, 'deployment' | 'atStart'> | undefined> {
  const deployment = deploymentOf(config)
  if (!deployment) return undefined
  const { deploymentName, buildId } = deployment
  return { deployment, atStart: await versionStatus(client, { deploymentName, buildId }).catch(() => undefined) }
}

/** Logs what the version of this process gets whenever that changes, and tells when it is drained. Never throws. */
export function watchDeployment({ client, deployment, logger, atStart, onDrained, everyMs = lookEveryMs }: DeploymentWatch): Service {
  const stopping = new AbortController()
  const { deploymentName, buildId, endWhenDrained } = deployment
  let before: VersionStatus | undefined
  // With the first look the version may have been promoted, taken back and drained already.
  let wasDrained = atStart === 'drained'
  const look = async () => {
    const status = await versionStatus(client, { deploymentName, buildId })
    if (status === before || stopping.signal.aborted) return
    before = status
    if (status !== 'drained') wasDrained = false
    const notice = notices[status]
    const about = { deployment: deploymentName, buildId }
    if (notice && status === 'inactive') logger.warn(notice, { code: 'VERSION_INACTIVE', ...about })
    else if (notice) logger.info(notice, about)
    if (status !== 'drained' || wasDrained || !endWhenDrained) return
    stopping.abort()
    onDrained()
  }
  const watch = async () => {
    while (!stopping.signal.aborted) {
      await look().catch((error: unknown) => {
        logger.debug('what this version gets is not known now', { reason: toRelayerError(error).message })
      })
      await delay(everyMs, undefined, { signal: stopping.signal }).catch(() => {})
    }
  }
  const watching = watch()
  return {
    stop() {
      stopping.abort()
      return watching
    },
  }
}
