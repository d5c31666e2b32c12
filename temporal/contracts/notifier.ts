import type { NotifierOrder, NotifierState } from '../../domain/notification/notifier.ts'
import { defineQuery, defineSignal } from '@temporalio/workflow'

/** Input of `notifier`, one per receiver, on the queue `ledger`. URLs and secrets stay in the processes. */
export interface NotifierInput {
  receiver: string
  /** Absent: the receiver is notified of transfers that close from now on. */
  state?: NotifierState
  /** For tests. */
  stepsPerRun?: number
}

export interface NotifyInput {
  receiver: string
  state: NotifierState
}

/** `unknown`: the process's config has no such receiver. */
export type NotifyResult = { kind: 'unknown' } | { kind: 'notified'; state: NotifierState }

export interface NotifierSteps {
  /** Runs on `notificationQueue` for minutes. Returns when the workflow must record something. */
  notify(input: NotifyInput): Promise<NotifyResult>
}

const prefix = 'notifier:'

export function notifierWorkflowId(receiver: string): string {
  return `${prefix}${receiver}`
}

/** Served by processes with the role `ledger` whose config has receivers. */
export const notificationQueue = 'notifications'

/** Each order has author and reason, except `raise`. */
export const notifierOrderSignal = defineSignal<[NotifierOrder]>('order')
export const notifierStateQuery = defineQuery<NotifierState>('state')
/** Answers with the number of orders that the running step has not read yet. */
export const notifierOrdersQuery = defineQuery<number>('orders')
