import { failoverTimesOf } from '../temporal/contracts/failover.ts'
import { type ActivityOptions, type LocalActivityOptions, workflowInfo } from '@temporalio/workflow'

/** Durable steps are tried until they succeed, so that no outage loses a transfer. */
const forever = { initialInterval: '1s', backoffCoefficient: 2, maximumInterval: '1m' } as const

/**
 * Time-outs and retries of every activity. A `local` step is tried once, then the durable step of the same name
 * replaces it.
 */
export const policies = {
  local: { startToCloseTimeout: '8s', retry: { maximumAttempts: 1 } },
  keyless: { startToCloseTimeout: '30s', retry: forever },
  /**
   * Checks every transfer of a day. Waits while a node is down; the schedule starts no second audit during that time.
   */
  audit: { startToCloseTimeout: '1h', heartbeatTimeout: '1m', retry: forever },
  expedite: { startToCloseTimeout: '10s', scheduleToStartTimeout: '1m', retry: { maximumAttempts: 3 } },
} as const satisfies Record<string, ActivityOptions | LocalActivityOptions>

/** Steps with a lane's key. Longer than the waits for a nonce and for a block together. */
const withKey = { startToCloseTimeout: '3m', retry: forever } as const

/**
 * `broadcast` of a transfer. A task that no worker takes within `laneTaskMs` times out: the lane is busy, or no process
 * has its key.
 */
export function broadcastPolicy() {
  const { heartbeatMs, laneTaskMs } = failoverTimesOf(workflowInfo().memo)
  return { ...withKey, heartbeatTimeout: heartbeatMs, scheduleToStartTimeout: laneTaskMs }
}

/**
 * `broadcastLocally`: tried once, and started at once, since a slot was promised. If it fails, the lane's queue is
 * next.
 */
export function localBroadcastPolicy() {
  const { heartbeatMs } = failoverTimesOf(workflowInfo().memo)
  return { startToCloseTimeout: '1m', scheduleToStartTimeout: '3s', heartbeatTimeout: heartbeatMs, retry: { maximumAttempts: 1 } } as const
}

/**
 * Steps of batches and operator transactions. They stay with their lane, so a task waits for a worker without limit.
 */
export function laneStepPolicy() {
  return { ...withKey, heartbeatTimeout: failoverTimesOf(workflowInfo().memo).heartbeatMs }
}

/**
 * The step of a notifier. It runs for minutes. Its heartbeats carry its progress, so another process can go on from
 * there.
 */
export function notifyPolicy() {
  return { startToCloseTimeout: '30m', heartbeatTimeout: failoverTimesOf(workflowInfo().memo).heartbeatMs, retry: forever } as const
}

/** Waits of the workflow itself, ms. */
export const waits = {
  /** Interval between checks of a transaction that is in no block. The lane's process drives it. */
  pendingMs: 10_000,
  /** First and longest wait for a closed gate, a full lane or another try. */
  firstBackoffMs: 2_000,
  longestBackoffMs: 30 * 60_000,
  /** Longest wait for a lane, for fees or for the end of a halt: each may change with every block. */
  longestLaneBackoffMs: 60_000,
  /** A run older than this continues as new, so that no build of the workflow lives for months. */
  continueAsNewMs: 60 * 60_000,
  /** First and longest interval between checks whether an included effect is final. */
  firstCheckMs: 1_000,
  longestCheckMs: 30_000,
  /** How long `confirm` waits for a final block. */
  confirmMs: 5_000,
} as const

/** Priority classes for a nonce: the default, and after `expedite`. */
export const ordinaryPriority = 3
export const expeditedPriority = 1

/** A transfer is parked after this many reverts, or this many nonces used by no-ops or from outside Portage. */
export const roundsBeforeParking = 5
export const spentBeforeParking = 20
