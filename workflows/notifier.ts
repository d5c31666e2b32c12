import { longestRestMs } from '../domain/notification/attempts.ts'
import { byKind, type Check, fields, pattern, rule } from '../domain/field-checks.ts'
import { oldestUnsent, newNotifier, type NotifierState, type NotifierOrder, obeyNotifierOrder } from '../domain/notification/notifier.ts'
import { orderLines, orderOf } from '../domain/order.ts'
import * as contract from '../temporal/contracts/notifier.ts'
import { notifyPolicy } from './policies.ts'
import { condition, makeContinueAsNewFunc, proxyActivities, setCurrentDetails, setHandler, workflowInfo } from '@temporalio/workflow'

const stepsPerRun = 100
/**
 * Number of checks after which the notifier ends if no config has its receiver. A later config may restart the
 * notifier.
 */
const checksForReceiver = 6
const checkMs = 10 * 60_000

/** Notifies one receiver of each event at least once. domain/notification has the rules. */
export async function notifier(input: contract.NotifierInput): Promise<void> {
  const { receiver } = input
  let state = input.state ?? newNotifier(workflowInfo().startTime.getTime())
  const orders: NotifierOrder[] = []
  setHandler(contract.notifierOrderSignal, (given) => void orders.push(...readOrder(given)))
  setHandler(contract.notifierStateQuery, () => state)
  setHandler(contract.notifierOrdersQuery, () => orders.length)
  const { notify } = proxyActivities<contract.NotifierSteps>({
    ...notifyPolicy(),
    taskQueue: contract.notificationQueue,
    summary: `notifies ${receiver}`,
  })
  const isOrdered = () => orders.length > 0
  const most = input.stepsPerRun ?? stepsPerRun
  let restedSince = Date.now()
  for (let [steps, unknown] = [0, 0]; unknown < checksForReceiver;) {
    for (const order of orders.splice(0)) state = obeyNotifierOrder(state, order, Date.now())
    setCurrentDetails(details(state))
    const { continueAsNewSuggested, memo } = workflowInfo()
    if (steps >= most || continueAsNewSuggested) await makeContinueAsNewFunc<typeof notifier>({ memo })({ ...input, state })
    // The clock of the process that set `nextAt` may have been ahead of Temporal's.
    const restMs = Math.min(state.failure?.nextAt ?? 0, restedSince + longestRestMs) - Date.now()
    if (state.disabled) await condition(isOrdered)
    else if (restMs > 0) await condition(isOrdered, restMs)
    else {
      steps += 1
      const result = await notify({ receiver, state })
      unknown = result.kind === 'unknown' ? unknown + 1 : 0
      if (result.kind === 'notified') state = result.state
      else await condition(isOrdered, checkMs)
      restedSince = Date.now()
    }
  }
}

const orderCheck = byKind({
  disable: fields({}),
  enable: fields({}),
  replay: fields({ since: rule((since) => Number.isSafeInteger(since) && Math.abs(Number(since)) < 8.64e15, 'ms since the epoch') }),
  test: fields({ id: pattern(/^[\w-]{1,64}$/, 'the id of a test') }),
  raise: fields({}),
} satisfies Record<NotifierOrder['kind'], Check>)

/** The order in a signal, if it is valid. People may type signals, so a malformed signal must not fail the task. */
function readOrder(given: NotifierOrder): NotifierOrder[] {
  try {
    orderCheck(given, '')
  } catch {
    return []
  }
  return [given.kind === 'raise' ? given : { ...given, order: orderOf(given) }]
}

function details(state: NotifierState): string {
  const { disabled, failure, counts, unsent, pending, orders } = state
  const oldest = oldestUnsent(state)
  const now = disabled ? `disabled: ${disabled.why}` : failure ? `does not answer: ${failure.why}` : 'answers'
  return [
    `**${now}**, ${counts.sent} sent, ${counts.failed} tries failed, ${counts.givenUp} given up`,
    `${pending.length + unsent.length} to be tried${oldest === undefined ? '' : `, the oldest of ${new Date(oldest).toISOString()}`}`,
    ...orderLines(orders),
  ].join('\n\n')
}
