import type { NotifierOrder } from '../../domain/notification/notifier-orders.ts'
import type { NotifierState } from '../../domain/notification/notifier.ts'
import { defineQuery, defineSignal } from '@temporalio/workflow'

/** Input of the workflow `notifier`: one per receiver of the config, on the queue `ledger`. No URL and no secret: those stay in the processes. */
export interface NotifierInput {
  /** Name of the receiver. */
  receiver: string
  /** Carried from run to run. Absent: what closes from now on is told. */
  state?: NotifierState
  /** Continue as new after so many steps; for tests. */
  stepsPerRun?: number
}

export interface NotifyInput {
  receiver: string
  state: NotifierState
}

/** unknown: the process that took the step has no such receiver in its config. */
export type NotifyResult = { kind: 'unknown' } | { kind: 'notified'; state: NotifierState }

export interface NotifierSteps {
  /** Reads what there is to tell, and tells it, for some minutes: until an order, a new condition or a failure has to be recorded. On `notificationQueue`. */
  notify(input: NotifyInput): Promise<NotifyResult>
}

/** Workflow ids of notifiers begin so. */
const prefix = 'notifier:'

export function notifierWorkflowId(receiver: string): string {
  return `${prefix}${receiver}`
}

/** The steps of notifiers: served by processes of the role `ledger` whose config has receivers. */
export const notificationQueue = 'notifications'

/** Each has its author and reason, but for what a process raises. */
export const notifierOrderSignal = defineSignal<[NotifierOrder]>('order')
export const notifierStateQuery = defineQuery<NotifierState>('state')
/** How many orders the running step does not know. */
export const notifierOrdersQuery = defineQuery<number>('orders')
