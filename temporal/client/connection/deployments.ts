import { RelayerError } from '../../../domain/catalogue/errors.ts'
import { type TemporalClient, within } from './client.ts'
import { fromTemporal, isMissing } from './errors.ts'

export interface DeploymentVersion {
  readonly deploymentName: string
  readonly buildId: string
}

/** `inactive`: gets no work. `ramping`: gets a share of new work. `draining`: gets only transfers that began on it. */
export type VersionStatus = 'unknown' | 'inactive' | 'current' | 'ramping' | 'draining' | 'drained'

export type DeploymentStatus = Awaited<ReturnType<typeof describeDeployment>>

/** In the order of WorkerDeploymentVersionStatus. */
const statuses: readonly VersionStatus[] = ['unknown', 'inactive', 'current', 'ramping', 'draining', 'drained']
const answerMs = 10_000
/** gRPC: INVALID_ARGUMENT, NOT_FOUND, FAILED_PRECONDITION. */
const refusedCodes = [3, 5, 9]

/** No versions: no worker has polled yet. Throws TEMPORAL_UNAVAILABLE and errors of `fromTemporal`. */
export async function describeDeployment(client: TemporalClient, deploymentName: string) {
  const { namespace } = client.options
  const ask = () => client.workflowService.describeWorkerDeployment({ namespace, deploymentName })
  const answer = await within(client, answerMs, ask).catch((error: unknown) => {
    if (isMissing(error)) return undefined
    throw fromTemporal(error, {}, { deploymentName })
  })
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
    /** Build id of the current version. Undefined: workers without a version get new work. */
    current: currentDeploymentVersion?.buildId || undefined,
    ramping: buildId ? { buildId, percent: rampingVersionPercentage ?? 0 } : undefined,
    /** Newest first. */
    versions: versions.toSorted((a, b) => b.createdAt.localeCompare(a.createdAt)),
  }
}

export async function versionStatus(client: TemporalClient, version: DeploymentVersion): Promise<VersionStatus> {
  const { namespace } = client.options
  const ask = () => client.workflowService.describeWorkerDeploymentVersion({ namespace, deploymentVersion: version })
  try {
    const { workerDeploymentVersionInfo } = await within(client, answerMs, ask)
    return statuses[workerDeploymentVersionInfo?.status ?? 0] ?? 'unknown'
  } catch (error) {
    // The server creates a version when its first worker polls.
    if (isMissing(error)) return 'unknown'
    throw error
  }
}

interface Promotion extends DeploymentVersion {
  /** Share of new work. Undefined: all new work, and open work moves at its next task. */
  readonly percent?: number | undefined
  readonly ignoreMissingQueues?: boolean | undefined
  readonly by: string
}

/** Gives new work to a version. Safe to repeat. Throws INPUT_INVALID (refused) and errors of `fromTemporal`. */
export async function promoteVersion(client: TemporalClient, promotion: Promotion): Promise<void> {
  const { deploymentName, buildId, percent: percentage, ignoreMissingQueues: ignoreMissingTaskQueues = false, by: identity } = promotion
  const { options, workflowService } = client
  const request = { namespace: options.namespace, deploymentName, buildId, identity, ignoreMissingTaskQueues }
  const set = async () =>
    percentage === undefined
      ? workflowService.setWorkerDeploymentCurrentVersion(request)
      : workflowService.setWorkerDeploymentRampingVersion({ ...request, percentage })
  await within(client, answerMs, set).catch((error: unknown) => {
    const facts = { deploymentName, buildId }
    if (!refusedCodes.includes(Number((error as { code?: unknown } | undefined)?.code))) throw fromTemporal(error, {}, facts)
    throw new RelayerError('INPUT_INVALID', { detail: error instanceof Error ? error.message : String(error), facts, cause: error })
  })
}
