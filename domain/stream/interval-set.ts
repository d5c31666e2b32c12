/** Whole numbers (u64) as plain JSON: closed intervals of decimal strings, ascending, neither touching nor overlapping. Without gaps it is one interval. */
export type IntervalSet = readonly (readonly [from: string, to: string])[]

/** The set with `from` … `to`, both included. Throws RangeError if they are not whole numbers in order. */
export function addInterval(set: IntervalSet, from: string, to: string = from): IntervalSet {
  let [low, high] = [whole(from), whole(to)]
  if (low > high) throw new RangeError(`${from} is above ${to}`)
  const before: (readonly [string, string])[] = []
  const after: (readonly [string, string])[] = []
  for (const interval of set) {
    const [start, end] = [BigInt(interval[0]), BigInt(interval[1])]
    if (end + 1n < low) before.push(interval)
    else if (start > high + 1n) after.push(interval)
    else {
      if (start < low) low = start
      if (end > high) high = end
    }
  }
  return [...before, [String(low), String(high)], ...after]
}

/** The set of these numbers, in whatever order. Throws as `addInterval`. */
export function setOf(numbers: Iterable<string>): IntervalSet {
  return [...numbers].reduce<IntervalSet>((set, number) => addInterval(set, number), [])
}

export function hasNumber(set: IntervalSet, number: string): boolean {
  const wanted = BigInt(number)
  return set.some(([from, to]) => BigInt(from) <= wanted && wanted <= BigInt(to))
}

/** How many numbers are in it. */
export function countNumbers(set: IntervalSet): bigint {
  return set.reduce((sum, [from, to]) => sum + BigInt(to) - BigInt(from) + 1n, 0n)
}

/** What lies in `from` … `to` and not in the set, as a set. Empty where `from` is above `to`. */
export function missingBetween(set: IntervalSet, from: string, to: string): IntervalSet {
  const last = BigInt(to)
  const missing: (readonly [string, string])[] = []
  let next = BigInt(from)
  for (const [start, end] of set) {
    const [low, high] = [BigInt(start), BigInt(end)]
    if (high < next) continue
    if (low > last) break
    if (low > next) missing.push([String(next), String(low - 1n)])
    next = high + 1n
  }
  if (next <= last) missing.push([String(next), String(last)])
  return missing
}

function whole(text: string): bigint {
  if (!/^[0-9]+$/.test(text)) throw new RangeError(`${text} is not a whole number`)
  return BigInt(text)
}
