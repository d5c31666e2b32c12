import { defined } from './defined.ts'
import { cut, oneLine } from './text/printable.ts'
import { foreign, timeText } from './text/web-ui-text.ts'

/** `by` is the name of a person, `portage` if Portage itself gave the order, or `unnamed`. */
export interface Order {
  readonly by: string
  readonly reason: string
}

export interface GivenOrder extends Order {
  readonly kind: string
  /** ms since the epoch, by the workflow's clock. */
  readonly at: number
  readonly facts?: OrderFacts
  /** Number of times in a row that the order was given. `at` is the last time. Absent: once. */
  readonly times?: number
}

type OrderFacts = Readonly<Record<string, string | number>>

const unnamed = 'unnamed'
export const byTemporal: Order = { by: unnamed, reason: 'cancelled through Temporal' }
export const portageItself = 'portage'
export const ordersKept = 32
const linesShown = 10
/** Maximum length of each field, in characters. */
export const orderLimits = { by: 100, reason: 500 } as const

/** Reads an order from any value, because a malformed signal must not fail a workflow task. */
export function orderOf(given: unknown, via: 'signal' | 'update' = 'signal'): Order {
  const outer = Object(given) as { order?: unknown }
  const { by, reason } = ('order' in outer ? Object(outer.order) : outer) as Partial<Record<keyof Order, unknown>>
  // A line break could forge an entry of another person in the list of orders.
  const name = cut(oneLine(by ?? ''), orderLimits.by)
  const why = cut(oneLine(reason ?? ''), orderLimits.reason)
  if (name === '') return { by: unnamed, reason: why || `${via} without a name` }
  return { by: name, reason: why || 'no reason given' }
}

/** Adds an order to the log. A repetition of the last order only changes its `times` and `at`. */
export function withOrder(log: readonly GivenOrder[] = [], given: GivenOrder): readonly GivenOrder[] {
  const last = log.at(-1)
  if (last && isSame(last, given)) return [...log.slice(0, -1), { ...given, times: (last.times ?? 1) + 1 }]
  return [...log, given].slice(-ordersKept)
}

function isSame(a: GivenOrder, b: GivenOrder): boolean {
  return a.kind === b.kind && a.by === b.by && a.reason === b.reason && JSON.stringify(a.facts) === JSON.stringify(b.facts)
}

export function orderDetails({ facts = {}, times }: GivenOrder): string[] {
  return [...Object.entries(facts).map(([name, value]) => `${name} ${value}`), ...(times === undefined ? [] : [`${times} times`])]
}

export function orderText(given: GivenOrder): string {
  const { kind, by, reason } = given
  const named = orderDetails(given)
  return `${kind} by ${by}: ${reason}${named.length > 0 ? ` (${named.join(', ')})` : ''}`
}

export function orderLines(orders: readonly GivenOrder[] = []): string[] {
  const newest = orders.slice(-linesShown).toReversed()
  return newest.map((order) => `- ${timeText(order.at)} ${foreign(orderText(order))}`)
}

export function orderFacts(named: Readonly<Record<string, string | number | undefined>>): { facts?: OrderFacts } {
  const facts = defined(named) as OrderFacts
  return Object.keys(facts).length > 0 ? { facts } : {}
}
