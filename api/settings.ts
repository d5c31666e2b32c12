import type { Client } from '@temporalio/client'
import { isGrpcServiceError, ServiceError, WithStartWorkflowOperation, WorkflowUpdateFailedError } from '@temporalio/client'
import { ApplicationFailure, WorkflowNotFoundError } from '@temporalio/common'
import { RelayerError } from '../domain/errors.ts'
import { noSettings } from '../domain/settings.ts'
import type { Settings } from '../domain/settings.ts'
import { redactText } from '../observability/redact.ts'
import type { SettingsInput, SettingsRequest } from '../temporal/messages.ts'
import { changeSettingsUpdate, malformedUpdate, runIsFull, settingsQuery } from '../temporal/messages.ts'
import { lanesQueue, settingsWorkflowId } from '../temporal/names.ts'
import { fromTemporal } from './temporal-errors.ts'

const queryTimeoutMs = 5_000
const changeTimeoutMs = 10_000
/** A run that is full is followed by the next within a task or two. */
const betweenRunsMs = 100

/** The settings as they are now; without the workflow, none. Throws SETTINGS_UNREACHABLE (no worker answers), TEMPORAL_UNAVAILABLE. */
export async function readSettings(client: Client, timeoutMs = queryTimeoutMs): Promise<Settings> {
  try {
    const handle = client.workflow.getHandle(settingsWorkflowId)
    return await client.withDeadline(Date.now() + timeoutMs, () => handle.query(settingsQuery))
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) return noSettings
    throw unreachable(error)
  }
}

/**
 * All orders of a request, or none; answers with the settings after it. The workflow comes into being only here. Safe to repeat.
 * Throws INPUT_INVALID with the path of the field, SETTINGS_UNREACHABLE, TEMPORAL_UNAVAILABLE.
 */
export async function changeSettings(client: Client, request: SettingsRequest): Promise<Settings> {
  // A run that somebody terminated still answers: the next one goes on with what it knew, and lifts no halt.
  const before = await readSettings(client)
  const orders = { ...request, by: request.by.trim(), reason: redactText(request.reason.trim()) }
  const until = Date.now() + changeTimeoutMs
  for (;;) {
    try {
      return await client.withDeadline(until, () => update(client, orders, before))
    } catch (error) {
      const cause = error instanceof WorkflowUpdateFailedError ? error.cause : undefined
      if (!(cause instanceof ApplicationFailure)) throw unreachable(error)
      if (cause.type === malformedUpdate) throw new RelayerError('INPUT_INVALID', { detail: cause.message, cause: error })
      if (cause.type !== runIsFull || Date.now() > until) throw unreachable(error)
      await new Promise((resolve) => setTimeout(resolve, betweenRunsMs))
    }
  }
}

function update(client: Client, request: SettingsRequest, before: Settings): Promise<Settings> {
  const input: SettingsInput = before.version > 0 ? { settings: before } : {}
  const startWorkflowOperation = new WithStartWorkflowOperation('settings', {
    workflowId: settingsWorkflowId,
    taskQueue: lanesQueue,
    workflowIdConflictPolicy: 'USE_EXISTING',
    workflowIdReusePolicy: 'ALLOW_DUPLICATE',
    args: [input],
    staticSummary: 'what operators changed while everything runs',
  })
  return client.workflow.executeUpdateWithStart(changeSettingsUpdate, { args: [request], startWorkflowOperation })
}

/** gRPC: DEADLINE_EXCEEDED and FAILED_PRECONDITION (no poller): the server is there, and no worker of the queue. */
const unserved = [4, 9]

function unreachable(error: unknown): unknown {
  const cause = error instanceof ServiceError ? error.cause : error
  if (isGrpcServiceError(cause) && !unserved.includes(cause.code)) return fromTemporal(error, 'SETTINGS_UNREACHABLE')
  const detail = redactText(error instanceof Error ? error.message : String(error))
  return new RelayerError('SETTINGS_UNREACHABLE', { detail, cause: error })
}
