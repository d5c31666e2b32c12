import { fnv1a } from '../hash.ts'
import type { LaneId } from '../lane/lane-id.ts'
import type { BridgeName, ChainName } from '../transfer/transfer.ts'

/** What a receiver can be told of. The words of the config, of the wire, and of the metrics. */
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

/** One event as a receiver is told of it: plain JSON. The same at each try, and at a replay. */
export interface Notification {
  /** The `webhook-id`: a receiver that has seen it needs nothing of it any more. Letters, digits, `_` and `-`. */
  readonly id: string
  /** `notification.test`: an operator wants to see whether it arrives. */
  readonly type: NotificationType | 'notification.test'
  /** When it happened, or was first seen, ms since the epoch. */
  readonly at: number
  readonly data: NotificationData
}

export type NotificationData = Readonly<Record<string, string | number | boolean | undefined>>

/** What a notification is about. An absent field: nothing of that kind. */
export interface NotificationSubject {
  readonly chains?: readonly ChainName[] | undefined
  readonly bridge?: BridgeName | undefined
  readonly lane?: LaneId | undefined
}

/** What a receiver wants to be told of. An absent list: all. */
export interface NotificationFilter {
  readonly events: readonly NotificationType[]
  readonly chains?: readonly ChainName[] | undefined
  readonly bridges?: readonly BridgeName[] | undefined
  readonly lanes?: readonly LaneId[] | undefined
}

/** Who is told of a delivery is told of its reversal. */
export function wantsType({ events }: NotificationFilter, type: NotificationType): boolean {
  return events.includes(type) || (type === 'transfer.reversed' && events.includes('transfer.delivered'))
}

/** A list leaves out what is about others. What is about none of that kind, as a halt of everything is about no single chain, passes. */
export function wantsSubject({ chains, bridges, lanes }: NotificationFilter, about: NotificationSubject): boolean {
  const ofChain = chains === undefined || about.chains === undefined || about.chains.some((one) => chains.includes(one))
  const ofBridge = bridges === undefined || about.bridge === undefined || bridges.includes(about.bridge)
  return ofChain && ofBridge && (lanes === undefined || about.lane === undefined || lanes.includes(about.lane))
}

/** Orders notifications by the time of what happened, the same at each try: µs since the epoch, of which the last three digits only tell those of one ms apart. */
export function sequenceOf({ at, id }: Pick<Notification, 'at' | 'id'>): number {
  return at * 1_000 + (fnv1a(id) % 1_000)
}
