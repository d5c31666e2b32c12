import type { NotificationFilter } from '../../domain/notification/notification.ts'
import { type DisabledReceiver, type NotifierState, oldestUnsent } from '../../domain/notification/notifier.ts'
import type { GivenOrder } from '../../domain/order.ts'
import { RelayerError, toRelayerError } from '../../domain/catalogue/errors.ts'
import { redactUrl } from '../../observability/redact.ts'
import type { TemporalClient } from '../../temporal/client/connection/client.ts'
import { readNotifier } from '../../temporal/client/settings/notifiers.ts'

/** Times are ISO 8601. */
export interface ReceiverReport extends NotificationFilter {
  readonly name: string
  /** Scheme, host and port. */
  readonly host: string
  /** `waiting`: its notifier has not begun. `unknown`: its notifier did not answer. */
  readonly state: 'active' | 'failing' | 'disabled' | 'waiting' | 'unknown'
  /** At most a minute ago while the receiver is notified. */
  readonly asOf?: string | undefined
  readonly problem?: string | undefined
  readonly failingSince?: string | undefined
  readonly nextTryAt?: string | undefined
  readonly disabled?: (Omit<DisabledReceiver, 'at'> & { readonly at: string }) | undefined
  /** Those without room wait in Temporal, uncounted. */
  readonly unsent?: number | undefined
  readonly oldestUnsentAt?: string | undefined
  /** Earlier transfers are notified, or among `unsent`. */
  readonly notifiedUpTo?: string | undefined
  readonly replay?: { readonly from: string; readonly to: string } | undefined
  readonly sent?: number | undefined
  readonly failed?: number | undefined
  readonly givenUp?: number | undefined
  readonly lastSentAt?: string | undefined
  readonly orders?: readonly GivenOrder[] | undefined
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
        return state ? { ...known, ...reportOf(state) } : { ...known, state: 'waiting' as const }
      } catch (error) {
        const { code, message } = toRelayerError(error)
        if (code === 'TEMPORAL_UNAVAILABLE') throw error
        return { ...known, state: 'unknown' as const, problem: message }
      }
    }),
  )
}

/** Throws RECEIVER_NOT_FOUND. */
export function assertReceiver(receivers: readonly Pick<ConfiguredReceiver, 'name'>[], receiver: string): void {
  if (receivers.some(({ name }) => name === receiver)) return
  throw new RelayerError('RECEIVER_NOT_FOUND', { facts: { receiver: receiver.slice(0, 40) } })
}

function reportOf(state: NotifierState): Omit<ReceiverReport, keyof ConfiguredReceiver | 'host'> {
  const { failure, disabled, unsent, pending, cursor, replay, counts, lastSentAt, recordedAt, orders } = state
  return {
    state: disabled ? 'disabled' : failure ? 'failing' : 'active',
    ...(failure && { problem: failure.why, failingSince: iso(failure.since), nextTryAt: iso(failure.nextAt) }),
    ...(disabled && { disabled: { ...disabled, at: iso(disabled.at) ?? '' } }),
    unsent: unsent.length + pending.length,
    oldestUnsentAt: iso(oldestUnsent(state)),
    notifiedUpTo: iso(cursor.seen),
    ...(replay && { replay: { from: iso(replay.from) ?? '', to: iso(replay.to) ?? '' } }),
    ...counts,
    lastSentAt: iso(lastSentAt),
    asOf: iso(recordedAt),
    ...(orders && { orders }),
  }
}

function iso(at: number | undefined): string | undefined {
  return at === undefined ? undefined : new Date(at).toISOString()
}
