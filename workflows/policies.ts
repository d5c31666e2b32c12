import { type ErrorCode, knownCode } from '../domain/catalogue/errors.ts'
import { failoverTimesOf } from '../temporal/contracts/failover.ts'
import { ApplicationFailure, TimeoutFailure, type ActivityOptions, type LocalActivityOptions, workflowInfo } from '@temporalio/workflow'

/** No outage may lose a transfer, so steps are retried until they succeed. */
const forever = { initialInterval: '1s', backoffCoefficient: 2, maximumInterval: '1m' } as const

/** A `local` step is tried once: after a failure, most callers run durable steps (workflows/transfer/steps.ts). */
export const policies = {
  local: { startToCloseTimeout: '8s', retry: { maximumAttempts: 1 } },
  keyless: { startToCloseTimeout: '30s', retry: forever },
  /** An audit checks every transfer of a day. Until the audit ends, the schedule starts no other audit. */
  audit: { startToCloseTimeout: '1h', heartbeatTimeout: '1m', retry: forever },
  expedite: { startToCloseTimeout: '10s', scheduleToStartTimeout: '1m', retry: { maximumAttempts: 3 } },
} as const satisfies Record<string, ActivityOptions | LocalActivityOptions>

/** The time-out is longer than the longest wait for a nonce and the longest wait for a block together. */
const withKey = { startToCloseTimeout: '3m', retry: forever } as const

/** A task fails if no worker takes it within `laneTaskMs`: the lane is busy, or no process has its key. */
export function broadcastPolicy() {
  return { ...laneStepPolicy(), scheduleToStartTimeout: failoverTimesOf(workflowInfo().memo).laneTaskMs }
}

/** Tried only once and without a wait, because a slot is reserved. After a failure, the lane's queue gets the step. */
export function localBroadcastPolicy() {
  const { heartbeatMs } = failoverTimesOf(workflowInfo().memo)
  return { startToCloseTimeout: '1m', scheduleToStartTimeout: '3s', heartbeatTimeout: heartbeatMs, retry: { maximumAttempts: 1 } } as const
}

export function laneStepPolicy() {
  return { ...withKey, heartbeatTimeout: failoverTimesOf(workflowInfo().memo).heartbeatMs }
}

/** Heartbeats carry the progress, so that another process can continue the step. */
export function notifyPolicy() {
  return { startToCloseTimeout: '30m', heartbeatTimeout: failoverTimesOf(workflowInfo().memo).heartbeatMs, retry: forever } as const
}

export const waits = {
  pendingMs: 10_000,
  firstBackoffMs: 2_000,
  longestBackoffMs: 30 * 60_000,
  longestLaneBackoffMs: 60_000,
  /**
   * Maximum pause, ms. An activity could return a wait that ends after the last possible date, and the code would
   * throw.
   */
  longestPauseMs: 30 * 86_400_000,
  /** Maximum length of a run, ms. Without a limit, old builds of the workflow would have to run for months. */
  continueAsNewMs: 60 * 60_000,
  firstCheckMs: 1_000,
  longestCheckMs: 30_000,
  confirmMs: 5_000,
} as const

export const ordinaryPriority = 3
export const expeditedPriority = 1

export function failureText(error: unknown): string {
  const failure = cause(error)
  return failure instanceof Error ? failure.message : String(failure)
}

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
