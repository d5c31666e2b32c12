import { hasNumber, type IntervalSet, missingBetween } from './interval-set.ts'
import type { Finding, Reading, StreamAnswer, StreamCount, StreamException, StreamState } from './stream.ts'
import { asideOf, intervalsOf, isAnyAside, takeBack } from './aside.ts'
import { bounded, clip, compare, hasGap, interval, limits, mark, max, min, punch, without, newGap } from './gaps.ts'

/** One step of the reducer: the state it leads to, and its answer. */
export interface StreamStep {
  readonly state: StreamState
  readonly answer: StreamAnswer
}

export const done = (state: StreamState): StreamStep => ({ state, answer: { kind: 'done' } })
export const present = (state: StreamState): StreamStep => ({ state, answer: { kind: 'present' } })
export const refused = (state: StreamState, detail: string): StreamStep => ({ state, answer: { kind: 'refused', detail } })

/** How many transfers may be opened now. Those that are aside take no room; parked ones that did not fit there take none of `maxOpen`. */
export function room({ open, maxOpen }: StreamState): number {
  const active = open.filter(({ parked }) => parked === undefined).length
  return Math.max(0, Math.min(maxOpen - active, limits.open - open.length))
}

const isExcepted = ({ exceptions }: StreamState, number: string) => exceptions.some((one) => one.number === number)

export function isUnresolved(state: StreamState, number: string): boolean {
  return hasGap(state.gaps, BigInt(number)) || isStarted(state, number)
}

/** Seen, and not resolved: it needs no room again. */
export function isStarted(state: StreamState, number: string): boolean {
  return state.open.some((one) => one.number === number) || asideOf(state, number) !== undefined
}

/** Whether a transfer of this number is to be started, or started again, if the source shows it: not if it is resolved. */
export function isWanted(state: StreamState, number: string): boolean {
  return isUnresolved(state, number) || (BigInt(number) >= BigInt(state.next) && !isExcepted(state, number))
}

/** Whether a number is resolved by a delivery, or by somebody's word that it needs none: known to exist, and neither open, nor in a gap, nor excepted. */
export function isResolved(state: StreamState, number: string): boolean {
  const isKnown = BigInt(number) >= BigInt(state.config.first) && BigInt(number) < BigInt(state.next)
  return isKnown && !isUnresolved(state, number) && !isExcepted(state, number)
}

/** As `isWanted`, of a set: whether one of them is to be started. */
export function isAnyWanted(state: StreamState, numbers: IntervalSet): boolean {
  const { gaps, open, next, exceptions } = state
  const excepted = exceptions.map(({ number }) => [number, number] as const).sort(([a], [b]) => compare(a, b))
  return numbers.some(([from, to]) => {
    const isWithin = (low: string, high: string) => compare(low, to) <= 0 && compare(from, high) <= 0
    if (gaps.some((one) => isWithin(one.from, one.to)) || open.some(({ number }) => isWithin(number, number))) return true
    if (isAnyAside(state, from, to)) return true
    return missingBetween(excepted, String(max(BigInt(from), BigInt(next))), to).length > 0
  })
}

/** The numbers of the finding are open, or resolved if delivered or ignored; what lies between becomes gaps that nobody was asked for yet. Undefined: no room for all, nothing is changed. */
export function learn(state: StreamState, finding: Finding, at: number): StreamState | undefined {
  const open = new Map(state.open.map((one) => [one.number, one]))
  let { gaps, unknownCompletions, counts, marks } = state
  let next = BigInt(state.next)
  let left = state
  for (const [number, height] of [...finding.numbers].sort(([a], [b]) => compare(a, b))) {
    const wanted = BigInt(number)
    const known = open.get(number)
    const isNew = wanted >= next || hasGap(gaps, wanted)
    const isAside = asideOf(left, number) !== undefined
    if (!isNew && !known && !isAside) continue
    if (wanted > next) gaps = [...gaps, newGap({ ...state, marks }, next, wanted - 1n, 'unasked', at)]
    if (wanted < next && isNew) gaps = punch(gaps, number, number)
    if (wanted >= next) next = wanted + 1n
    const over = endOf(finding, number)
    const early = hasNumber(unknownCompletions, number)
    unknownCompletions = without(unknownCompletions, number, number)
    if (over) {
      open.delete(number)
      left = takeBack(left, number, number)
      counts = { ...counts, [over]: counts[over] + 1 }
    } else if (isNew && isExcepted(state, number)) {
      // Known from a checkpoint, or forgotten among gaps: it stays so.
      open.delete(number)
    } else if (!known && !isAside) open.set(number, { number, ...(height !== undefined && { height }), ...(early && { early }) })
    else if (known && height !== undefined && known.height === undefined) open.set(number, { ...known, height })
    if (height !== undefined) marks = mark(marks, number, height)
  }
  const opened = [...open.values()].sort((a, b) => compare(a.number, b.number))
  const added = opened.length - state.open.filter(({ number }) => open.has(number)).length
  if (added > room(state)) return undefined
  return bounded({ ...left, next: String(next), open: opened, gaps, unknownCompletions, counts, marks })
}

/** A reading with those of what it passed that lie above all that is known: they are resolved by an exception, and known from here on. */
export function withPassed(state: StreamState, reading: Reading): Finding {
  const above = state.exceptions.filter(({ number }) => compare(number, state.next) >= 0 && hasNumber(reading.passed, number))
  return { ...reading, numbers: [...reading.numbers, ...above.map(({ number }) => [number] as const)] }
}

function endOf({ delivered, ignored }: Finding, number: string): 'completed' | 'ignored' | undefined {
  if (hasNumber(delivered ?? [], number)) return 'completed'
  return hasNumber(ignored ?? [], number) ? 'ignored' : undefined
}

/** These numbers, if they had been resolved without an exception, are to be started again. Numbers below `first` too: chains outrank words. */
export function reopen(state: StreamState, from: string, to: string, at: number): StreamState {
  const [low, high] = [max(BigInt(from), BigInt(state.config.first)), min(BigInt(to), BigInt(state.next) - 1n)]
  if (low > high) return state
  const numbers = [...state.open, ...state.exceptions].map(({ number }) => [number, number] as const)
  const aside = state.aside.flatMap(intervalsOf)
  const taken = [...state.gaps.map(interval), ...numbers, ...aside].sort(([a], [b]) => compare(a, b))
  const again = missingBetween(taken, String(low), String(high)).map(([start, end]) =>
    newGap(state, BigInt(start), BigInt(end), 'undone', at),
  )
  return again.length === 0 ? state : bounded({ ...state, gaps: [...state.gaps, ...again].sort((a, b) => compare(a.from, b.from)) })
}

/** Takes a number out of open and gaps: it is resolved. */
export function resolve(state: StreamState, number: string): StreamState {
  const open = state.open.filter((one) => one.number !== number)
  const unknownCompletions = without(state.unknownCompletions, number, number)
  return bounded({ ...takeBack(state, number, number), open, gaps: punch(state.gaps, number, number), unknownCompletions })
}

export function except(state: StreamState, exception: StreamException): StreamState {
  const listed = { ...exception, reason: clip(exception.reason), ...(exception.by !== undefined && { by: clip(exception.by) }) }
  const others = state.exceptions.filter(({ number }) => number !== exception.number)
  return count({ ...state, exceptions: [...others, listed].slice(-limits.exceptions) }, exception.outcome)
}

export function count(state: StreamState, what: StreamCount, by = 1): StreamState {
  return { ...state, counts: { ...state.counts, [what]: state.counts[what] + by } }
}
