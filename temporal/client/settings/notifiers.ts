import { randomUUID } from 'node:crypto'
import { RelayerError } from '../../../domain/catalogue/errors.ts'
import type { Notification } from '../../../domain/notification/notification.ts'
import {
  checkNotifierState,
  type NotificationTestResult,
  type NotifierState,
  type NotifierOrder,
} from '../../../domain/notification/notifier.ts'
import type { Order } from '../../../domain/order.ts'
import { poll } from '../../../runtime/wait.ts'
import {
  type NotifierInput,
  notifierOrderSignal,
  notifierOrdersQuery,
  notifierStateQuery,
  notifierWorkflowId,
} from '../../contracts/notifier.ts'
import { checkedOrder, queryOrWake, startUnlessTaken } from '../calls/workflow-calls.ts'
import { type TemporalClient, within } from '../connection/client.ts'
import { ifGone, rethrowAs } from '../connection/errors.ts'
import { type RunningNames, runningNames } from '../visibility/runs.ts'

const queryTimeoutMs = 5_000
const codes = { gone: 'RECEIVER_NOT_FOUND', unserved: 'NOTIFIER_UNREACHABLE' } as const
const testPollMs = 250

export async function startNotifier(client: TemporalClient, receiver: string): Promise<void> {
  const handle = client.workflow.getHandle(notifierWorkflowId(receiver))
  const last = await handle.describe().catch(ifGone(undefined))
  if (last?.status.name === 'RUNNING') return
  // A notifier completes once no config contains its receiver. If the receiver returns, a notifier without the old
  // state starts.
  const known = last && last.status.name !== 'COMPLETED' ? await handle.query(notifierStateQuery).catch(() => undefined) : undefined
  const input: NotifierInput = { receiver, ...(known && { state: known }) }
  await startUnlessTaken(client, 'notifier', {
    workflowId: notifierWorkflowId(receiver),
    workflowIdReusePolicy: 'ALLOW_DUPLICATE',
    args: [input],
    staticSummary: `notifies the receiver ${receiver}`,
  })
}

/** Returns undefined if Temporal has no notifier of the receiver. Throws NOTIFIER_UNREACHABLE, TEMPORAL_UNAVAILABLE. */
export async function readNotifier(client: TemporalClient, receiver: string): Promise<NotifierState | undefined> {
  const ask = () => queryOrWake(client, notifierWorkflowId(receiver), notifierStateQuery).catch(ifGone(undefined))
  const state = await within(client, queryTimeoutMs, ask).catch(rethrowAs(codes, { receiver }))
  if (state === undefined) return undefined
  try {
    checkNotifierState(state)
    return state
  } catch (cause) {
    const detail = `It is not the answer of a notifier: ${(cause as Error).message}.`
    throw new RelayerError('NOTIFIER_UNREACHABLE', { detail, facts: { receiver }, cause })
  }
}

/** See `runningNames`. */
export function findNotifiers(client: TemporalClient, configured: readonly string[]): Promise<RunningNames> {
  return within(client, queryTimeoutMs, () => runningNames(client, 'notifier', notifierWorkflowId(''), configured))
}

export function countNotifierOrders(client: TemporalClient, receiver: string): Promise<number> {
  return within(client, queryTimeoutMs, () => client.workflow.getHandle(notifierWorkflowId(receiver)).query(notifierOrdersQuery))
}

type GivenNotifierOrder = Exclude<NotifierOrder, { kind: 'raise' | 'test' }>

/**
 * Sends the order as a signal, which needs no worker. Throws INPUT_INVALID, RECEIVER_NOT_FOUND and
 * TEMPORAL_UNAVAILABLE.
 */
export async function orderOfNotifier(client: TemporalClient, receiver: string, given: GivenNotifierOrder): Promise<void> {
  await signal(client, receiver, { ...given, order: checkedOrder(given.order) }).catch(rethrowAs(codes, { receiver }))
}

/** Notifies the receiver of an event that Temporal does not list. A repeated id changes nothing. */
export function raiseNotification(client: TemporalClient, receiver: string, notification: Notification): Promise<void> {
  return signal(client, receiver, { kind: 'raise', notification })
}

/** Returns undefined if there is no result in time. Throws INPUT_INVALID for a disabled receiver. */
export async function testNotifier(
  client: TemporalClient,
  receiver: string,
  order: Order,
  timeoutMs: number,
): Promise<NotificationTestResult | undefined> {
  const known = await readNotifier(client, receiver)
  if (known?.disabled)
    throw new RelayerError('INPUT_INVALID', { detail: 'The receiver is disabled: enable it first.', facts: { receiver } })
  const id = `test_${randomUUID()}`
  await signal(client, receiver, { kind: 'test', id, order: checkedOrder(order) }).catch(rethrowAs(codes, { receiver }))
  let found: NotificationTestResult | undefined
  const read = async () => (found = (await readNotifier(client, receiver))?.tests.find((one) => one.id === id)) !== undefined
  await poll(read, { everyMs: testPollMs, signal: AbortSignal.timeout(timeoutMs) })
  return found
}

async function signal(client: TemporalClient, receiver: string, order: NotifierOrder): Promise<void> {
  await within(client, queryTimeoutMs, () => client.workflow.getHandle(notifierWorkflowId(receiver)).signal(notifierOrderSignal, order))
}
