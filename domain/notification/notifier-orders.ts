import { fields, text, whole } from '../field-checks.ts'
import { type Order, withOrder } from '../order.ts'
import type { Notification, NotificationType } from './notification.ts'
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
/** All that processes raise. What Temporal knows is read there: whoever can send a signal must not have a delivery of his own making signed. */
const raisedTypes: readonly NotificationType[] = ['lane.spending_high']
/** So far may the clock of the process that raises one be ahead, ms. */
const mostAheadMs = 24 * 3_600_000

/** The state after an order. What is malformed changes nothing. @param at ms since the epoch, workflow time */
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
      // Nothing happened before 1970, and Temporal takes no time of a year before 0.
      const from = Math.max(0, Math.min(order.since, state.replay?.from ?? Infinity))
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

/** @param now workflow time: a time that no clock shows can be told to nobody, and would stop all that comes after it */
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
