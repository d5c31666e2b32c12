import type { NotifierOrder } from '../../domain/notification/notifier-orders.ts'
import type { NotifierState } from '../../domain/notification/notifier.ts'
import { defineQuery, defineSignal } from '@temporalio/workflow'

/**
 * Input of the workflow `notifier`, one per receiver of the config, on the queue `ledger`. URLs and secrets stay in the
 * processes.
 */
export interface NotifierInput {
  /** Name of the receiver. */
  receiver: string
  /** Carried from run to run. Absent: the receiver is notified of what closes from now on. */
  state?: NotifierState
  /** Continue as new after this many steps; for tests. */
  stepsPerRun?: number
}

export interface NotifyInput {
  receiver: string
  state: NotifierState
}

/** `unknown`: the process that took the step has no such receiver in its config. */
export type NotifyResult = { kind: 'unknown' } | { kind: 'notified'; state: NotifierState }

export interface NotifierSteps {
  /**
   * Reads and sends notifications for some minutes, until an order, a new condition or a failure must be recorded. On
   * `notificationQueue`.
   */
  notify(input: NotifyInput): Promise<NotifyResult>
}

/** Prefix of the workflow ids of notifiers. */
const prefix = 'notifier:'

export function notifierWorkflowId(receiver: string): string {
  return `${prefix}${receiver}`
}

/** Queue of the steps of notifiers. Served by processes with the role `ledger` whose config has receivers. */
export const notificationQueue = 'notifications'

/** Each has author and reason, except `raise`. */
export const notifierOrderSignal = defineSignal<[NotifierOrder]>('order')
export const notifierStateQuery = defineQuery<NotifierState>('state')
/** How many orders the running step has not read. */
export const notifierOrdersQuery = defineQuery<number>('orders')
