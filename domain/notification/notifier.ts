import { anyText, type Check, fields, flag, listOf, oneOf, optional, pattern, rule, whole } from '../field-checks.ts'
import { type Order, withOrder, type GivenOrder } from '../order.ts'
import type { ConditionSource } from './condition.ts'
import type { Notification } from './notification.ts'

/** The notifier's progress in Temporal's list of closed transfers. Times: ms by Temporal's clock, except `since`. */
export interface NotifierCursor {
  /**
   * The receiver has been notified of each transfer that closed before this time, or the notification waits for a
   * retry.
   */
  readonly from: number
  readonly seen: number
  /** Temporal lists some transfers late, so `from` becomes `seen` only some time after `since` (process's clock). */
  readonly settling: { readonly since: number; readonly seen: number }
  /** Notified transfers that closed since `from`. Without this list, a crash would repeat their notifications. */
  readonly notified: readonly (readonly [run: string, closedAt: number])[]
}

export interface UnsentNotification {
  readonly notification: Notification
  readonly tries: number
  readonly nextAt: number
  /** Reason of the last failure, without any part of the URL or the answer. */
  readonly why: string
}

type FailureState = Omit<UnsentNotification, 'notification'> & { readonly since: number }

/** `gone`: the receiver answered 410. `ordered`: an operator disabled it. */
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

export interface NotifierState {
  readonly cursor: NotifierCursor
  readonly holding: Readonly<Record<string, number>>
  readonly pending: readonly Notification[]
  readonly unsent: readonly UnsentNotification[]
  readonly failure?: FailureState | undefined
  readonly disabled?: DisabledReceiver | undefined
  readonly replay?: { readonly from: number; readonly to: number } | undefined
  /** The newest notifications of conditions, for `replay`: Temporal does not list conditions. */
  readonly recent: readonly Notification[]
  readonly tests: readonly NotificationTestResult[]
  readonly counts: { readonly sent: number; readonly failed: number; readonly givenUp: number }
  readonly lastSentAt?: number | undefined
  readonly recordedAt?: number | undefined
  readonly orders?: readonly GivenOrder[] | undefined
}

/** `holding` takes up to 100 KB: enough for a thousand parked transfers and all other conditions. */
export const notifierLimits = { notified: 1_000, holding: 1_500, pending: 200, unsent: 100, recent: 100, tests: 5 } as const

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

const maybe = (checks: Readonly<Record<string, Check>>) => optional(fields(checks))
/** Unlike `time`, allows fractions: a signal of an operator may have them. */
const moment = rule((value) => typeof value === 'number' && value >= 0 && value <= 8_640_000_000_000_000, 'a time in ms')
const counter = rule((value) => typeof value === 'number', 'a number')

/**
 * Checks the fields that reports read, because anyone with access to Temporal can start another workflow under a
 * notifier's id. Throws an Error that names the field.
 */
export const checkNotifierState: (state: unknown) => void = (state) =>
  fields({
    cursor: fields({ from: moment, seen: moment }),
    pending: listOf(fields({ at: moment })),
    unsent: listOf(fields({ notification: fields({ at: moment }), tries: counter, why: anyText })),
    failure: maybe({ since: moment, nextAt: moment, tries: counter, why: anyText }),
    disabled: maybe({ at: moment, why: oneOf('gone', 'ordered'), by: optional(anyText), reason: optional(anyText) }),
    tests: listOf(fields({ id: anyText, at: moment, taken: flag, why: optional(anyText) })),
    counts: fields({ sent: counter, failed: counter, givenUp: counter }),
    replay: maybe({ from: moment, to: moment }),
    lastSentAt: optional(moment),
    recordedAt: optional(moment),
    orders: optional(listOf(fields({ at: moment }))),
  } satisfies Partial<Record<keyof NotifierState, Check>>)(state, '')

export function oldestUnsent({ pending, unsent }: Pick<NotifierState, 'pending' | 'unsent'>): number | undefined {
  const times = [...pending, ...unsent.map(({ notification }) => notification)].map(({ at }) => at)
  return times.length === 0 ? undefined : Math.min(...times)
}

/** A running step records its progress every minute. After this time (ms) without a record, no step is running. */
const silentMs = 5 * 60_000

