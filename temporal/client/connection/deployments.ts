import { RelayerError } from '../../../domain/catalogue/errors.ts'
import { type TemporalClient, within } from './client.ts'
import { fromTemporal, ifMissing, rethrowAs } from './errors.ts'

export interface DeploymentVersion {
  readonly deploymentName: string
  readonly buildId: string
}

/** `inactive`: gets no work. `ramping`: a share of new work. `draining`: gets the work of its open transfers. */
export type VersionStatus = 'unknown' | 'inactive' | 'current' | 'ramping' | 'draining' | 'drained'

export type DeploymentStatus = Awaited<ReturnType<typeof describeDeployment>>

/** In the order of Temporal's enum WorkerDeploymentVersionStatus. */
const statuses: readonly VersionStatus[] = ['unknown', 'inactive', 'current', 'ramping', 'draining', 'drained']
const answerMs = 10_000
/** gRPC's INVALID_ARGUMENT, NOT_FOUND and FAILED_PRECONDITION. */
const refusedCodes = [3, 5, 9]
/**
 * A worker without a poll for this long counts as gone. A poll takes up to 60 s (matching.longPollExpirationInterval).
 */
export const pollerGoneMs = 75_000

export async function describeDeployment(client: TemporalClient, deploymentName: string) {
  const { namespace } = client.options
  const ask = () => client.workflowService.describeWorkerDeployment({ namespace, deploymentName })
  const answer = await within(client, answerMs, ask).catch(ifMissing(undefined)).catch(rethrowAs({}, { deploymentName }))
  const { routingConfig, versionSummaries } = { ...answer?.workerDeploymentInfo }
  const { currentDeploymentVersion, rampingDeploymentVersion, rampingVersionPercentage } = { ...routingConfig }
  const buildId = rampingDeploymentVersion?.buildId
  const versions = (versionSummaries ?? []).map((one) => ({
    buildId: one.deploymentVersion?.buildId ?? '',
    status: statuses[one.status ?? 0] ?? 'unknown',
    createdAt: new Date(Number(one.createTime?.seconds ?? 0) * 1_000).toISOString(),
  }))
  return {
    deploymentName,
    current: currentDeploymentVersion?.buildId || undefined,
    ramping: buildId ? { buildId, percent: rampingVersionPercentage ?? 0 } : undefined,
    versions: versions.toSorted((a, b) => b.createdAt.localeCompare(a.createdAt)),
  }
}

export async function versionStatus(client: TemporalClient, version: DeploymentVersion): Promise<VersionStatus> {
  const { namespace } = client.options
  const ask = () => client.workflowService.describeWorkerDeploymentVersion({ namespace, deploymentVersion: version })
  const answer = await within(client, answerMs, ask).catch(ifMissing(undefined))
  return statuses[answer?.workerDeploymentVersionInfo?.status ?? 0] ?? 'unknown'
}

interface Promotion extends DeploymentVersion {
  /** Percentage of new work. Undefined: the version becomes current, and lanes and streams move to it. */
  readonly percent?: number | undefined
  readonly ignoreMissingQueues?: boolean | undefined
  readonly by: string
}

/** Throws INPUT_INVALID if a queue has no worker of the version or Temporal refuses, and errors of `fromTemporal`. */
export async function promoteVersion(client: TemporalClient, promotion: Promotion): Promise<void> {
  const { deploymentName, buildId, percent: percentage, ignoreMissingQueues: ignoreMissingTaskQueues = false, by: identity } = promotion
  const { options, workflowService } = client
  const facts = { deploymentName, buildId }
  const request = { namespace: options.namespace, ...facts, identity, ignoreMissingTaskQueues }
  const set = async () => {
    const unserved = ignoreMissingTaskQueues || percentage === 0 ? [] : await queuesWithoutWorkers(client, facts)
    const detail = `no worker of ${buildId} polls ${unserved.join(', ')}: start its workers first`
    if (unserved.length > 0) throw new RelayerError('INPUT_INVALID', { detail, facts })
    return percentage === undefined
      ? workflowService.setWorkerDeploymentCurrentVersion(request)
      : workflowService.setWorkerDeploymentRampingVersion({ ...request, percentage })
  }
  await within(client, answerMs, set).catch((error: unknown) => {
    if (!refusedCodes.includes(Number((error as { code?: unknown } | undefined)?.code))) throw fromTemporal(error, {}, facts)
    throw new RelayerError('INPUT_INVALID', { detail: error instanceof Error ? error.message : String(error), facts, cause: error })
  })
}

/**
 * True if no version is current or ramping, and this version has the lowest build id of all versions with workers. Such
 * a version promotes itself. An unversioned worker prevents this promotion.
 */
export async function isFirstVersion(client: TemporalClient, version: DeploymentVersion): Promise<boolean> {
  const { current, ramping } = await describeDeployment(client, version.deploymentName)
  if (current !== undefined || ramping !== undefined) return false
  const pollers = (await within(client, answerMs, () => pollersOf(client, version))).flatMap(({ live }) => live)
  const buildIds = pollers.map(
    ({ deploymentOptions: of }) => (of?.deploymentName === version.deploymentName ? of.buildId : undefined) ?? '',
  )
  return buildIds.toSorted()[0] === version.buildId
}

/**
 * Queues of the version that lack a live worker of the version. The server's own check is not used, because it also
 * counts workers that have ended.
 */
async function queuesWithoutWorkers(client: TemporalClient, version: DeploymentVersion): Promise<string[]> {
  const queues = (await pollersOf(client, version)).map(({ name, live }) => {
    const own = live.filter(({ deploymentOptions: of }) => of?.deploymentName === version.deploymentName && of.buildId === version.buildId)
    return { name, isPolled: live.length > 0, isServed: own.length > 0 }
  })
  const isAlive = queues.some(({ isServed }) => isServed)
  return [...new Set(queues.flatMap((one) => (one.isServed || (isAlive && !one.isPolled) ? [] : one.name)))]
}

async function pollersOf(client: TemporalClient, version: DeploymentVersion) {
  const { options, workflowService } = client
  const { namespace } = options
  const { workerDeploymentVersionInfo } = await workflowService.describeWorkerDeploymentVersion({ namespace, deploymentVersion: version })
  const queues = (workerDeploymentVersionInfo?.taskQueueInfos ?? []).map(async ({ name, type }) => {
    const request = { namespace, taskQueue: { name }, taskQueueType: type ?? null }
    const { pollers } = await workflowService.describeTaskQueue(request)
    const live = pollers.filter(({ lastAccessTime }) => Date.now() - Number(lastAccessTime?.seconds ?? 0) * 1_000 < pollerGoneMs)
    return { name: name ?? '', live }
  })
  return Promise.all(queues)
}
