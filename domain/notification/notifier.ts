import type { GivenOrder } from '../order.ts'
import type { ConditionSource } from './condition.ts'
import type { Notification } from './notification.ts'

/** How far a receiver was told of what the list of closed transfers shows. Times: ms since the epoch by Temporal's clock, but for `since`. */
export interface NotifierCursor {
  /** All that closed before it was told, or is kept to be tried again. */
  readonly from: number
  /** The latest end that the list has shown. */
  readonly seen: number
  /** What the list had shown at a look (`since`, by the clock of the process): once that is long ago, `from` moves up to it, since the list shows some runs late. */
  readonly settling: { readonly since: number; readonly seen: number }
  /** Runs that were told and that closed at `from` or later, the newest: after a crash the others are told again, under the same ids. */
  readonly notified: readonly (readonly [run: string, closedAt: number])[]
}

/** A notification that the receiver did not take. */
export interface UnsentNotification {
  readonly notification: Notification
  readonly tries: number
  /** Not tried again before, ms since the epoch. */
  readonly nextAt: number
  /** Why the last try failed: never anything of the URL, or of the answer. */
  readonly why: string
}

/** The receiver itself does not answer, or asks to be left alone. */
export interface FailureState {
  readonly since: number
  readonly tries: number
  readonly nextAt: number
  readonly why: string
}

/** `gone`: it answered 410, which means that it wants no more. `ordered`: by an operator. */
export type DisabledReceiver = { readonly at: number } & (
  | { readonly why: 'gone' }
  | { readonly why: 'ordered'; readonly by: string; readonly reason: string }
)

/** What became of a test that an operator ordered. */
export interface NotificationTestResult {
  readonly id: string
  readonly at: number
  readonly taken: boolean
  readonly why?: string
}

/**
 * All that is remembered of one receiver: plain JSON, carried by its workflow. What is to be told of transfers is not here: that is in Temporal's list of
 * closed runs, however many there are. Every list has an end (`notifierLimits`).
 */
export interface NotifierState {
  readonly cursor: NotifierCursor
  /** Conditions that hold and were told, by their keys: when each was first seen, ms since the epoch. */
  readonly holding: Readonly<Record<string, number>>
  /** Recorded and not tried yet. */
  readonly pending: readonly Notification[]
  readonly unsent: readonly UnsentNotification[]
  readonly failure?: FailureState | undefined
  readonly disabled?: DisabledReceiver | undefined
  /** What closed in this time is told again, from the oldest on. */
  readonly replay?: { readonly from: number; readonly to: number } | undefined
  /** The latest conditions that were told, for a replay: no list of Temporal has them. */
  readonly recent: readonly Notification[]
  readonly tests: readonly NotificationTestResult[]
  readonly counts: { readonly sent: number; readonly failed: number; readonly givenUp: number }
  readonly lastSentAt?: number | undefined
  /** When a step last handed over what it knew, ms since the epoch: figures may be as old as the step is long. */
  readonly recordedAt?: number | undefined
  /** What was ordered of it, the newest. */
  readonly orders?: readonly GivenOrder[] | undefined
}

/** The most of each list. `holding`: a thousand parked transfers and all else take 100 KB. */
export const notifierLimits = { notified: 1_000, holding: 1_500, pending: 200, unsent: 100, recent: 100, tests: 5 } as const

/** @param from what closed before is not told, ms since the epoch by Temporal's clock */
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

/** Since when the oldest notification waits that the receiver did not take, ms since the epoch; undefined: none does. */
export function oldestUnsent({ pending, unsent }: Pick<NotifierState, 'pending' | 'unsent'>): number | undefined {
  const times = [...pending, ...unsent.map(({ notification }) => notification)].map(({ at }) => at)
  return times.length === 0 ? undefined : Math.min(...times)
}

/** A step records every minute what it told: one that has not for so long is not under way, ms. */
const silentMs = 5 * 60_000

/** Since when the receiver is told nothing, or nothing that it takes, ms since the epoch; undefined: it is told as things happen. */
export function silentSince({ disabled, failure, recordedAt, cursor, orders = [] }: NotifierState, now: number): number | undefined {
  if (disabled || failure) return disabled?.at ?? failure?.since
  // After a long rest an order has begun it again.
  const last = Math.max(recordedAt ?? cursor.from, orders.at(-1)?.at ?? 0)
  return now - last > silentMs ? last : undefined
}

/**
 * How many notifications wait: what the receiver did not take, and what is still to be read for it. Some of the latter it may have taken in a look that was
 * broken off. @param closed how many ends Temporal lists that came after all that was read
 */
export function waitingCount({ pending, unsent, cursor }: NotifierState, closed: number): number {
  const isListed = ({ type, at }: Notification) => (type === 'transfer.delivered' || type === 'transfer.reversed') && at > cursor.seen
  const both = unsent.filter(({ notification }) => isListed(notification)).length
  return pending.length + unsent.length + Math.max(0, closed - both)
}

/**
 * Takes what was read of conditions: those that are new become pending under the id that `toNotification` gives them, and those that are over are forgotten, so
 * that they are told when they begin again. Of a source that could not be read nothing is over. More than there is room for stay for the next look.
 */
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
