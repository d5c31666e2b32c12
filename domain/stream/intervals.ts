export type Interval = readonly [from: bigint, to: bigint]
/** A set of u64 numbers: ascending intervals that neither touch nor overlap. */
export type Intervals = readonly Interval[]
export type IntervalSet = readonly (readonly [from: string, to: string])[]
/** `5x4,4` is 5 to 9 and 13. Each item: distance from the last interval and, unless 0, `x` and the length - 1. */
export type PackedIntervals = string

export function joinIntervals(intervals: readonly Interval[]): Intervals {
  const joined: [bigint, bigint][] = []
  for (const [from, to] of intervals.toSorted(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0))) {
    const last = joined.at(-1)
    if (!last || last[1] + 1n < from) joined.push([from, to])
    else if (last[1] < to) last[1] = to
  }
  return joined
}

export function subtractIntervals(intervals: Intervals, others: readonly Interval[]): Intervals {
  const left: Interval[] = []
  let at = 0
  for (const [from, to] of intervals) {
    while ((others[at]?.[1] ?? from) < from) at++
    let low = from
    for (let index = at, other = others[index]; other && other[0] <= to; other = others[++index]) {
      if (low < other[0]) left.push([low, other[0] - 1n])
      if (low <= other[1]) low = other[1] + 1n
    }
    if (low <= to) left.push([low, to])
  }
  return left
}

/** Same result as `subtractIntervals`, but faster, because most intervals are only copied. */
export function withoutInterval(intervals: Intervals, from: bigint, to: bigint): Intervals {
  const [first, last] = [indexAt(intervals, from), indexAt(intervals, to + 1n)]
  const [low, high] = [intervals[first]?.[0] ?? to, intervals[last]?.[0] ?? to + 1n]
  const end = high <= to ? last + 1 : last
  const highest = intervals[end - 1]?.[1] ?? to
  const below: readonly Interval[] = end > first && low < from ? [[low, from - 1n]] : []
  const above: readonly Interval[] = end > first && highest > to ? [[to + 1n, highest]] : []
  return [...intervals.slice(0, first), ...below, ...above, ...intervals.slice(end)]
}

/** Same result as `joinIntervals`, but faster. */
export function withNumber(intervals: Intervals, number: bigint): Intervals {
  const first = indexAt(intervals, number - 1n)
  const [one, two] = [intervals[first], intervals[first + 1]]
  if (!one || one[0] > number + 1n) return intervals.toSpliced(first, 0, [number, number])
  const [from, to] = [one[0] < number ? one[0] : number, one[1] > number ? one[1] : number]
  if (two && two[0] === to + 1n) return intervals.toSpliced(first, 2, [from, two[1]])
  return intervals.toSpliced(first, 1, [from, to])
}

export function subtractNumbers(intervals: Intervals, numbers: Iterable<bigint | string>): Intervals {
  return subtractIntervals(intervals, singles(numbers))
}

export function intersection(intervals: Intervals, others: Intervals): Intervals {
  return subtractIntervals(intervals, subtractIntervals(intervals, others))
}

export function singles(numbers: Iterable<bigint | string>): Intervals {
  return joinIntervals(Array.from(numbers, (number) => [BigInt(number), BigInt(number)]))
}

export function overlaps(intervals: Intervals, from: bigint, to: bigint = from): boolean {
  const found = intervals[indexAt(intervals, from)]
  return found !== undefined && found[0] <= to
}

export function overlapping(intervals: Intervals, from: bigint, to: bigint): Intervals {
  const [first, end] = [indexAt(intervals, from), indexAt(intervals, to + 1n)]
  return intervals.slice(first, (intervals[end]?.[0] ?? to + 1n) <= to ? end + 1 : end)
}

export function countIn(intervals: Intervals): bigint {
  return intervals.reduce((sum, [from, to]) => sum + to - from + 1n, 0n)
}

