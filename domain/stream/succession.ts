import { type Check, fields, flag, listOf, object, oneOf, optional, rule, text, whole } from '../checks.ts'
import { numberOfUnconfigured } from '../transfer/unconfigured-source.ts'
import { mostAsideBytes } from './aside.ts'
import { chainName, errorCode, u64, words } from './checks.ts'
import { compare, limits } from './gaps.ts'
import { fitting, initialStream, viewStream } from './reducer.ts'
import { gapStates, type StreamConfig, type StreamCount, type StreamState } from './stream.ts'
import { blockedBy } from './watermark.ts'

/** A signed source has one stream for each name that it had: a source that gets a node, loses it, or is renamed in the config has the same numbers under another name. */
type Named = Pick<StreamConfig, 'stream' | 'sourceId'>

/** Whether `other` may be a stream of the same numbers under another name; `isSuccessor` knows, once its state was read. */
export function mayBeSameSource(other: string, { stream, sourceId }: Named): boolean {
  const [bridge, chain, emitter, ...rest] = other.split(':')
  const [ownBridge, , ownEmitter] = stream.split(':')
  if (other === stream || rest.length > 0 || bridge !== ownBridge || emitter === undefined || emitter !== ownEmitter) return false
  const number = numberOfUnconfigured(chain ?? '')
  return sourceId !== undefined && (number === undefined || number === sourceId)
}

/** Whether `own` has the same numbers as a stream that is of another name: chains may have the same emitter, so that the chain's own number decides. */
export function isSuccessor(own: Named, { stream, sourceId }: Named): boolean {
  return mayBeSameSource(stream, own) && (numberOfUnconfigured(stream.split(':')[1] ?? '') ?? sourceId) === own.sourceId
}

/**
 * The state with which a stream goes on that had another name: all that is open, aside, missing, excepted and ordered is kept, and so is the watermark. Heights
 * are left out, since a signed source is not read by blocks. Throws Error that names the field of what no stream can have: whoever reaches Temporal can start
 * something under its id.
 */
export function succeed(predecessor: unknown, config: StreamConfig): StreamState {
  assertState(predecessor)
  const { first, next, open, aside = [], gaps, exceptions, counts, paused, distrusted, ordered, orders, maxOpen } = predecessor
  const state: StreamState = {
    ...initialStream({ ...config, first: predecessor.config.first }),
    ...{ first, next, aside, exceptions, counts },
    open: open.map(({ number, parked }) => ({ number, ...(parked !== undefined && { parked }) })),
    gaps: gaps.map(({ height: _, ...gap }) => gap),
    ...(paused && { paused }),
    ...(distrusted && { distrusted }),
    ...(ordered && { ordered, maxOpen: fitting(maxOpen) }),
    ...(orders && { orders }),
  }
  // Numbers that are aside are packed.
  viewStream(state)
  return state
}

/** Whether all that the other stream has not resolved, and all that it knows to exist, is among the numbers that this one proves: nothing is lost where the other ends. */
export function covers(own: Pick<StreamState, 'first' | 'next'>, other: StreamState): boolean {
  const lowest = blockedBy(other)?.number
  return (lowest === undefined || compare(lowest, own.first) >= 0) && compare(other.next, own.next) <= 0
}

const bytesOf = (value: unknown) => JSON.stringify(value ?? '').length
const order = { by: words, reason: words, at: whole }
const named = fields({ by: words, at: whole })
const counts: Readonly<Record<StreamCount, Check>> = {
  ...{ completed: whole, ignored: whole, rejected: whole, declined: whole, cancelled: whole },
  ...{ skipped: whole, undone: whole, forks: whole, unknown: whole },
}

const shape = fields({
  config: fields({ stream: text(256), origin: text(256), first: u64 }),
  first: u64,
  next: u64,
  open: listOf(fields({ number: u64, parked: optional(errorCode) }), limits.open),
  aside: optional(listOf(object({ code: errorCode, waits: optional(flag), runs: text(mostAsideBytes) }), 1_000)),
  gaps: listOf(
    object({
      ...{ from: u64, to: u64, state: oneOf(...gapStates), at: whole },
      ...{ code: optional(errorCode), chain: optional(chainName), height: optional(whole) },
    }),
    limits.gaps,
  ),
  exceptions: listOf(
    object({ number: u64, outcome: oneOf('rejected', 'declined', 'cancelled', 'skipped'), by: optional(words), reason: words, at: whole }),
    limits.exceptions,
  ),
  counts: object(counts),
  paused: optional(object(order)),
  distrusted: optional(object({ number: u64, height: optional(whole), by: words, at: whole })),
  ordered: optional(named),
  orders: optional(
    listOf(
      fields({ kind: text(32), ...order, facts: optional(rule((facts) => bytesOf(facts) < 1_000, 'short')), times: optional(whole) }),
      100,
    ),
  ),
  maxOpen: whole,
})

function assertState(value: unknown): asserts value is StreamState {
  shape(value, '')
  const { open, gaps, first, next } = value as StreamState
  const numbers = [...open.map(({ number }) => [number, number] as const), ...gaps.map(({ from, to }) => [from, to] as const)]
  const ascends = (list: readonly (readonly [string, string])[]) =>
    list.every(([from, to], at) => compare(from, to) <= 0 && (at === 0 || compare(list[at - 1]?.[1] ?? '', from) < 0))
  if (!ascends(gaps.map(({ from, to }) => [from, to]))) throw new Error('gaps: must ascend')
  if (!ascends(open.map(({ number }) => [number, number]))) throw new Error('open: must ascend')
  if (!numbers.every(([from, to]) => compare(first, from) <= 0 && compare(to, next) < 0)) throw new Error('next: must be above all numbers')
}
