import type { WorkerDeploymentOptions } from '@temporalio/worker'
import { buildIdOf } from '../../config/build-id.ts'
import type { Config } from '../../config/schema/schema.ts'
import { toRelayerError } from '../../domain/catalogue/errors.ts'
import type { Logger } from '../../observability/logger.ts'
import type { TemporalClient } from '../../temporal/client/connection/client.ts'
import {
  isFirstVersion,
  pollerGoneMs,
  promoteVersion,
  versionStatus,
  type DeploymentVersion,
  type VersionStatus,
} from '../../temporal/client/connection/deployments.ts'
import { pause, type Service, startPolling } from '../../runtime/wait.ts'

/** Temporal answers only about ten requests for a version's status per second and namespace. */
const pollEveryMs = 10_000

export interface Deployment extends DeploymentVersion {
  readonly endWhenDrained: boolean
}

export function deploymentOf(config: Pick<Config, 'worker' | 'bridges'>): Deployment | undefined {
  const { deployment } = config.worker
  return deployment && { deploymentName: deployment.name, buildId: buildIdOf(config) ?? '', endWhenDrained: deployment.endWhenDrained }
}

/**
 * PINNED: a workflow keeps its version (transfers). AUTO_UPGRADE: a workflow moves to the current version (lanes,
 * streams).
 */
export function versionOptions(
  deployment: DeploymentVersion | undefined,
  defaultVersioningBehavior: 'PINNED' | 'AUTO_UPGRADE',
): { readonly workerDeploymentOptions?: WorkerDeploymentOptions } {
  if (!deployment) return {}
  const { deploymentName, buildId } = deployment
  return { workerDeploymentOptions: { version: { deploymentName, buildId }, useWorkerVersioning: true, defaultVersioningBehavior } }
}

interface DeploymentWatch {
  readonly client: TemporalClient
  readonly deployment: Deployment
  readonly logger: Logger
  readonly atStart: VersionStatus | undefined
  /**
   * Called when the version becomes drained. Not called if the version was drained at the start, because such a version
   * may be promoted again.
   */
  readonly onDrained: () => void
  readonly everyMs?: number
}

const notices: Partial<Record<VersionStatus, string>> = {
  inactive: 'this version of the deployment gets no work until it is promoted: portage deploy promote',
  current: 'this version of the deployment is the current one',
  ramping: 'this version of the deployment gets a part of the new work',
  draining: 'another version was promoted: this one finishes its transfers',
  drained: 'this version of the deployment is drained: none of its transfers is open',
}

export async function beginVersion(
  config: Pick<Config, 'worker' | 'bridges'>,
  client: TemporalClient,
): Promise<Pick<DeploymentWatch, 'deployment' | 'atStart'> | undefined> {
  const deployment = deploymentOf(config)
  return deployment && { deployment, atStart: await versionStatus(client, deployment).catch(() => undefined) }
}

export function watchDeployment({ client, deployment, logger, atStart, onDrained, everyMs = pollEveryMs }: DeploymentWatch): Service {
  const { deploymentName, buildId, endWhenDrained } = deployment
  let before: VersionStatus | undefined
  // The version may be promoted and drained again before the first check, so its status at the start counts.
  let wasDrained = atStart === 'drained'
  const check = async (signal: AbortSignal): Promise<boolean> => {
    const read = await versionStatus(client, deployment)
    // The first version promotes itself, because without a current version nobody could get a token to do it.
    const isFirst = read === 'inactive' && read !== before && (await isFirstVersion(client, deployment))
    if (isFirst) await promoteVersion(client, { ...deployment, by: 'portage: the first version of the fleet' })
    const status = isFirst ? 'current' : read
    if (status === before || signal.aborted) return false
    before = status
    if (status !== 'drained') wasDrained = false
    const notice = notices[status]
    const about = { deployment: deploymentName, buildId }
    if (notice && status === 'inactive') logger.warn(notice, { code: 'VERSION_INACTIVE', ...about })
    else if (notice) logger.info(notice, about)
    if (status !== 'drained' || wasDrained || !endWhenDrained) return false
    onDrained()
    return true
  }
  const onError = (error: unknown) =>
    logger.debug('the status of this version cannot be read now', { reason: toRelayerError(error).message })
  return startPolling(check, { everyMs, onError })
}

/** Whether drained Workers must restart, because their version was promoted or its status cannot be read. */
export async function mustStartAgain(
  read: () => Promise<VersionStatus>,
  { stopping, everyMs = pollEveryMs }: { readonly stopping: AbortSignal; readonly everyMs?: number },
): Promise<boolean> {
  const until = performance.now() + pollerGoneMs + 2 * everyMs
  while (!stopping.aborted) {
    const status = await read().catch(() => undefined)
    if (status === 'current' || status === 'ramping' || status === 'draining') return true
    if (performance.now() >= until) return status === undefined
    await pause(everyMs, stopping)
  }
  return false
}