export function takeNumbers(intervals: Intervals, from: bigint, most: number): readonly bigint[] {
  const first = indexAt(intervals, from)
  const taken: bigint[] = []
  const take = (low: bigint, high: bigint) => {
    for (let number = low; number <= high && taken.length < most; number++) taken.push(number)
  }
  for (const [low, high] of intervals.slice(first)) take(low < from ? from : low, high)
  for (const [low, high] of intervals.slice(0, first + 1)) take(low, high < from ? high : from - 1n)
  return taken
}

function indexAt(intervals: Intervals, number: bigint): number {
  let [low, high] = [0, intervals.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if ((intervals[middle]?.[1] ?? 0n) < number) low = middle + 1
    else high = middle
  }
  return low
}

/** Maximum length of an item: two numbers of 20 digits (u64), and the `x` between them. */
const longestItem = 41
/** Approximate memory of the intervals of one packed character, bytes. */
const bytesPerCharacter = 64

/** Approximate memory of the unpacked intervals, bytes. */
export function bytesToUnpack({ length }: PackedIntervals): number {
  return length * bytesPerCharacter
}

/** Maximum length of a packed list: twice the size at which a stream merges its lists. */
const longestList = 48 * 1_024

/**
 * Throws RangeError for a forged list whose intervals could fill the memory of the process. After one long number, each
 * later number is at least as long.
 */
export function unpack(packed: PackedIntervals): Intervals {
  let end = 0n
  if (packed === '') return []
  if (packed.length > longestList) throw new RangeError(`packed intervals of ${packed.length} characters`)
  return packed.split(',').map((item) => {
    if (item.length > longestItem) throw new RangeError(`an interval of ${item.length} characters`)
    const [above = '0', more = '0'] = item.split('x')
    const from = end + BigInt(above)
    end = from + BigInt(more)
    return [from, end] as const
  })
}

export function pack(intervals: Intervals): PackedIntervals {
  let end = 0n
  const items = intervals.map(([from, to]) => {
    const above = textOf(from - end)
    end = to
    return to === from ? above : `${above}x${textOf(to - from)}`
  })
  return items.join(',')
}

/** The size as text. Printing a bigint takes several times as long as printing a number. */
const textOf = (size: bigint) => (size <= Number.MAX_SAFE_INTEGER ? String(Number(size)) : String(size))

export const parse = (set: IntervalSet): Intervals => set.map(([from, to]) => [BigInt(from), BigInt(to)])
export const toSet = (intervals: Intervals): IntervalSet => intervals.map(([from, to]) => [String(from), String(to)])

/** Throws RangeError unless `from` and `to` are whole numbers and `from` is at most `to`. */
export function addInterval(set: IntervalSet, from: string, to: string = from): IntervalSet {
  if (!/^[0-9]+$/.test(from) || !/^[0-9]+$/.test(to)) throw new RangeError(`${from} or ${to} is not a whole number`)
  if (BigInt(from) > BigInt(to)) throw new RangeError(`${from} is above ${to}`)
  return union(set, [[from, to]])
}

export function union(set: IntervalSet, more: IntervalSet): IntervalSet {
  return toSet(joinIntervals([...parse(set), ...parse(more)]))
}

export function without(set: IntervalSet, from: string, to: string): IntervalSet {
  return toSet(subtractIntervals(parse(set), parse([[from, to]])))
}

export function missingBetween(set: IntervalSet, from: string, to: string): IntervalSet {
  return BigInt(from) > BigInt(to) ? [] : toSet(subtractIntervals(parse([[from, to]]), parse(set)))
}

export const setOf = (numbers: readonly string[]): IntervalSet => toSet(singles(numbers))

export function hasNumber(set: IntervalSet, number: string): boolean {
  const wanted = BigInt(number)
  return set.some(([from, to]) => BigInt(from) <= wanted && wanted <= BigInt(to))
}

export function countNumbers(set: IntervalSet): bigint {
  return countIn(parse(set))
}
