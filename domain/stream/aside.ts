import type { IntervalSet } from './interval-set.ts'
import type { AsideNumbers, StreamState } from './stream.ts'
import { addNumber, countRuns, cutRuns, hasRun, packRuns, unpackRuns } from './runs.ts'

/** Most bytes of all numbers that are aside: some 8,000 runs of numbers that are near each other. A run is of any length. */
export const mostAsideBytes = 24 * 1024
/** From this on the alarm `crowded` is raised. */
const crowdedBytes = mostAsideBytes / 2

type Runs = ReturnType<typeof unpackRuns>
const known = new WeakMap<AsideNumbers, Runs>()

/** Unpacked once for each value of the state, which is never changed in place. */
function runsOf(numbers: AsideNumbers): Runs {
  const before = known.get(numbers)
  if (before) return before
  const runs = unpackRuns(numbers.runs)
  known.set(numbers, runs)
  return runs
}

function withRuns(numbers: AsideNumbers, runs: Runs): AsideNumbers {
  const changed = { ...numbers, runs: packRuns(runs) }
  known.set(changed, runs)
  return changed
}

/** Why the number is aside; undefined: it is not. */
export function asideOf({ aside }: Pick<StreamState, 'aside'>, number: string): AsideNumbers | undefined {
  return aside.find((one) => hasRun(runsOf(one), BigInt(number)))
}

export function isAnyAside({ aside }: StreamState, from: string, to: string): boolean {
  return aside.some((one) => hasRun(runsOf(one), BigInt(from), BigInt(to)))
}

/** The state with this number aside for this reason and no other. Undefined: there is no room. */
export function putAside(state: StreamState, number: string, why: Pick<AsideNumbers, 'code' | 'waits'>): StreamState | undefined {
  const others = takeBack(state, number, number).aside
  const isSame = (one: AsideNumbers) => one.code === why.code && one.waits === why.waits
  const before = others.find(isSame) ?? { ...why, runs: '' }
  const after = withRuns(before, addNumber(runsOf(before), BigInt(number)))
  const aside = [...others.filter((one) => !isSame(one)), after]
  return bytesOf(aside) > mostAsideBytes ? undefined : { ...state, aside }
}

/** The state with none of the numbers from … to aside. */
export function takeBack(state: StreamState, from: string, to: string): StreamState {
  const { aside } = state
  if (!isAnyAside(state, from, to)) return state
  const left = aside.flatMap((one) => {
    const runs = cutRuns(runsOf(one), BigInt(from), BigInt(to))
    return runs.length > 0 ? [withRuns(one, runs)] : []
  })
  return { ...state, aside: left }
}

/** The lowest number that is aside, and why. */
export function lowestAside({ aside }: StreamState): { readonly number: string; readonly why: AsideNumbers } | undefined {
  const lowest = aside.map((why) => ({ number: runsOf(why)[0]?.[0] ?? 0n, why })).sort((a, b) => (a.number < b.number ? -1 : 1))[0]
  return lowest && { number: String(lowest.number), why: lowest.why }
}

/** Per reason, how many. */
export function countAside({ aside }: StreamState): readonly { readonly why: AsideNumbers; readonly count: number }[] {
  return aside.map((why) => ({ why, count: Number(countRuns(runsOf(why))) }))
}

/** The runs of those that are aside for reasons like this. */
export function runsAside({ aside }: Pick<StreamState, 'aside'>, isWanted: (why: AsideNumbers) => boolean): readonly Runs[] {
  return aside.filter(isWanted).map(runsOf)
}

/** All of one reason. */
export const intervalsOf = (numbers: AsideNumbers): IntervalSet => runsOf(numbers).map(([from, to]) => [String(from), String(to)])

/** Every number that is aside, with its reason, until the caller has enough. */
export function* asideNumbers({ aside }: Pick<StreamState, 'aside'>): Generator<{ readonly number: string; readonly why: AsideNumbers }> {
  for (const why of aside)
    for (const [from, to] of runsOf(why)) for (let number = from; number <= to; number++) yield { number: String(number), why }
}

export const isCrowded = ({ aside }: StreamState): boolean => bytesOf(aside) > crowdedBytes

function bytesOf(aside: readonly AsideNumbers[]): number {
  return aside.reduce((sum, { runs, code }) => sum + runs.length + code.length + 32, 0)
}