export function silentSince({ disabled, failure, recordedAt, cursor, orders = [] }: NotifierState, now: number): number | undefined {
  if (disabled || failure) return disabled?.at ?? failure?.since
  // The workflow obeyed its newest order, so it was running then.
  const last = Math.max(recordedAt ?? cursor.from, orders.at(-1)?.at ?? 0)
  return now - last > silentMs ? last : undefined
}

/** @param closed number of closed transfers that Temporal lists and the notifier has not read */
export function waitingCount({ pending, unsent, cursor }: NotifierState, closed: number): number {
  const isListed = ({ type, at }: Notification) => (type === 'transfer.delivered' || type === 'transfer.reversed') && at > cursor.seen
  const both = unsent.filter(({ notification }) => isListed(notification)).length
  return pending.length + unsent.length + Math.max(0, closed - both)
}

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

export type NotifierOrder =
  | { readonly kind: 'disable'; readonly order: Order }
  | { readonly kind: 'enable'; readonly order: Order; readonly fromNow?: boolean }
  | { readonly kind: 'replay'; readonly order: Order; readonly since: number }
  | { readonly kind: 'test'; readonly order: Order; readonly id: string }
  /** Adds a notification that only the process with the lane's key can make. A repeated id is ignored. */
  | { readonly kind: 'raise'; readonly notification: Notification }

const mostRaised = 2_000
/** Types that signals may raise. With other types, a stranger's signal could make Portage sign an invented delivery. */
export const raisedTypes: readonly Notification['type'][] = ['lane.spending_high', 'lane.topped_up']
const mostAheadMs = 24 * 3_600_000

export function obeyNotifierOrder(state: NotifierState, order: NotifierOrder, at: number): NotifierState {
  if (order.kind === 'raise') return isRaised(order.notification, at) ? raised(state, order.notification) : state
  const { kind } = order
  const facts = kind === 'replay' ? { facts: { since: new Date(order.since).toISOString() } } : {}
  const noted = { ...state, orders: withOrder(state.orders, { kind, ...order.order, at, ...facts }) }
  switch (order.kind) {
    case 'disable':
      return { ...noted, disabled: { why: 'ordered', at, by: order.order.by, reason: order.order.reason } }
    case 'enable': {
      const unsent = noted.unsent.map((one) => ({ ...one, nextAt: at }))
      const fresh = order.fromNow === true ? { cursor: newNotifier(at).cursor, unsent: [], pending: [] } : { unsent }
      return { ...noted, ...fresh, disabled: undefined, failure: undefined }
    }
    case 'replay': {
      // Temporal refuses times before 1970.
      const from = Math.max(0, Math.min(order.since, state.replay?.from ?? Infinity))
      const again = state.recent.filter((one) => one.at >= order.since && !state.pending.some(({ id }) => id === one.id))
      return { ...noted, replay: { from, to: at }, pending: [...noted.pending, ...again].slice(0, notifierLimits.pending) }
    }
    case 'test': {
      const test = { id: order.id, type: 'notification.test', at, data: { by: order.order.by, reason: order.order.reason } } as const
      // `failure` is removed, so that the test is sent at once and shows whether the receiver is back.
      return { ...noted, failure: undefined, pending: [test, ...noted.pending].slice(0, notifierLimits.pending) }
    }
  }
}

function raised(state: NotifierState, notification: Notification): NotifierState {
  const isKnown = [...state.recent, ...state.pending].some(({ id }) => id === notification.id)
  if (isKnown || state.pending.length >= notifierLimits.pending) return state
  const recent = [...state.recent, notification].slice(-notifierLimits.recent)
  return { ...state, pending: [...state.pending, notification], recent }
}

/**
 * Whether a signal's notification is acceptable. A notification from far in the future would wait for ever and block
 * all others.
 */
function isRaised(given: unknown, now: number): given is Notification {
  try {
    fields({ id: pattern(/^[\w-]{1,64}$/, 'an id'), type: oneOf(...raisedTypes), at: whole })(given, '')
    const { at, data } = given as Notification
    const isFlat = typeof data === 'object' && Object.values(data).every((one) => ['string', 'number', 'boolean'].includes(typeof one))
    return isFlat && at <= now + mostAheadMs && JSON.stringify(given).length <= mostRaised
  } catch {
    return false
  }
}
