/** A transfer of the server's list. Times in ms since the epoch. */
export interface TransferTraffic {
  readonly bridge: string
  readonly source: string
  readonly target: string
  /** Its state, or `undone` for a workflow that closed without an outcome. */
  readonly state: string
  readonly startedAt: number
  /** Absent: it runs. */
  readonly closedAt?: number
}

export interface RouteTraffic extends Pick<TransferTraffic, 'bridge' | 'source' | 'target'> {
  /** Open transfers, by state. */
  readonly open: Readonly<Record<string, number>>
  /** Ended in the window, by outcome. */
  readonly ended: Readonly<Record<string, number>>
  /** Start of the oldest open transfer, ms since the epoch. */
  readonly oldestOpenAt?: number
  /** Median time from the start of a workflow to its delivery, ms, over the window. */
  readonly medianMs?: number
  /** 95th percentile, ms. */
  readonly p95Ms?: number
}

export interface TrafficStep {
  /** Start of the step, ms since the epoch. */
  readonly at: number
  readonly delivered: number
  readonly medianMs?: number
  readonly p95Ms?: number
}

export interface Traffic {
  readonly routes: readonly RouteTraffic[]
  readonly steps: readonly TrafficStep[]
  readonly delivered: number
  readonly medianMs?: number
  readonly p95Ms?: number
}

/** A window of time, in steps of equal length, ms. */
export interface TrafficWindow {
  readonly from: number
  readonly stepMs: number
  readonly steps: number
}

const stepsOfWindow = 60

/** Most routes in the result, those with the most transfers. Anyone who reaches Temporal can invent names. */
const mostRoutes = 100

/** The window of the last `minutes`. Its steps begin at fixed times, and the last one contains `now`. */
export function trafficWindow(minutes: number, now: number): TrafficWindow {
  const stepMs = (minutes * 60_000) / stepsOfWindow
  return { from: (Math.floor(now / stepMs) + 1 - stepsOfWindow) * stepMs, stepMs, steps: stepsOfWindow }
}

/** Counts and times of transfers, without those that ended before the window. */
export function trafficOf(samples: readonly TransferTraffic[], { from, stepMs, steps }: TrafficWindow): Traffic {
  const counted = samples.filter(({ closedAt }) => closedAt === undefined || closedAt >= from)
  const times = counted.flatMap((one) => deliveryTime(one) ?? [])
  const byStep = new Map<number, TransferTraffic[]>()
  for (const one of counted) {
    if (deliveryTime(one) === undefined || one.closedAt === undefined) continue
    // The server's clock may be ahead.
    const index = Math.min(steps - 1, Math.floor((one.closedAt - from) / stepMs))
    const own = byStep.get(index)
    if (own) own.push(one)
    else byStep.set(index, [one])
  }
  return {
    routes: routesOf(counted),
    steps: Array.from({ length: steps }, (_, index) => {
      const own = byStep.get(index) ?? []
      return { at: from + index * stepMs, delivered: own.length, ...quantiles(own.flatMap((one) => deliveryTime(one) ?? [])) }
    }),
    delivered: times.length,
    ...quantiles(times),
  }
}

function deliveryTime({ state, startedAt, closedAt }: TransferTraffic): number | undefined {
  return state === 'delivered' && closedAt !== undefined ? Math.max(0, closedAt - startedAt) : undefined
}

function routesOf(samples: readonly TransferTraffic[]): RouteTraffic[] {
  const groups = new Map<string, TransferTraffic[]>()
  for (const one of samples) {
    const key = JSON.stringify([one.source, one.target, one.bridge])
    const group = groups.get(key)
    if (group) group.push(one)
    else groups.set(key, [one])
  }
  const largest = [...groups.entries()].toSorted(([, a], [, b]) => b.length - a.length).slice(0, mostRoutes)
  return largest.toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([, group]) => routeOf(group))
}

function routeOf(group: readonly TransferTraffic[]): RouteTraffic {
  const [{ bridge, source, target } = { bridge: '', source: '', target: '' }] = group
  const open = group.filter(({ closedAt }) => closedAt === undefined)
  const oldest = open.reduce<number | undefined>((least, { startedAt }) => Math.min(least ?? startedAt, startedAt), undefined)
  return {
    ...{ bridge, source, target },
    open: countBy(open),
    ended: countBy(group.filter(({ closedAt }) => closedAt !== undefined)),
    ...(oldest !== undefined && { oldestOpenAt: oldest }),
    ...quantiles(group.flatMap((one) => deliveryTime(one) ?? [])),
  }
}

function countBy(samples: readonly TransferTraffic[]): Record<string, number> {
  const counts = new Map<string, number>()
  for (const { state } of samples) counts.set(state, (counts.get(state) ?? 0) + 1)
  return Object.fromEntries(counts)
}

/** Quantiles by the nearest rank. */
function quantiles(times: readonly number[]): { medianMs?: number; p95Ms?: number } {
  if (times.length === 0) return {}
  const sorted = times.toSorted((a, b) => a - b)
  const at = (share: number) => sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)] ?? 0
  return { medianMs: at(0.5), p95Ms: at(0.95) }
}
