import { type Check, fields, listOf, oneOf, optional, rule, byKind, text, whole } from '../field-checks.ts'
import { chainName, errorCode, hash, intervals, u64, words } from './checks.ts'
import { isStreamOrder } from './orders.ts'
import type { RequestOf, StreamRequest, StreamUpdate } from './stream.ts'

/** Most numbers in one finding: an update stays far below Temporal's limits. */
const mostNumbers = 5_000

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
const finding = { numbers: listOf(number, mostNumbers), delivered: optional(intervals), ignored: optional(intervals) }
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
    chain: optional(chainName),
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

/** Refuses a malformed update before it is recorded. Throws Error that names the field. */
export function assertStreamUpdate(update: unknown): asserts update is StreamUpdate {
  fields({ requests: listOf((one, path) => assertStreamRequest(one as StreamRequest, path)) })(update, '')
}

export function assertStreamRequest(one: StreamRequest, path: string): void {
  request(one, path)
  if ('from' in one && BigInt(one.from) > BigInt(one.to)) throw new Error(`${path}.to: below from`)
  if (one.kind === 'closed' && one.outcome === 'cancelled') words(one.by, `${path}.by`)
  if (isStreamOrder(one) && one.kind !== 'resume' && !one.order) words(one.by, `${path}.order.by`)
  if (one.kind !== 'scanned' && one.kind !== 'backfilled') return
  // All numbers of a reading are in its blocks.
  for (const [index, [, height]] of one.numbers.entries()) {
    const isWithin = height !== undefined && height >= one.from && height <= one.to
    if (!isWithin) throw new Error(`${path}.numbers[${index}][1]: outside of the blocks read`)
  }
}
