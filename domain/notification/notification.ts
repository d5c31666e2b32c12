import type { CredentialSource } from '../temporal-access.ts'
import { fnv1a } from '../hash.ts'
import type { LaneId } from '../lane/lane.ts'
import type { BridgeName, ChainName } from '../transfer/transfer.ts'

/** Names of the events for receivers, in config, webhooks and metrics. */
export const notificationTypes = [
  'transfer.delivered',
  'transfer.reversed',
  'transfer.parked',
  'lane.paused',
  'lane.funds_low',
  'lane.spending_high',
  'stream.gap',
  'settings.halted',
] as const
export type NotificationType = (typeof notificationTypes)[number]

/** One event, plain JSON. It is the same at each try and in a replay. */
export interface Notification {
  /** The `webhook-id`. A receiver recognises repetitions by this id. Letters, digits, `_` and `-`. */
  readonly id: string
  /** `notification.test`: an operator's test. */
  readonly type: NotificationType | 'notification.test'
  /** When the event happened, or was first seen, ms since the epoch. */
  readonly at: number
  readonly data: NotificationData
}

export type NotificationData = Readonly<Record<string, string | number | boolean | undefined>>

/** The chains, bridge and lane that a notification concerns. Absent: none. */
export interface NotificationSubject {
  readonly chains?: readonly ChainName[] | undefined
  readonly bridge?: BridgeName | undefined
  readonly lane?: LaneId | undefined
}

/** The notifications that a receiver wants. An absent list: all. */
export interface NotificationFilter {
  readonly events: readonly NotificationType[]
  readonly chains?: readonly ChainName[] | undefined
  readonly bridges?: readonly BridgeName[] | undefined
  readonly lanes?: readonly LaneId[] | undefined
}

/** A receiver of deliveries gets their reversals too. */
export function wantsType({ events }: NotificationFilter, type: NotificationType): boolean {
  return events.includes(type) || (type === 'transfer.reversed' && events.includes('transfer.delivered'))
}

/** A list excludes what it does not name. A notification without a chain (a halt of everything) passes any `chains`. */
export function wantsSubject({ chains, bridges, lanes }: NotificationFilter, about: NotificationSubject): boolean {
  const ofChain = chains === undefined || about.chains === undefined || about.chains.some((one) => chains.includes(one))
  const ofBridge = bridges === undefined || about.bridge === undefined || bridges.includes(about.bridge)
  return ofChain && ofBridge && (lanes === undefined || about.lane === undefined || lanes.includes(about.lane))
}

/** Key to sort by time, the same at each try: µs since the epoch. The last three digits separate events of one ms. */
export function sequenceOf({ at, id }: Pick<Notification, 'at' | 'id'>): number {
  return at * 1_000 + (fnv1a(id) % 1_000)
}

/** A receiver of the config. */
export interface Receiver {
  readonly name: string
  /** Only the origin may be shown, since path and query may be secret. */
  readonly url: string
  /** Each secret (`whsec_` and base64) makes a signature. The receiver checks the one of the secret it knows. */
  readonly secrets: readonly CredentialSource[]
  readonly filter: NotificationFilter
}
