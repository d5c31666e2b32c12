import { type ErrorCode, knownCode } from '../domain/catalogue/errors.ts'
import { failoverTimesOf } from '../temporal/contracts/failover.ts'
import { ApplicationFailure, TimeoutFailure, type ActivityOptions, type LocalActivityOptions, workflowInfo } from '@temporalio/workflow'

/** Retries for ever, so that no outage loses a transfer. */
const forever = { initialInterval: '1s', backoffCoefficient: 2, maximumInterval: '1m' } as const

/** A `local` step is tried once. If it fails, the durable step of the same name replaces it. */
export const policies = {
  local: { startToCloseTimeout: '8s', retry: { maximumAttempts: 1 } },
  keyless: { startToCloseTimeout: '30s', retry: forever },
  /** An audit checks every transfer of a day, which takes long. The schedule starts no second audit while one runs. */
  audit: { startToCloseTimeout: '1h', heartbeatTimeout: '1m', retry: forever },
  expedite: { startToCloseTimeout: '10s', scheduleToStartTimeout: '1m', retry: { maximumAttempts: 3 } },
} as const satisfies Record<string, ActivityOptions | LocalActivityOptions>

/** The timeout is longer than the wait for a nonce and the wait for a block together. */
const withKey = { startToCloseTimeout: '3m', retry: forever } as const

/** A task that no worker takes within `laneTaskMs` times out: the lane is busy, or no process has its key. */
export function broadcastPolicy() {
  const { heartbeatMs, laneTaskMs } = failoverTimesOf(workflowInfo().memo)
  return { ...withKey, heartbeatTimeout: heartbeatMs, scheduleToStartTimeout: laneTaskMs }
}

/** Tried once, without delay, since a slot is reserved. If it fails, the step goes to the lane's queue. */
export function localBroadcastPolicy() {
  const { heartbeatMs } = failoverTimesOf(workflowInfo().memo)
  return { startToCloseTimeout: '1m', scheduleToStartTimeout: '3s', heartbeatTimeout: heartbeatMs, retry: { maximumAttempts: 1 } } as const
}

/** For steps that only one lane can do. Their tasks wait for a worker without limit. */
export function laneStepPolicy() {
  return { ...withKey, heartbeatTimeout: failoverTimesOf(workflowInfo().memo).heartbeatMs }
}

/** Heartbeats carry the progress, so that another process can continue from there. */
export function notifyPolicy() {
  return { startToCloseTimeout: '30m', heartbeatTimeout: failoverTimesOf(workflowInfo().memo).heartbeatMs, retry: forever } as const
}

export const waits = {
  /** Wait for a transaction that is in no block yet. The lane's process drives the transaction meanwhile. */
  pendingMs: 10_000,
  /** Bounds of the wait while a gate is closed or a lane is full, and between tries. */
  firstBackoffMs: 2_000,
  longestBackoffMs: 30 * 60_000,
  /** Longest wait for lanes, fees and halts, which may change with every block. */
  longestLaneBackoffMs: 60_000,
  /** Maximum age of a run, so that no build of the workflow lives for months. */
  continueAsNewMs: 60 * 60_000,
  firstCheckMs: 1_000,
  longestCheckMs: 30_000,
  confirmMs: 5_000,
} as const

export const ordinaryPriority = 3
export const expeditedPriority = 1

/** The text of the failure that the server has wrapped. */
export function failureText(error: unknown): string {
  const failure = cause(error)
  return failure instanceof Error ? failure.message : String(failure)
}

/** The error code of the failure: its type. */
export function codeOf(error: unknown): ErrorCode {
  const failure = cause(error)
  return knownCode(failure instanceof ApplicationFailure ? failure.type : undefined)
}

export function timedOutInQueue(error: unknown): boolean {
  const failure = cause(error)
  return failure instanceof TimeoutFailure && failure.timeoutType === 'SCHEDULE_TO_START'
}

function cause(error: unknown): unknown {
  return error instanceof Error && error.cause instanceof Error ? error.cause : error
}
