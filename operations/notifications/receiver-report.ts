import type { NotificationFilter } from '../../domain/notification/notification.ts'
import { type NotifierState, oldestUnsent } from '../../domain/notification/notifier.ts'
import { RelayerError, toRelayerError } from '../../domain/catalogue/errors.ts'
import { redactUrl } from '../../observability/redact.ts'
import type { TemporalClient } from '../../temporal/client/connection/client.ts'
import { readNotifier } from '../../temporal/client/settings/notifiers.ts'

type Progress = ReturnType<typeof progressOf>

export interface ReceiverReport extends NotificationFilter, Partial<Omit<Progress, 'state'>> {
  readonly name: string
  readonly host: string
  /** `waiting`: the receiver's notifier has not begun. `unknown`: the notifier did not answer. */
  readonly state: Progress['state'] | 'waiting' | 'unknown'
}

interface ConfiguredReceiver extends NotificationFilter {
  readonly name: string
  readonly url: string
}

/** Throws TEMPORAL_UNAVAILABLE. */
export function listReceivers(client: TemporalClient, receivers: readonly ConfiguredReceiver[]): Promise<ReceiverReport[]> {
  return Promise.all(
    receivers.map(async ({ name, url, events, chains, bridges, lanes }) => {
      const known = { name, host: redactUrl(url), events, chains, bridges, lanes }
      try {
        const state = await readNotifier(client, name)
        return state ? { ...known, ...progressOf(state) } : { ...known, state: 'waiting' as const }
      } catch (error) {
        const { code, message } = toRelayerError(error)
        if (code === 'TEMPORAL_UNAVAILABLE') throw error
        return { ...known, state: 'unknown' as const, problem: message }
      }
    }),
  )
}

export function assertReceiver(receivers: readonly Pick<ConfiguredReceiver, 'name'>[], receiver: string): void {
  if (receivers.some(({ name }) => name === receiver)) return
  throw new RelayerError('RECEIVER_NOT_FOUND', { facts: { receiver: receiver.slice(0, 40) } })
}

function progressOf(state: NotifierState) {
  const { failure, disabled, unsent, pending, cursor, replay, lastSentAt, recordedAt, orders } = state
  const { sent, failed, givenUp } = state.counts
  return {
    ...{ sent, failed, givenUp },
    state: disabled ? ('disabled' as const) : failure ? ('failing' as const) : ('active' as const),
    problem: failure?.why,
    failingSince: iso(failure?.since),
    nextTryAt: iso(failure?.nextAt),
    disabled: disabled && { ...disabled, at: iso(disabled.at) },
    /** Notifications that wait in Temporal because the notifier's state is full do not count. */
    unsent: unsent.length + pending.length,
    oldestUnsentAt: iso(oldestUnsent(state)),
    notifiedUpTo: iso(cursor.seen),
    replay: replay && { from: iso(replay.from), to: iso(replay.to) },
    lastSentAt: iso(lastSentAt),
    /** While a process notifies the receiver, the last record is at most a minute old. */
    asOf: iso(recordedAt),
    orders,
  }
}

function iso<At extends number | undefined>(at: At) {
  return (at === undefined ? undefined : new Date(at).toISOString()) as At extends number ? string : undefined
}
