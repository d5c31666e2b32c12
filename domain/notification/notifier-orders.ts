import { fields, text, whole } from '../checks.ts'
import { type Order, withOrder } from '../order.ts'
import { type Notification, type NotificationType, notificationTypes } from './notification.ts'
import { newNotifier, notifierLimits, type NotifierState } from './notifier.ts'

/** What a notifier is told by a signal. Each may come from whoever reaches Temporal. */
export type NotifierOrder =
  | { readonly kind: 'disable'; readonly order: Order }
  /** `fromNow`: what happened while it was disabled is not told. */
  | { readonly kind: 'enable'; readonly order: Order; readonly fromNow?: boolean }
  /** What happened since then, ms since the epoch, is told again. */
  | { readonly kind: 'replay'; readonly order: Order; readonly since: number }
  | { readonly kind: 'test'; readonly order: Order; readonly id: string }
  /** From a process that sees what Temporal does not: what a key has signed for. The same id is taken once. */
  | { readonly kind: 'raise'; readonly notification: Notification }

/** Longest text of a notification that somebody raises, as JSON. */
const mostRaised = 2_000

/** The state after an order. What is malformed changes nothing. @param at ms since the epoch, workflow time */
export function obeyNotifierOrder(state: NotifierState, order: NotifierOrder, at: number): NotifierState {
  if (order.kind === 'raise') return isRaised(order.notification) ? raised(state, order.notification) : state
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
      const from = Math.min(order.since, state.replay?.from ?? Infinity)
      const again = state.recent.filter((one) => one.at >= order.since && !state.pending.some(({ id }) => id === one.id))
      return { ...noted, replay: { from, to: at }, pending: [...noted.pending, ...again].slice(0, notifierLimits.pending) }
    }
    case 'test': {
      const test = { id: order.id, type: 'notification.test', at, data: { by: order.order.by, reason: order.order.reason } } as const
      // A test asks whether the receiver is back: it is not kept waiting.
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

function isRaised(given: unknown): given is Notification {
  try {
    fields({ id: text(64), at: whole })(given, '')
    const { id, type, data } = given as Partial<Notification>
    const isType = notificationTypes.includes(type as NotificationType)
    return /^[\w-]+$/.test(id ?? '') && isType && typeof data === 'object' && JSON.stringify(given).length <= mostRaised
  } catch {
    return false
  }
}
