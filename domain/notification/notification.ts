import type { OrderSubject } from '../access.ts'
import type { CredentialSource } from '../temporal-access.ts'
import { fnv1a } from '../hash.ts'
import type { LaneId } from '../lane/lane.ts'
import type { BridgeName, ChainName } from '../transfer/transfer.ts'

export const notificationTypes = [
  'transfer.delivered',
  'transfer.reversed',
  'transfer.parked',
  'lane.paused',
  'lane.funds_low',
  'lane.spending_high',
  'lane.topped_up',
  'stream.gap',
  'settings.halted',
] as const
export type NotificationType = (typeof notificationTypes)[number]

export interface Notification {
  /** Value of the header `webhook-id` (letters, digits, `_` and `-`). A receiver recognises repetitions by this id. */
  readonly id: string
  readonly type: NotificationType | 'notification.test'
  /** Time of the event, or when Portage first saw it, ms since the epoch. */
  readonly at: number
  readonly data: NotificationData
}

export type NotificationData = Readonly<Record<string, string | number | boolean | undefined>>

export interface NotificationSubject extends OrderSubject {
  readonly bridge?: BridgeName | undefined
}

/** An absent list allows all. */
export interface NotificationFilter {
  readonly events: readonly NotificationType[]
  readonly chains?: readonly ChainName[] | undefined
  readonly bridges?: readonly BridgeName[] | undefined
  readonly lanes?: readonly LaneId[] | undefined
}

export function wantsType({ events }: NotificationFilter, type: NotificationType): boolean {
  return events.includes(type) || (type === 'transfer.reversed' && events.includes('transfer.delivered'))
}

/**
 * Whether a receiver with this filter wants events about the subject. A halt of everything has no chains, so it passes
 * every chain filter.
 */
export function wantsSubject({ chains, bridges, lanes }: NotificationFilter, about: NotificationSubject): boolean {
  const ofChain = chains === undefined || about.chains === undefined || about.chains.some((one) => chains.includes(one))
  const ofBridge = bridges === undefined || about.bridge === undefined || bridges.includes(about.bridge)
  return ofChain && ofBridge && (lanes === undefined || about.lane === undefined || lanes.includes(about.lane))
}

/** For sorting: µs since the epoch, with the last three digits from the id. The number is the same at each try. */
export function sequenceOf({ at, id }: Pick<Notification, 'at' | 'id'>): number {
  return at * 1_000 + (fnv1a(id) % 1_000)
}

export interface Receiver {
  readonly name: string
  /** Logs may show only the origin, because the path and the query may be secret. */
  readonly url: string
  /** `whsec_` and base64. A notification has a signature per secret, so that the receiver can replace a secret. */
  readonly secrets: readonly CredentialSource[]
  readonly filter: NotificationFilter
}
