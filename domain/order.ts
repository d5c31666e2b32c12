import { foreign, timeText } from './text/web-ui-text.ts'

/** Who ordered something, and why. Every order of a person, or of Portage itself (`portage`), has both; both stay in the history of what it changed. */
export interface Order {
  readonly by: string
  readonly reason: string
}

/** An order as the workflow that obeyed it keeps it. */
export interface GivenOrder extends Order {
  /** The word of the command: `retry`, `pause`, `replace`… */
  readonly kind: string
  /** ms since the epoch, by the clock of the workflow. */
  readonly at: number
  /** What it named: a nonce, a number, a window, fees. */
  readonly facts?: OrderFacts
  /** How often it came one after the other; absent: once. `at` is of the last one. */
  readonly times?: number
}

type OrderFacts = Readonly<Record<string, string | number>>

/** The name of one that came without a name: a signal that somebody sent by hand, past the API and the command line. */
export const unnamed = 'unnamed'
/** The name of Portage's own orders. */
export const portageItself = 'portage'
/** Orders that a state keeps, the newest; the history of its workflow has all. */
export const ordersKept = 32
/** Of the details in the Web UI. */
const linesShown = 10
/** Longest name and reason, characters. */
export const orderLimits = { by: 100, reason: 500 } as const

/**
 * The order in a signal or an update, whatever a hand has typed there. Those of recorded histories have `by` (or `operator`) and `reason` beside the other
 * fields. Never throws: a missing name must not fail a workflow's task.
 * @param via how it came, said where there is no name
 */
export function orderOf(given: unknown, via: 'signal' | 'update' = 'signal'): Order {
  const outer = recordOf(given)
  const { by, reason } = 'order' in outer ? recordOf(outer['order']) : outer
  const name = oneLine(by, orderLimits.by)
  const why = oneLine(reason, orderLimits.reason)
  if (name === '') return { by: unnamed, reason: why || `${via} without a name` }
  return { by: name, reason: why || 'no reason given' }
}

/** The log of a state with one more order; the oldest is dropped when there are too many. The same order again does not push others out. */
export function withOrder(log: readonly GivenOrder[] = [], given: GivenOrder): readonly GivenOrder[] {
  const last = log.at(-1)
  if (last && isSame(last, given)) return [...log.slice(0, -1), { ...given, times: (last.times ?? 1) + 1 }]
  return [...log, given].slice(-ordersKept)
}

function isSame(a: GivenOrder, b: GivenOrder): boolean {
  return a.kind === b.kind && a.by === b.by && a.reason === b.reason && JSON.stringify(a.facts) === JSON.stringify(b.facts)
}

/** What the order named, and how often it came: `nonce 118`. */
export function orderDetails({ facts = {}, times }: GivenOrder): string[] {
  return [...Object.entries(facts).map(([name, value]) => `${name} ${value}`), ...(times === undefined ? [] : [`${times} times`])]
}

/** Without the time: `replace by night-shift: the fee is too low (nonce 118)`. */
export function orderText(given: GivenOrder): string {
  const { kind, by, reason } = given
  const named = orderDetails(given)
  return `${kind} by ${by}: ${reason}${named.length > 0 ? ` (${named.join(', ')})` : ''}`
}

/** For the details in the Web UI, newest first: a line of Markdown for each of the newest orders. */
export function orderLines(orders: readonly GivenOrder[] = []): string[] {
  const newest = orders.slice(-linesShown).toReversed()
  return newest.map((order) => `- ${timeText(order.at)} ${foreign(orderText(order))}`)
}

/** The fields that are there, as the facts of a record. */
export function orderFacts(named: Readonly<Record<string, string | number | undefined>>): { facts?: OrderFacts } {
  const facts: Record<string, string | number> = {}
  for (const [name, value] of Object.entries(named)) if (value !== undefined) facts[name] = value
  return Object.keys(facts).length > 0 ? { facts } : {}
}

/** A text in one line: it is shown among others, and whoever can send a signal must not write lines of his own there. */
function oneLine(given: unknown, longest: number): string {
  if (given === undefined || given === null) return ''
  const text = typeof given === 'string' ? given : JSON.stringify(given)
  return text
    .replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\s]+/gu, ' ')
    .trim()
    .slice(0, longest)
}

function recordOf(given: unknown): Readonly<Record<string, unknown>> {
  return typeof given === 'object' && given !== null ? (given as Readonly<Record<string, unknown>>) : {}
}
