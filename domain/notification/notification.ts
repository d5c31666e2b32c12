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
  'stream.gap',
  'settings.halted',
] as const
export type NotificationType = (typeof notificationTypes)[number]

/** One event, plain JSON. It is the same at each try and in a replay. */
export interface Notification {
  /** The `webhook-id`. A receiver recognises repetitions by this id. Letters, digits, `_` and `-`. */
  readonly id: string
  readonly type: NotificationType | 'notification.test'
  /** When the event happened, or was first seen, ms since the epoch. */
  readonly at: number
  readonly data: NotificationData
}

export type NotificationData = Readonly<Record<string, string | number | boolean | undefined>>

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

/** Whether the filter lets a subject pass. A subject without a chain (a halt of everything) passes any `chains`. */
export function wantsSubject({ chains, bridges, lanes }: NotificationFilter, about: NotificationSubject): boolean {
  const ofChain = chains === undefined || about.chains === undefined || about.chains.some((one) => chains.includes(one))
  const ofBridge = bridges === undefined || about.bridge === undefined || bridges.includes(about.bridge)
  return ofChain && ofBridge && (lanes === undefined || about.lane === undefined || lanes.includes(about.lane))
}

/** Key to sort by time, the same at each try: µs since the epoch. The id gives the last three digits. */
export function sequenceOf({ at, id }: Pick<Notification, 'at' | 'id'>): number {
  return at * 1_000 + (fnv1a(id) % 1_000)
}

export interface Receiver {
  readonly name: string
  /** Path and query may be secret, so only the origin may be shown. */
  readonly url: string
  /** Each secret (`whsec_` and base64) makes one signature. The receiver knows one secret and checks its signature. */
  readonly secrets: readonly CredentialSource[]
  readonly filter: NotificationFilter
}
