import type { NotifierOrder, NotifierState } from '../../domain/notification/notifier.ts'
import { defineQuery, defineSignal } from '@temporalio/workflow'

/** Contains no URLs or secrets, which stay in the processes. */
export interface NotifierInput {
  receiver: string
  /** Absent: the receiver is notified of the transfers that close from now on. */
  state?: NotifierState
  stepsPerRun?: number
}

export interface NotifierSteps {
  /** Returns when the workflow must record something. `unknown`: the config lacks the receiver. */
  notify(input: { receiver: string; state: NotifierState }): Promise<{ kind: 'unknown' } | { kind: 'notified'; state: NotifierState }>
}

export function notifierWorkflowId(receiver: string): string {
  return `notifier:${receiver}`
}

/** Queue of the processes with the role `ledger` whose config has receivers. */
export const notificationQueue = 'notifications'

export const notifierOrderSignal = defineSignal<[NotifierOrder]>('order')
export const notifierStateQuery = defineQuery<NotifierState>('state')
export const notifierOrdersQuery = defineQuery<number>('orders')
