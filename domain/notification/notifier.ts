import type { GivenOrder } from '../order.ts'
import type { ConditionSource } from './condition.ts'
import type { Notification } from './notification.ts'

/** How far the list of closed transfers was notified. ms since the epoch by Temporal's clock, except `since`. */
export interface NotifierCursor {
  /** Every earlier end was sent, or is kept for another try. */
  readonly from: number
  /** The latest end in the list. */
  readonly seen: number
  /** Runs may be listed late. `seen`: latest end at `since` (process's clock). Long after it `from` becomes `seen`. */
  readonly settling: { readonly since: number; readonly seen: number }
  /** The newest notified runs that closed since `from`. Older ones are repeated after a crash, with the same ids. */
  readonly notified: readonly (readonly [run: string, closedAt: number])[]
}

export interface UnsentNotification {
  readonly notification: Notification
  readonly tries: number
  /** Earliest next try, ms since the epoch. */
  readonly nextAt: number
  /** Why the last try failed, without any part of the URL or of the answer. */
  readonly why: string
}

export interface FailureState {
  readonly since: number
  readonly tries: number
  readonly nextAt: number
  readonly why: string
}

/** `gone`: it answered 410. `ordered`: an operator disabled it. */
export type DisabledReceiver = { readonly at: number } & (
  | { readonly why: 'gone' }
  | { readonly why: 'ordered'; readonly by: string; readonly reason: string }
)

export interface NotificationTestResult {
  readonly id: string
  readonly at: number
  readonly taken: boolean
  readonly why?: string
}

/** The state of one receiver, plain JSON. Transfers are in Temporal's list. All lists have `notifierLimits`. */
export interface NotifierState {
  readonly cursor: NotifierCursor
  /** Present conditions that were notified, by key: when each was first seen, ms since the epoch. */
  readonly holding: Readonly<Record<string, number>>
  readonly pending: readonly Notification[]
  readonly unsent: readonly UnsentNotification[]
  readonly failure?: FailureState | undefined
  readonly disabled?: DisabledReceiver | undefined
  /** Transfers that closed in this period are notified again, the oldest first. */
  readonly replay?: { readonly from: number; readonly to: number } | undefined
  /** The latest notifications of conditions, for a replay. Temporal has no list of them. */
  readonly recent: readonly Notification[]
  readonly tests: readonly NotificationTestResult[]
  readonly counts: { readonly sent: number; readonly failed: number; readonly givenUp: number }
  readonly lastSentAt?: number | undefined
  /** When a step last recorded its progress, ms since the epoch. Figures may be as old as a step is long. */
  readonly recordedAt?: number | undefined
  readonly orders?: readonly GivenOrder[] | undefined
}

/** Limits of the lists. `holding`: a thousand parked transfers and everything else take 100 KB. */
export const notifierLimits = { notified: 1_000, holding: 1_500, pending: 200, unsent: 100, recent: 100, tests: 5 } as const

/** @param from earlier ends are not notified, ms since the epoch by Temporal's clock */
export function newNotifier(from: number): NotifierState {
  return {
    cursor: { from, seen: from, settling: { since: 0, seen: from }, notified: [] },
    holding: {},
    pending: [],
    unsent: [],
    recent: [],
    tests: [],
    counts: { sent: 0, failed: 0, givenUp: 0 },
  }
}

/** When the oldest unsent notification happened, ms since the epoch. Undefined: none is unsent. */
export function oldestUnsent({ pending, unsent }: Pick<NotifierState, 'pending' | 'unsent'>): number | undefined {
  const times = [...pending, ...unsent.map(({ notification }) => notification)].map(({ at }) => at)
  return times.length === 0 ? undefined : Math.min(...times)
}

/** A step records its progress every minute. After this time without a record none is running, ms. */
const silentMs = 5 * 60_000

/** Since when the receiver gets no notifications, ms since the epoch. Undefined: it gets them. */
export function silentSince({ disabled, failure, recordedAt, cursor, orders = [] }: NotifierState, now: number): number | undefined {
  if (disabled || failure) return disabled?.at ?? failure?.since
  // An order ends a long pause.
  const last = Math.max(recordedAt ?? cursor.from, orders.at(-1)?.at ?? 0)
  return now - last > silentMs ? last : undefined
}

/** How many notifications wait. @param closed how many ends Temporal lists after the last one that was read */
export function waitingCount({ pending, unsent, cursor }: NotifierState, closed: number): number {
  const isListed = ({ type, at }: Notification) => (type === 'transfer.delivered' || type === 'transfer.reversed') && at > cursor.seen
  const both = unsent.filter(({ notification }) => isListed(notification)).length
  return pending.length + unsent.length + Math.max(0, closed - both)
}

/** Takes a reading: new conditions become pending, ended ones are forgotten. An unread source ends none. */
export function withConditions(
  state: NotifierState,
  sources: readonly ConditionSource[],
  at: number,
  toNotification: (condition: NonNullable<ConditionSource['conditions']>[number], at: number) => Notification,
): NotifierState {
  const isOver = (key: string) => {
    const source = sources.find((one) => key.startsWith(`${one.source}/`))
    return !source || (source.conditions && !source.conditions.some((one) => one.key === key))
  }
  const holding = Object.fromEntries(Object.entries(state.holding).filter(([key]) => !isOver(key)))
  const room = Math.min(notifierLimits.pending - state.pending.length, notifierLimits.holding - Object.keys(holding).length)
  const fresh = sources
    .flatMap(({ conditions = [] }) => conditions)
    .filter(({ key }) => !Object.hasOwn(holding, key))
    .slice(0, Math.max(0, room))
  for (const { key } of fresh) holding[key] = at
  const begun = fresh.map((condition) => toNotification(condition, at))
  return { ...state, holding, pending: [...state.pending, ...begun], recent: [...state.recent, ...begun].slice(-notifierLimits.recent) }
}
