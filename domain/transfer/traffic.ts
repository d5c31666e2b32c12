import { groupBy } from '../group-by.ts'

/** Times are ms since the epoch. */
export interface TransferTraffic {
  readonly bridge: string
  readonly source: string
  readonly target: string
  readonly state: string
  readonly startedAt: number
  readonly closedAt?: number
}

const stepsOfWindow = 60

/** Maximum number of listed routes, the busiest ones. Anyone with access to Temporal can invent names of chains. */
const mostRoutes = 100

/**
 * The time that a report covers, in steps. All steps begin at multiples of their length. The last step contains `now`.
 */
export function trafficWindow(minutes: number, now: number) {
  const stepMs = (minutes * 60_000) / stepsOfWindow
  return { from: (Math.floor(now / stepMs) + 1 - stepsOfWindow) * stepMs, stepMs, steps: stepsOfWindow }
}

export function trafficOf(samples: readonly TransferTraffic[], { from, stepMs, steps }: ReturnType<typeof trafficWindow>) {
  const counted = samples.filter(({ closedAt }) => closedAt === undefined || closedAt >= from)
  const delivered = counted.filter((one) => deliveryTime(one).length > 0)
  const times = delivered.flatMap(deliveryTime)
  // The server's clock may be ahead of this process's clock, so `closedAt` may be in the future.
  const byStep = groupBy(delivered, ({ closedAt = from }) => Math.min(steps - 1, Math.floor((closedAt - from) / stepMs)))
  return {
    routes: routesOf(counted),
    steps: Array.from({ length: steps }, (_, index) => {
      const own = byStep.get(index) ?? []
      return { at: from + index * stepMs, delivered: own.length, ...quantiles(own.flatMap(deliveryTime)) }
    }),
    delivered: times.length,
    ...quantiles(times),
  }
}

function deliveryTime({ state, startedAt, closedAt }: TransferTraffic): number[] {
  return state === 'delivered' && closedAt !== undefined ? [Math.max(0, closedAt - startedAt)] : []
}

function routesOf(samples: readonly TransferTraffic[]) {
  const groups = groupBy(samples, ({ source, target, bridge }) => JSON.stringify([source, target, bridge]))
  const largest = [...groups.entries()].toSorted(([, a], [, b]) => b.length - a.length).slice(0, mostRoutes)
  return largest.toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([, group]) => routeOf(group))
}

function routeOf(group: readonly [TransferTraffic, ...TransferTraffic[]]) {
  const [{ bridge, source, target }] = group
  const open = group.filter(({ closedAt }) => closedAt === undefined)
  const oldest = open.reduce<number | undefined>((least, { startedAt }) => Math.min(least ?? startedAt, startedAt), undefined)
  return {
    ...{ bridge, source, target },
    open: countBy(open),
    ended: countBy(group.filter(({ closedAt }) => closedAt !== undefined)),
    ...(oldest !== undefined && { oldestOpenAt: oldest }),
    ...quantiles(group.flatMap(deliveryTime)),
  }
}

function countBy(samples: readonly TransferTraffic[]): Record<string, number> {
  return Object.fromEntries([...groupBy(samples, ({ state }) => state)].map(([state, { length }]) => [state, length]))
}

function quantiles(times: readonly number[]): { medianMs?: number; p95Ms?: number } {
  if (times.length === 0) return {}
  const sorted = times.toSorted((a, b) => a - b)
  const at = (share: number) => sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)] ?? 0
  return { medianMs: at(0.5), p95Ms: at(0.95) }
}
