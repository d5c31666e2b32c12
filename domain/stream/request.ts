import { forms, isOf } from '../text/forms.ts'
import { orderFacts, orderOf, withOrder } from '../order.ts'
import { clip } from './gaps.ts'
import { type Check, ofForm, pattern, rule, text, fields, listOf, oneOf, optional, byKind, whole } from '../field-checks.ts'
import type { RequestOf, StreamRequest, StreamState, StreamUpdate } from './stream.ts'

/** Code compares numbers as texts, so each number has only one valid spelling. */
export const isU64 = (value: unknown): value is string => isOf(forms.u64, value)
export const u64 = ofForm(forms.u64)
export const hash = text(128)
export const words = text(1_000)
const errorCode = pattern(/^[A-Z_]{1,32}$/, 'an error code')

/**
 * Limits of an update. A workflow's task must end within 5 s, and with a full list of numbers outside the window, a
 * request or a number takes about 1 ms. Portage's own lists are shorter, or the stream's client divides them.
 */
export const mostOfUpdate = { requests: 300, numbers: 2_000, intervals: 10_000 } as const

/**
 * Maximum intervals in a list. A list may need an interval per number, because numbers of a placed stream seldom
 * adjoin.
 */
const mostIntervals = 5_000

export const intervals: Check = (value, path) => {
  if (!Array.isArray(value) || value.length > mostIntervals)
    throw new Error(`${path}: must be a list of at most ${mostIntervals} intervals`)
  let below = -2n
  value.forEach((one: unknown, index) => {
    const [from = '', to = ''] = (Array.isArray(one) ? one : []) as readonly string[]
    u64(from, `${path}[${index}][0]`)
    u64(to, `${path}[${index}][1]`)
    if (BigInt(from) > BigInt(to)) throw new Error(`${path}[${index}]: ends before it begins`)
    if (BigInt(from) <= below + 1n) throw new Error(`${path}[${index}]: must be above the one before, and apart from it`)
    below = BigInt(to)
  })
}

const number: Check = (value, path) => {
  const [which, height]: readonly unknown[] = Array.isArray(value) ? value : []
  u64(which, `${path}[0]`)
  optional(whole)(height, `${path}[1]`)
}
const maxOpen: Check = (value, path) => {
  whole(value, path)
  if (value === 0) throw new Error(`${path}: must be at least 1; to stop the stream, pause it`)
}
const range = { from: whole, to: whole }
const finding = { numbers: listOf(number, mostOfUpdate.numbers), delivered: optional(intervals), ignored: optional(intervals) }
const reading = { ...range, ...finding, passed: intervals }
const named = { order: optional(fields({ by: words, reason: words })), by: optional(words), reason: optional(words) }
const decision = { number: u64, ...named }

const isTrue = rule((value) => value === true, 'true')

const table: { readonly [Kind in StreamRequest['kind']]: { readonly [Field in Exclude<keyof RequestOf<Kind>, 'kind'>]-?: Check } } = {
  scanned: { parentHash: hash, hash, ...reading },
  seen: { ...finding, received: optional(isTrue), missedBySpy: optional(intervals) },
  backfilled: reading,
  reread: { block: fields({ height: whole, hash }), ...named },
  audited: { upTo: u64, height: whole, present: intervals },
  classified: {
    from: u64,
    to: u64,
    state: oneOf('not-final', 'held', 'unobserved', 'unstarted'),
    code: optional(errorCode),
    chain: optional(ofForm(forms.name)),
  },
  completed: { ...range, numbers: intervals },
  undone: { numbers: intervals },
  closed: { number: u64, outcome: oneOf('rejected', 'declined', 'cancelled'), by: optional(words), reason: words },
  parked: { number: u64, code: errorCode, waits: optional(isTrue) },
  unparked: { number: u64 },
  skip: decision,
  unskip: decision,
  backfill: { ...named, ...range },
  trust: { number: u64, height: optional(whole), ...named },
  setMaxOpen: { ...named, maxOpen: optional(maxOpen) },
  configured: { stream: text(256), origin: text(256), maxOpen },
  pause: named,
  resume: named,
}

const request = byKind(Object.fromEntries(Object.entries(table).map(([kind, checks]) => [kind, fields(checks)])))

/** Throws an Error that names the field of a malformed update. Temporal then does not record the update. */
export function assertStreamUpdate(update: unknown): asserts update is StreamUpdate {
  const requests = listOf((one, path) => assertStreamRequest(one as StreamRequest, path), mostOfUpdate.requests)
  fields({ requests })(update, '')
  if (isTooLarge((update as StreamUpdate).requests)) throw new Error('requests: have too many numbers for one update')
}

type Lists = Partial<Record<'numbers' | 'present' | 'delivered' | 'ignored' | 'passed' | 'missedBySpy', readonly unknown[]>>

export function isTooLarge(requests: readonly StreamRequest[]): boolean {
  let [numbers, intervals] = [0, 0]
  for (const one of requests) {
    const { numbers: listed = [], present = [], delivered = [], ignored = [], passed = [], missedBySpy = [] } = one as Lists
    intervals += delivered.length + ignored.length + passed.length + missedBySpy.length
    if (one.kind === 'completed') intervals += listed.length
    // Each interval becomes a gap. If there are too many gaps, joining one takes as long as handling two numbers.
    else if (one.kind === 'undone' || one.kind === 'audited') numbers += 2 * (listed.length + present.length)
    else numbers += listed.length
  }
  return requests.length > mostOfUpdate.requests || numbers > mostOfUpdate.numbers || intervals > mostOfUpdate.intervals
}

export function assertStreamRequest(one: StreamRequest, path: string): void {
  request(one, path)
  if ('from' in one && BigInt(one.from) > BigInt(one.to)) throw new Error(`${path}.to: below from`)
  if (one.kind === 'closed' && one.outcome === 'cancelled') words(one.by, `${path}.by`)
  if (isStreamOrder(one) && one.kind !== 'resume' && !one.order) words(one.by, `${path}.order.by`)
  if (one.kind !== 'scanned' && one.kind !== 'backfilled') return
  for (const [index, [, height]] of one.numbers.entries()) {
    const isWithin = height !== undefined && height >= one.from && height <= one.to
    if (!isWithin) throw new Error(`${path}.numbers[${index}][1]: outside of the blocks read`)
  }
}

type OrderKind = 'skip' | 'unskip' | 'backfill' | 'trust' | 'reread' | 'setMaxOpen' | 'pause' | 'resume'
type Facts = Readonly<Record<string, string | number | undefined>>

export type StreamOrder = RequestOf<OrderKind>

const factsOf: { readonly [Kind in OrderKind]: (order: RequestOf<Kind>) => Facts } = {
  skip: ({ number }) => ({ number }),
  unskip: ({ number }) => ({ number }),
  backfill: ({ from, to }) => ({ from, to }),
  trust: ({ number, height }) => ({ number, height }),
  reread: ({ block }) => ({ block: block.height }),
  setMaxOpen: ({ maxOpen = 'configured' }) => ({ maxOpen }),
  pause: () => ({}),
  resume: () => ({}),
}

export function isStreamOrder(request: StreamRequest): request is StreamOrder {
  return Object.hasOwn(factsOf, request.kind)
}

export function noted(state: StreamState, order: StreamOrder, at: number): StreamState {
  const { by, reason } = orderOf(order, 'update')
  const facts = (factsOf[order.kind] as (order: StreamOrder) => Facts)(order)
  return { ...state, orders: withOrder(state.orders, { kind: order.kind, by: clip(by), reason: clip(reason), at, ...orderFacts(facts) }) }
}
