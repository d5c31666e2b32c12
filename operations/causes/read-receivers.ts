import type { Config } from '../../config/schema/schema.ts'
import { mapLimited } from '../../runtime/map-limited.ts'
import { type TemporalClient, within } from '../../temporal/client/connection/client.ts'
import { countNotified } from '../../temporal/client/settings/notified-transfers.ts'
import { readNotifier } from '../../temporal/client/settings/notifiers.ts'
import { describePendingWork } from '../../temporal/client/visibility/pending-work.ts'
import { type NotifierState, silentSince, waitingCount } from '../../domain/notification/notifier.ts'
import { notifierWorkflowId } from '../../temporal/contracts/notifier.ts'
import type { ReceiverFacts } from './facts.ts'
import { limits, read } from './read.ts'

const atOnce = 20

type Receivers = Config['notifications']

/** One call for each, two more if it is not notified now. Never throws. */
export function readReceivers(client: TemporalClient, receivers: Receivers, queue: () => Promise<ReceiverFacts['queue']>) {
  if (receivers.length === 0) return Promise.resolve([])
  const polled = queue()
  return mapLimited(receivers, atOnce, async ({ name: receiver, ...filter }): Promise<ReceiverFacts> => {
    const notifier = await read(limits.temporalMs + 500, () => readNotifier(client, receiver))
    const state = 'value' in notifier ? notifier.value : undefined
    const isHeld = state !== undefined && silentSince(state, Date.now()) !== undefined
    const [waiting, step] = isHeld
      ? await Promise.all([countWaiting(client, filter, state), stepOf(client, receiver)])
      : [state && waitingCount(state, 0), undefined]
    return {
      receiver,
      notifier,
      queue: await polled,
      ...(waiting !== undefined && { waiting }),
      ...(step && { step }),
    }
  })
}

/** With those that only Temporal keeps, if it can count them. */
async function countWaiting(client: TemporalClient, filter: Omit<Receivers[number], 'name'>, state: NotifierState): Promise<number> {
  const from = state.cursor.seen + 1
  return waitingCount(state, await within(client, limits.temporalMs, () => countNotified(client, filter, from)).catch(() => 0))
}

/** Undefined: none, or unread. */
async function stepOf(client: TemporalClient, receiver: string): Promise<ReceiverFacts['step']> {
  const work = await within(client, limits.temporalMs, () =>
    describePendingWork(client, { workflowId: notifierWorkflowId(receiver) }),
  ).catch(() => undefined)
  if (!work?.activity) return undefined
  const { tries, message } = work.activity
  return { tries, ...(message !== undefined && { failure: message }) }
}
