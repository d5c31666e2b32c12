import { fields, text, whole } from '../field-checks.ts'
import { type Order, withOrder } from '../order.ts'
import type { Notification, NotificationType } from './notification.ts'
import { newNotifier, notifierLimits, type NotifierState } from './notifier.ts'

/** Signals to a notifier. Anyone who reaches Temporal can send them. */
export type NotifierOrder =
  | { readonly kind: 'disable'; readonly order: Order }
  /** `fromNow`: skips what happened while it was disabled. */
  | { readonly kind: 'enable'; readonly order: Order; readonly fromNow?: boolean }
  /** Notifies again of everything since then, ms since the epoch. */
  | { readonly kind: 'replay'; readonly order: Order; readonly since: number }
  | { readonly kind: 'test'; readonly order: Order; readonly id: string }
  /** A notification that only a process can see: the spending of a key. A repeated id is ignored. */
  | { readonly kind: 'raise'; readonly notification: Notification }

/** Longest raised notification, as JSON. */
const mostRaised = 2_000
/** The types that processes raise. A stranger's signal must not have an invented delivery signed. */
const raisedTypes: readonly NotificationType[] = ['lane.spending_high']
/** How far the clock of the raising process may be ahead, ms. */
const mostAheadMs = 24 * 3_600_000

/** The state after an order. A malformed one changes nothing. @param at ms since the epoch, workflow time */
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
      const fresh = order.fromNow ? { cursor: newNotifier(at).cursor, unsent: [], pending: [] } : { unsent }
      return { ...noted, ...fresh, disabled: undefined, failure: undefined }
    }
    case 'replay': {
      // Temporal takes no time before year 0, and nothing happened before 1970.
      const from = Math.max(0, Math.min(order.since, state.replay?.from ?? Infinity))
      const again = state.recent.filter((one) => one.at >= order.since && !state.pending.some(({ id }) => id === one.id))
      return { ...noted, replay: { from, to: at }, pending: [...noted.pending, ...again].slice(0, notifierLimits.pending) }
    }
    case 'test': {
      const test = { id: order.id, type: 'notification.test', at, data: { by: order.order.by, reason: order.order.reason } } as const
      // A test is sent at once, to see whether the receiver is back.
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

/** @param now workflow time. A time far in the future could never be sent, and would block everything after it */
function isRaised(given: unknown, now: number): given is Notification {
  try {
    fields({ id: text(64), at: whole })(given, '')
    const { id, type, at = Infinity, data } = given as Partial<Notification>
    const isType = raisedTypes.includes(type as NotificationType)
    const isFlat = typeof data === 'object' && Object.values(data).every((one) => plain.has(typeof one))
    return /^[\w-]+$/.test(id ?? '') && isType && isFlat && at <= now + mostAheadMs && JSON.stringify(given).length <= mostRaised
  } catch {
    return false
  }
}

const plain: ReadonlySet<string> = new Set(['string', 'number', 'boolean'])
