import { type Check, fields, flag, listOf, object, oneOf, optional, rule, text, whole } from '../checks.ts'
import { numberOfUnconfigured } from '../transfer/unconfigured-source.ts'
import { mostAsideBytes, runsAside, takeBack } from './aside.ts'
import { chainName, errorCode, u64, words } from './checks.ts'
import { bounded, compare, limits, min, newGap, punch } from './gaps.ts'
import { fitting, initialStream, viewStream } from './reducer.ts'
import { hasRun, joinRuns, type Run, withoutRuns } from './runs.ts'
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

/** So many numbers above the source's own count a stream may know: a spy tells what our nodes do not show as final yet. */
const mostAhead = 1_000n

/**
 * A stream's state up to the source's own count: what it claims above is left out, which that count shows again. Undefined: it claims so much more that Portage
 * has not written it. @param highest the highest number that the source has given out; undefined: none
 */
export function withinCount(state: StreamState, highest: string | undefined): StreamState | undefined {
  const end = highest === undefined ? 0n : BigInt(highest) + 1n
  const [first, next] = [BigInt(state.first), BigInt(state.next)]
  if (next <= end) return state
  if (next - end > mostAhead) return undefined
  const open = state.open.filter(({ number }) => BigInt(number) < end)
  const gaps = punch(state.gaps, String(end), state.next)
  return { ...takeBack(state, String(end), state.next), first: String(min(first, end)), next: String(end), open, gaps }
}

/** All that is known to exist and not resolved: open, aside, missing. */
export function unresolvedRuns({ open, gaps, aside = [] }: Unresolved): readonly Run[] {
  const opened = open.map(({ number }) => [BigInt(number), BigInt(number)] as const)
  const missing = gaps.map(({ from, to }) => [BigInt(from), BigInt(to)] as const)
  return joinRuns([...opened, ...missing, ...runsAside({ aside }, () => true).flat()])
}

type Unresolved = Pick<StreamState, 'open' | 'gaps' | 'aside'>

/**
 * With what a stream begins whose numbers had several others: what one of them has not resolved, or does not know, is resolved by no other's word. Beside that as
 * the one says whose watermark is lowest. Undefined: of none. @param at ms since the epoch
 */
export function unite(states: readonly StreamState[], at: number): StreamState | undefined {
  const lowestOpen = (state: StreamState) => blockedBy(state)?.number ?? state.next
  const [base, ...others] = states.toSorted((a, b) => compare(lowestOpen(a), lowestOpen(b)))
  if (!base || others.length === 0) return base
  const lowest = (...all: readonly string[]) => all.toSorted(compare)[0] ?? '0'
  const nexts = states.map(({ next }) => next).toSorted(compare)
  const [known, next] = [BigInt(nexts[0] ?? 0), nexts.at(-1) ?? base.next]
  const tail: readonly Run[] = known < BigInt(next) ? [[known, BigInt(next) - 1n]] : []
  const more = withoutRuns(joinRuns([...states.flatMap(unresolvedRuns), ...tail]), unresolvedRuns(base))
  const gaps = [...base.gaps, ...more.map(([from, to]) => newGap(base, from, to, 'unasked', at))]
  return bounded({
    ...base,
    config: { ...base.config, first: lowest(...states.map(({ config }) => config.first)) },
    first: lowest(...states.map(({ first }) => first)),
    next,
    gaps: gaps.toSorted((a, b) => compare(a.from, b.from)),
    exceptions: base.exceptions.filter(({ number }) => !hasRun(more, BigInt(number))),
  })
}

/**
 * What the other stream has not resolved, and this one neither has unresolved nor lists as an exception: it would be lost where the other ends.
 * @param counted the source's own highest number: what this one has up to there, from its first on, it was told by the source, and has resolved itself
 */
export function uncovered(own: StreamState, other: Unresolved, counted?: string): readonly Run[] {
  const excepted = own.exceptions.map(({ number }) => [BigInt(number), BigInt(number)] as const)
  const [first, last] = [BigInt(own.first), min(BigInt(counted ?? 0), BigInt(own.next) - 1n)]
  const proved: readonly Run[] = counted !== undefined && first <= last ? [[first, last]] : []
  return withoutRuns(unresolvedRuns(other), joinRuns([...unresolvedRuns(own), ...excepted, ...proved]))
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
