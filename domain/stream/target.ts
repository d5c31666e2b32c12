import { orderOf } from '../order.ts'
import { asideOf, countAside, putAside, takeBack } from './aside.ts'
import { countNumbers, hasNumber, type IntervalSet } from './interval-set.ts'
import type { OpenNumber, RequestOf, StreamState } from './stream.ts'
import { bounded, compare, limits, max, min, union, without } from './gaps.ts'
import { count, done, except, isUnresolved, present, refused, reopen, resolve, type StreamStep } from './numbers.ts'

/**
 * COMPLETE_EVENT_PROCESSING: completions in final blocks of the target, by whomever. One of a number that was never seen resolves nothing, since its id could
 * not be compared: it is kept, with an alarm, until the number is seen. The audit finds completions that were lost with an earlier state.
 */
export function completed(state: StreamState, { numbers, from, to }: RequestOf<'completed'>): StreamStep {
  const open = state.open.filter(({ number }) => !hasNumber(numbers, number))
  const exceptions = state.exceptions.filter(({ number }) => !hasNumber(numbers, number))
  const unknown = unseen(state, numbers)
  const unknownCompletions = union(state.unknownCompletions, unknown)
  const fresh = Number(countNumbers(unknownCompletions) - countNumbers(state.unknownCompletions))
  const follows = state.target === undefined || from <= state.target + 1
  const target = follows ? Math.max(to, state.target ?? 0) : state.target
  const left = numbers.reduce((known, [low, high]) => takeBack(known, low, high), state)
  const delivered = state.open.length - open.length + asideCount(state) - asideCount(left)
  const after = { ...left, open, exceptions, unknownCompletions, ...(target !== undefined && { target }) }
  return done(bounded(count(count(after, 'completed', delivered), 'unknown', fresh)))
}

const asideCount = (state: StreamState) => countAside(state).reduce((sum, { count: some }) => sum + some, 0)

/** Those that are in a gap, or above everything that is known. */
function unseen({ gaps, next }: StreamState, numbers: IntervalSet): IntervalSet {
  return numbers.reduce<IntervalSet>((set, [from, to]) => {
    const inGaps = gaps.flatMap((gap) => cut(gap.from, gap.to, from, to))
    const above = BigInt(to) >= BigInt(next) ? [[String(max(BigInt(from), BigInt(next))), to] as const] : []
    return union(set, [...inGaps, ...above])
  }, [])
}

function cut(a: string, b: string, from: string, to: string): IntervalSet {
  const [low, high] = [max(BigInt(a), BigInt(from)), min(BigInt(b), BigInt(to))]
  return low > high ? [] : [[String(low), String(high)]]
}

/** A reorganisation of the target deeper than its finality. The only thing that makes the watermark fall without an operator's order. */
export function undone(state: StreamState, { numbers }: RequestOf<'undone'>, at: number): StreamStep {
  const unknownCompletions = numbers.reduce((set, [from, to]) => without(set, from, to), state.unknownCompletions)
  const again = numbers.reduce((known, [from, to]) => reopen(known, from, to, at), { ...state, unknownCompletions })
  return done(count(again, 'undone', Number(inGaps(again) - inGaps(state))))
}

const inGaps = ({ gaps }: StreamState) => gaps.reduce((sum, { from, to }) => sum + BigInt(to) - BigInt(from) + 1n, 0n)

/** The transfer ended without a delivery: resolved, with an exception. One that is to be started again has to be seen again first. */
export function closed(state: StreamState, { number, outcome, by, reason }: RequestOf<'closed'>, at: number): StreamStep {
  const undone = state.gaps.some((gap) => gap.state === 'undone' && hasNumber([[gap.from, gap.to]], number))
  if (undone || !isUnresolved(state, number)) return present(state)
  return done(except(resolve(state, number), { number, outcome, ...(by !== undefined && { by }), reason, at }))
}

/**
 * In sight, and out of the way of others: aside, and where there is no more room there, in `open` with its code. One whose early completion is to be verified
 * stays in `open`. One that only waits is left there, too: it then takes its room as before.
 */
export function park(state: StreamState, { number, code, waits }: Omit<RequestOf<'parked'>, 'kind'>): StreamStep {
  const known = state.open.find((one) => one.number === number)
  if (!known && !asideOf(state, number)) return present(state)
  const put = known?.early ? undefined : putAside(state, number, { code, ...(waits && { waits }) })
  if (put) return done({ ...put, open: put.open.filter((one) => one.number !== number) })
  if (waits || !known) return present(state)
  return done({ ...state, open: state.open.map((one) => (one === known ? { ...one, parked: code } : one)) })
}

/** It runs again. One that finds no place in `open` stays aside, where it is resolved as well. */
export function unpark(state: StreamState, number: string): StreamStep {
  if (asideOf(state, number)) {
    if (state.open.length >= limits.open) return present(state)
    const open = [...state.open, { number }].sort((a, b) => compare(a.number, b.number))
    return done({ ...takeBack(state, number, number), open })
  }
  if (!state.open.some((one) => one.number === number)) return present(state)
  const running = ({ parked: _, ...rest }: OpenNumber) => rest
  return done({ ...state, open: state.open.map((one) => (one.number === number ? running(one) : one)) })
}

export function skip(state: StreamState, request: RequestOf<'skip' | 'unskip'>, at: number): StreamStep {
  const { number } = request
  const { by, reason } = orderOf(request, 'update')
  if (compare(number, state.next) >= 0) return refused(state, `${number} is not known to exist: the highest number is below ${state.next}`)
  if (!isUnresolved(state, number)) return present(state)
  return done(except(resolve(state, number), { number, outcome: 'skipped', by, reason, at }))
}

/** A number that is resolved, by an exception or not, is to be started again. */
export function unskip(state: StreamState, number: string, at: number): StreamStep {
  const exceptions = state.exceptions.filter((one) => one.number !== number)
  return done(reopen({ ...state, exceptions }, number, number, at))
}
