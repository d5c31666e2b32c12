import { randomUUID } from 'node:crypto'
import type { Client } from '@temporalio/client'
import { isGrpcServiceError, ServiceError, WithStartWorkflowOperation, WorkflowUpdateFailedError } from '@temporalio/client'
import { ApplicationFailure, defaultPayloadConverter, WorkflowNotFoundError } from '@temporalio/common'
import { RelayerError } from '../domain/errors.ts'
import { noSettings } from '../domain/settings/settings.ts'
import type { Settings, SettingsOrder } from '../domain/settings/settings.ts'
import { assertSettingsOrders } from '../domain/settings/request.ts'
import { redactText } from '../observability/redact.ts'
import type { SettingsInput, SettingsRequest } from '../temporal/contracts/settings.ts'
import type { RetryHint } from '../temporal/contracts/transfer.ts'
import { malformedUpdate, runIsFull } from '../temporal/contracts/lane.ts'
import { changeSettingsUpdate, settingsQuery } from '../temporal/contracts/settings.ts'
import { retrySignal } from '../temporal/contracts/transfer.ts'
import { ledgerQueue, searchAttributes, settingsWorkflowId } from '../temporal/contracts/names.ts'
import type { KnownNames } from './settings-scopes.ts'
import { assertKnownNames } from './settings-scopes.ts'
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

/** The settings before and after a request. */
export interface Changed {
  readonly before: Settings
  readonly after: Settings
}

/**
 * All orders of a request, or none; wakes the transfers that it may let go on. The workflow comes into being only here. Safe to repeat.
 * Throws INPUT_INVALID with the path of the field, SETTINGS_UNREACHABLE, TEMPORAL_UNAVAILABLE.
 */
export async function changeSettings(client: Client, known: KnownNames, request: SettingsRequest): Promise<Changed> {
  // A run that somebody terminated still answers: the next one goes on with what it knew, and lifts no halt.
  const before = await readSettings(client)
  refuseMalformed(request)
  assertKnownNames(request.orders, known, before)
  const orders = { ...request, by: request.by.trim(), reason: redactText(request.reason.trim()) }
  const until = Date.now() + changeTimeoutMs
  for (;;) {
    try {
      const after = await client.withDeadline(until, () => update(client, orders, before))
      if (after.version > before.version) await wake(client, request.orders)
      return { before, after }
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
    taskQueue: ledgerQueue,
    workflowIdConflictPolicy: 'USE_EXISTING',
    workflowIdReusePolicy: 'ALLOW_DUPLICATE',
    args: [input],
    staticSummary: 'what operators changed while everything runs',
  })
  return client.workflow.executeUpdateWithStart(changeSettingsUpdate, { args: [request], startWorkflowOperation })
}

/** The workflow refuses the same; here it costs no start of it. */
function refuseMalformed(request: SettingsRequest): void {
  try {
    assertSettingsOrders(request)
  } catch (error) {
    throw new RelayerError('INPUT_INVALID', { detail: error instanceof Error ? error.message : String(error) })
  }
}

const ended: RetryHint = { gate: true }

/**
 * What waits may go on after these orders: told so by the server itself, however many they are. That is a help and no more, since their own
 * waits end within a minute (a halt) or grow to half an hour (a ceiling).
 */
async function wake(client: Client, orders: readonly SettingsOrder[]): Promise<void> {
  const queries = new Set(orders.flatMap(waitersOf))
  for (const visibilityQuery of queries) {
    await client.workflowService
      .startBatchOperation({
        namespace: client.options.namespace,
        jobId: randomUUID(),
        visibilityQuery,
        reason: 'the settings have changed',
        // The list lags: who has parked meanwhile waits for an operator's word, and this is none.
        signalOperation: { signal: retrySignal.name, identity: 'portage', input: { payloads: [defaultPayloadConverter.toPayload(ended)] } },
      })
      .catch(() => {})
  }
}

/** The visibility query of those that the order may let go on. Names were checked: nothing to escape. */
function waitersOf(order: SettingsOrder): string[] {
  const { Bridge, SourceChain, TargetChain, TransferState } = searchAttributes
  const waiting = `WorkflowType = 'transfer' AND ExecutionStatus = 'Running' AND ${TransferState.name} = 'waiting'`
  const is = (key: { name: string }, value: string) => `${key.name} = '${value}'`
  if (order.kind === 'setFees') {
    const { scope } = order
    if (scope.kind === 'transfer') return [`${waiting} AND WorkflowId = '${scope.id.replaceAll(/[^\w:-]/g, '')}'`]
    return [scope.kind === 'chain' || scope.kind === 'call' ? `${waiting} AND ${is(TargetChain, scope.chain)}` : waiting]
  }
  if (order.kind !== 'unhalt') return []
  const { bridge, chain, sourceChain, targetChain } = order.scope
  const parts = [
    bridge && is(Bridge, bridge),
    chain && `(${is(SourceChain, chain)} OR ${is(TargetChain, chain)})`,
    sourceChain && is(SourceChain, sourceChain),
    targetChain && is(TargetChain, targetChain),
  ]
  return [[waiting, ...parts].filter(Boolean).join(' AND ')]
}

/** gRPC: CANCELLED and DEADLINE_EXCEEDED (our deadline ended the wait), FAILED_PRECONDITION (no poller): the server is there, and no worker. */
const unserved = [1, 4, 9]

function unreachable(error: unknown): unknown {
  const cause = error instanceof ServiceError ? error.cause : error
  if (isGrpcServiceError(cause) && !unserved.includes(cause.code)) return fromTemporal(error, 'SETTINGS_UNREACHABLE')
  const detail = redactText(error instanceof Error ? error.message : String(error))
  return new RelayerError('SETTINGS_UNREACHABLE', { detail, cause: error })
}
