import { RelayerError } from '../../../domain/catalogue/errors.ts'
import { type TemporalClient, within } from './client.ts'
import { fromTemporal } from './errors.ts'

export interface DeploymentVersion {
  readonly deploymentName: string
  readonly buildId: string
}

/** `inactive`: gets nothing. `ramping`: a part of the new work. `draining`: only transfers that began with it. */
export type VersionStatus = 'unknown' | 'inactive' | 'current' | 'ramping' | 'draining' | 'drained'

export interface DeploymentStatus {
  readonly deploymentName: string
  /** Undefined: workers without a version get new work. */
  readonly current?: string
  readonly ramping?: { readonly buildId: string; readonly percent: number }
  /** Newest first. */
  readonly versions: readonly { readonly buildId: string; readonly status: VersionStatus; readonly createdAt: string }[]
}

/** In the sequence of WorkerDeploymentVersionStatus. */
const statuses: readonly VersionStatus[] = ['unknown', 'inactive', 'current', 'ramping', 'draining', 'drained']
const answerMs = 10_000
/** gRPC: INVALID_ARGUMENT, NOT_FOUND, FAILED_PRECONDITION. */
const refusedCodes = [3, 5, 9]

/** No versions: no worker has polled yet. Throws TEMPORAL_UNAVAILABLE, and as `fromTemporal`. */
export async function describeDeployment(client: TemporalClient, deploymentName: string): Promise<DeploymentStatus> {
  const { namespace } = client.options
  try {
    const { workerDeploymentInfo } = await within(client, answerMs, () =>
      client.workflowService.describeWorkerDeployment({ namespace, deploymentName }),
    )
    const { currentDeploymentVersion, rampingDeploymentVersion, rampingVersionPercentage } = workerDeploymentInfo?.routingConfig ?? {}
    const versions = (workerDeploymentInfo?.versionSummaries ?? []).map((one) => ({
      buildId: one.deploymentVersion?.buildId ?? '',
      status: statuses[one.status ?? 0] ?? 'unknown',
      createdAt: new Date(Number(one.createTime?.seconds ?? 0) * 1_000).toISOString(),
    }))
    return {
      deploymentName,
      ...(currentDeploymentVersion?.buildId && { current: currentDeploymentVersion.buildId }),
      ...(rampingDeploymentVersion?.buildId && {
        ramping: { buildId: rampingDeploymentVersion.buildId, percent: rampingVersionPercentage ?? 0 },
      }),
      versions: versions.toSorted((a, b) => b.createdAt.localeCompare(a.createdAt)),
    }
  } catch (error) {
    if (codeOf(error) === 5) return { deploymentName, versions: [] }
    throw fromTemporal(error, {}, { deploymentName })
  }
}

export async function versionStatus(client: TemporalClient, version: DeploymentVersion): Promise<VersionStatus> {
  const { namespace } = client.options
  const ask = () => client.workflowService.describeWorkerDeploymentVersion({ namespace, deploymentVersion: version })
  try {
    const { workerDeploymentVersionInfo } = await within(client, answerMs, ask)
    return statuses[workerDeploymentVersionInfo?.status ?? 0] ?? 'unknown'
  } catch (error) {
    // The server makes a version when its first worker polls.
    if (codeOf(error) === 5) return 'unknown'
    throw error
  }
}

export interface Promotion extends DeploymentVersion {
  /** Undefined: all new work, and open work moves at its next task. */
  readonly percent?: number | undefined
  readonly ignoreMissingQueues?: boolean | undefined
  readonly by: string
}

/** Gives a version new work. Safe to repeat. Throws INPUT_INVALID if the server refuses, and as `fromTemporal`. */
export async function promoteVersion(client: TemporalClient, promotion: Promotion): Promise<void> {
  const { deploymentName, buildId, percent, ignoreMissingQueues = false, by } = promotion
  const { namespace } = client.options
  const request = { namespace, deploymentName, buildId, identity: by, ignoreMissingTaskQueues: ignoreMissingQueues }
  const set = async () =>
    percent === undefined
      ? client.workflowService.setWorkerDeploymentCurrentVersion(request)
      : client.workflowService.setWorkerDeploymentRampingVersion({ ...request, percentage: percent })
  try {
    await within(client, answerMs, set)
  } catch (error) {
    if (refusedCodes.includes(codeOf(error) ?? -1)) {
      const detail = error instanceof Error ? error.message : String(error)
      throw new RelayerError('INPUT_INVALID', { detail, facts: { deploymentName, buildId }, cause: error })
    }
    throw fromTemporal(error, {}, { deploymentName, buildId })
  }
}

function codeOf(error: unknown): number | undefined {
  const { code } = Object(error) as { code?: unknown }
  return typeof code === 'number' ? code : undefined
}
