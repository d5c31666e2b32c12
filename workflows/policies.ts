import { takeoverOf } from '../temporal/contracts/takeover.ts'
import { type ActivityOptions, type LocalActivityOptions, workflowInfo } from '@temporalio/workflow'

/** Durable steps are tried until they succeed: a transfer is never lost to an outage, however long. */
const forever = { initialInterval: '1s', backoffCoefficient: 2, maximumInterval: '1m' } as const

/** Every activity's time-outs and retries. `local`: once, then the durable step of the same name takes over. */
export const policies = {
  local: { startToCloseTimeout: '8s', retry: { maximumAttempts: 1 } },
  keyless: { startToCloseTimeout: '30s', retry: forever },
  /** Looks at every transfer of a day. It waits while a node is down; the schedule starts no second one meanwhile. */
  audit: { startToCloseTimeout: '1h', heartbeatTimeout: '1m', retry: forever },
  expedite: { startToCloseTimeout: '10s', scheduleToStartTimeout: '1m', retry: { maximumAttempts: 3 } },
} as const satisfies Record<string, ActivityOptions | LocalActivityOptions>

/** Both work with a lane's key. Longer than the waits for a nonce and for a block together. */
const withKey = { startToCloseTimeout: '3m', retry: forever } as const

/** `broadcast` of a transfer. A task that no worker takes for `laneTaskMs` comes back: the lane is busy, or no process has its key. */
export function broadcastPolicy() {
  const { heartbeatMs, laneTaskMs } = takeoverOf(workflowInfo().memo)
  return { ...withKey, heartbeatTimeout: heartbeatMs, scheduleToStartTimeout: laneTaskMs }
}

/** Near at hand: once, and begun at once, which the slot was promised for. Whatever becomes of it, the lane's queue is next. */
export function broadcastNearPolicy() {
  const { heartbeatMs } = takeoverOf(workflowInfo().memo)
  return { startToCloseTimeout: '1m', scheduleToStartTimeout: '3s', heartbeatTimeout: heartbeatMs, retry: { maximumAttempts: 1 } } as const
}

/** The same of a batch or of an operator transaction, which stay with their lane. */
export function laneStepPolicy() {
  return { ...withKey, heartbeatTimeout: takeoverOf(workflowInfo().memo).heartbeatMs }
}

/** The step of a notifier. It runs for minutes, and carries how far it is in its heartbeats: another process goes on from there. */
export function notifyPolicy() {
  return { startToCloseTimeout: '30m', heartbeatTimeout: takeoverOf(workflowInfo().memo).heartbeatMs, retry: forever } as const
}

/** Waits of the workflow itself, ms. */
export const waits = {
  /** Between two looks at a transaction that is in no block yet; the lane's process drives it meanwhile. */
  pendingMs: 10_000,
  /** First and longest wait for a closed gate, a full lane, another try. */
  firstBackoffMs: 2_000,
  longestBackoffMs: 30 * 60_000,
  /** The same where lanes, fees or a halt are waited for: each may change with every block. */
  longestLaneBackoffMs: 60_000,
  /** A wait this long continues as new, so that no build of the workflow lives for months. */
  continueAsNewMs: 60 * 60_000,
  /** First and longest wait between two looks at an effect that is in a block and not final for sure. */
  firstLookMs: 1_000,
  longestLookMs: 30_000,
  /** `confirm` waits this long for a final block before it says that there is none. */
  confirmMs: 5_000,
} as const

/** Classes of a transfer among those that wait for a nonce: by default, and once an operator expedited it. */
export const ordinaryPriority = 3
export const expeditedPriority = 1

/** Patch of runs that were begun without `endsByNonces`: a transfer ends undelivered once all nonces that it ever held are final. */
export const endsByNoncesPatch = 'ends-by-nonces'

/** Before a transfer is parked: reverts, and nonces used by no-ops or from outside Portage. */
export const roundsBeforeParking = 5
export const spentBeforeParking = 20
