const minuteMs = 60_000
/** How long a cost counts, ms. */
const hourMs = 60 * minuteMs

/** What counts of one thing: minute since the epoch → wei. A new one is made for each cost, so that old minutes do not pile up. */
export type HourlyCosts = ReadonlyMap<number, bigint>

/** The same with one more cost, without what does not count any more. @param now ms since the epoch */
export function withCost(costs: HourlyCosts | undefined, paid: bigint, now: number): HourlyCosts {
  const kept = new Map(lastHour(costs, now))
  const minute = Math.floor(now / minuteMs)
  return kept.set(minute, (kept.get(minute) ?? 0n) + paid)
}

/** Until when, ms since the epoch, the costs of the last hour (`sum`, wei) are above the budget; undefined: they are not. */
export function aboveBudget(
  costs: HourlyCosts | undefined,
  budget: bigint,
  now: number,
): { readonly until: number; readonly sum: bigint } | undefined {
  const minutes = lastHour(costs, now)
  const sum = minutes.reduce((total, [, paid]) => total + paid, 0n)
  let left = sum
  for (const [minute, paid] of minutes) {
    if (left <= budget) break
    left -= paid
    if (left <= budget) return { until: countsUntil(minute), sum }
  }
  return undefined
}

/** The oldest minute first. */
function lastHour(costs: HourlyCosts | undefined, now: number): (readonly [number, bigint])[] {
  return [...(costs ?? [])].filter(([minute]) => countsUntil(minute) > now).toSorted(([a], [b]) => a - b)
}

function countsUntil(minute: number): number {
  return (minute + 1) * minuteMs + hourMs
}
