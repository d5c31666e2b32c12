import { orderOf } from '../order.ts'
import { countNumbers, hasNumber, type IntervalSet } from './interval-set.ts'
import type { RequestOf, StreamState } from './stream.ts'
import { bounded, compare, max, min, union, without } from './gaps.ts'
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
  const after = { ...state, open, exceptions, unknownCompletions, ...(target !== undefined && { target }) }
  return done(bounded(count(count(after, 'completed', state.open.length - open.length), 'unknown', fresh)))
}

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

/** In sight, out of automatic tries. With no code: it runs again. */
export function park(state: StreamState, number: string, code?: string): StreamStep {
  if (!state.open.some((one) => one.number === number)) return present(state)
  const open = state.open.map((one) => {
    if (one.number !== number) return one
    const { parked: _, ...rest } = one
    return { ...rest, ...(code !== undefined && { parked: code }) }
  })
  return done({ ...state, open })
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
