/** Runs of whole numbers (u64), ascending, apart from each other, in short text: `5x4,3` is 5 to 9, then 13, which is three above the 9 and one. */
export type PackedRuns = string

export type Run = readonly [from: bigint, to: bigint]

/** Each item: how far above the end of the run before (the first: above 0), and, after an x, how many numbers follow the first one. */
export function unpackRuns(packed: PackedRuns): readonly Run[] {
  let end = 0n
  if (packed === '') return []
  return packed.split(',').map((item) => {
    const [above = '0', more = '0'] = item.split('x')
    const from = end + BigInt(above)
    end = from + BigInt(more)
    return [from, end] as const
  })
}

export function packRuns(runs: readonly Run[]): PackedRuns {
  let end = 0n
  const items = runs.map(([from, to]) => {
    const item = to === from ? String(from - end) : `${from - end}x${to - from}`
    end = to
    return item
  })
  return items.join(',')
}

/** Index of the first run that ends at the number or above it. */
function search(runs: readonly Run[], number: bigint): number {
  let [low, high] = [0, runs.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if ((runs[middle]?.[1] ?? 0n) < number) low = middle + 1
    else high = middle
  }
  return low
}

export function hasRun(runs: readonly Run[], from: bigint, to: bigint = from): boolean {
  const found = runs[search(runs, from)]
  return found !== undefined && found[0] <= to
}

/** The runs with one number more. */
export function addNumber(runs: readonly Run[], number: bigint): readonly Run[] {
  if (hasRun(runs, number)) return runs
  const at = search(runs, number)
  const [before, after] = [runs[at - 1], runs[at]]
  const joinsBefore = before !== undefined && before[1] + 1n === number
  const joinsAfter = after !== undefined && after[0] === number + 1n
  const run: Run = [joinsBefore ? before[0] : number, joinsAfter ? after[1] : number]
  return [...runs.slice(0, joinsBefore ? at - 1 : at), run, ...runs.slice(joinsAfter ? at + 1 : at)]
}

/** The runs without the numbers from … to. */
export function cutRuns(runs: readonly Run[], from: bigint, to: bigint): readonly Run[] {
  const first = search(runs, from)
  let last = first
  const rest: Run[] = []
  for (let run = runs[last]; run && run[0] <= to; run = runs[++last]) {
    if (run[0] < from) rest.push([run[0], from - 1n])
    if (run[1] > to) rest.push([to + 1n, run[1]])
  }
  return last === first ? runs : [...runs.slice(0, first), ...rest, ...runs.slice(last)]
}

export function countRuns(runs: readonly Run[]): bigint {
  return runs.reduce((sum, [from, to]) => sum + to - from + 1n, 0n)
}

/** The runs without these numbers, in whatever order. */
export function withoutNumbers(runs: readonly Run[], numbers: Iterable<bigint>): readonly Run[] {
  const found = [...new Set([...numbers].filter((number) => hasRun(runs, number)))].toSorted((a, b) => (a < b ? -1 : 1))
  const left: Run[] = []
  let next = 0
  for (const [from, to] of runs) {
    let low = from
    for (let number = found[next]; number !== undefined && number <= to; number = found[++next]) {
      if (low < number) left.push([low, number - 1n])
      low = number + 1n
    }
    if (low <= to) left.push([low, to])
  }
  return left
}

/** So many numbers from this one on, and on from the lowest one after the highest; each once. */
export function someNumbers(runs: readonly Run[], from: bigint, most: number): readonly bigint[] {
  const first = search(runs, from)
  const some: bigint[] = []
  const take = (low: bigint, high: bigint) => {
    for (let number = low; number <= high && some.length < most; number++) some.push(number)
  }
  for (const [low, high] of runs.slice(first)) take(low < from ? from : low, high)
  for (const [low, high] of runs.slice(0, first + 1)) take(low, high < from ? high : from - 1n)
  return some
}

/** These runs, in whatever order and over each other, as runs that are ascending and apart. */
export function joinRuns(runs: readonly Run[]): readonly Run[] {
  const joined: [bigint, bigint][] = []
  for (const [from, to] of runs.toSorted(([a], [b]) => (a < b ? -1 : 1))) {
    const last = joined.at(-1)
    if (!last || last[1] + 1n < from) joined.push([from, to])
    else if (last[1] < to) last[1] = to
  }
  return joined
}

/** What lies in the runs and in none of the others. */
export function withoutRuns(runs: readonly Run[], others: readonly Run[]): readonly Run[] {
  const left: Run[] = []
  let at = 0
  for (const [from, to] of runs) {
    while ((others[at]?.[1] ?? from) < from) at++
    let low = from
    for (let index = at, other = others[index]; other && other[0] <= to; other = others[++index]) {
      if (low < other[0]) left.push([low, other[0] - 1n])
      low = other[1] + 1n
    }
    if (low <= to) left.push([low, to])
  }
  return left
}
