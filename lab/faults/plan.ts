import { chanceOf } from './random.ts'
import { schedule } from './schedule.ts'

/** Faults that are injected by the proxies in front of the nodes. */
export const nodeKinds = [
  'accept-and-hang',
  'hang',
  'cut',
  'http-429',
  'http-5xx',
  'fatal-refusal',
  'fatal-after-accepting',
  'stale',
  'lag',
  'batch-drop',
  'batch-duplicate',
  'batch-reorder',
  'receipt-null',
  'receipt-status',
  'receipt-block',
  'send-swallowed',
  'logs-empty',
  'logs-hidden',
  'logs-forked',
  'log-range',
  'finality-lag',
] as const
export const chainKinds = ['fork', 'reorg', 'base-fee-spike', 'eviction', 'foreign-transaction', 'chain-stop', 'key-drained'] as const
/** Faults that a client of Temporal injects. */
export const temporalKinds = ['transfer-terminated', 'transfer-reset', 'lane-terminated', 'lane-reset'] as const
/** Faults in which Temporal's database is lost, or replaced with a copy that is a few seconds old. */
export const serverKinds = ['temporal-wiped', 'temporal-restored'] as const
/** Faults in which the spy drops its subscribers, or the guardians' REST API refuses requests. */
export const guardianKinds = ['spy-drop', 'guardian-429', 'guardian-5xx'] as const
const processKinds = ['kill', 'freeze'] as const
export const faultKinds = [...nodeKinds, ...chainKinds, ...temporalKinds, ...serverKinds, ...guardianKinds, ...processKinds] as const
/**
 * Faults of the server, of PostgreSQL, and of connections. A half-open connection carries no bytes and does not end.
 */
export const fleetKinds = [
  'temporal-restart',
  'postgres-crash',
  'temporal-cut',
  'temporal-half-open',
  'node-cut',
  'node-half-open',
  'rolling-restart',
] as const
/** All faults of a fleet run. `serverKinds` is not included, because PostgreSQL keeps Temporal's data. */
export const fleetFaultKinds = [...nodeKinds, ...chainKinds, ...temporalKinds, ...guardianKinds, ...processKinds, ...fleetKinds] as const

export type NodeKind = (typeof nodeKinds)[number]
export type ChainKind = (typeof chainKinds)[number]
export type TemporalKind = (typeof temporalKinds)[number]
export type ServerKind = (typeof serverKinds)[number]
export type GuardianKind = (typeof guardianKinds)[number]
export type FleetKind = (typeof fleetKinds)[number]
export type FaultKind = (typeof faultKinds)[number] | FleetKind

export interface PlannedFault<K extends FaultKind = FaultKind> {
  /** ms since the start of the run. */
  readonly atMs: number
  readonly kind: K
  readonly chain: 'ethereum' | 'bsc'
  /** Index of the node. Only faults in `storms` may strike `all` nodes. */
  readonly node: number | 'all'
  readonly forMs: number
  /** Depth of a fork, or number of blocks by which a node lags: 1 to `deepest`. */
  readonly depth: number
  readonly dice: number
}

export interface PlanInput {
  readonly seed: string
  readonly durationMs: number
  readonly kinds: readonly FaultKind[]
  readonly nodes: number
  /** Depth of the deepest fork, blocks. Finality has the same depth. */
  readonly deepest: number
  /** Average pause between two faults, ms. Default 700: with 39 kinds, each kind strikes about once every 27 s. */
  readonly meanPauseMs?: number | undefined
}

/**
 * Faults that may strike all nodes of a chain, because they are not lies, or are lies that the contracts' own tables
 * disprove.
 */
const storms: readonly FaultKind[] = [
  'accept-and-hang',
  'hang',
  'cut',
  'http-429',
  'http-5xx',
  'stale',
  'lag',
  'batch-drop',
  'send-swallowed',
  'logs-empty',
  'logs-hidden',
  'log-range',
  'finality-lag',
  'node-cut',
  'node-half-open',
]

/** Plans the faults of a run, sorted by time. Pure. */
export function planFaults(input: PlanInput): PlannedFault[] {
  const { meanPauseMs = 700 } = input
  const chance = chanceOf(input.seed)
  const pauseMs = [Math.ceil(meanPauseMs / 7), Math.floor((meanPauseMs * 13) / 7)] as const
  return schedule(chance, { ...input, firstMs: [500, 1500], pauseMs }, (atMs, kind): PlannedFault => {
    const storm = chance.next() < 0.25 && storms.includes(kind)
    return {
      ...{ atMs, kind },
      chain: chance.pick(['ethereum', 'bsc'] as const),
      node: storm ? 'all' : chance.whole(0, input.nodes - 1),
      forMs: chance.whole(800, 4000),
      depth: chance.whole(1, input.deepest),
      dice: chance.next(),
    }
  })
}

/** Number of times that each kind strikes in one round of a fleet's plan. Default: 1. */
const fleetShares: Partial<Record<FaultKind, number>> = {
  kill: 4,
  'temporal-cut': 2,
  'temporal-half-open': 2,
  'node-cut': 2,
  'node-half-open': 2,
}

/**
 * Plans the faults of a fleet run. Kinds in `fleetShares` are planned more often. `rolling-restart` is planned once,
 * near the start, because it takes a long time.
 */
export function planFleetFaults(input: PlanInput): PlannedFault[] {
  const others = input.kinds.filter((kind) => kind !== 'rolling-restart')
  const planned = planFaults({ ...input, kinds: others.flatMap((kind) => Array.from({ length: fleetShares[kind] ?? 1 }, () => kind)) })
  if (others.length === input.kinds.length) return planned
  const [rolling] = planFaults({ ...input, kinds: ['rolling-restart'] })
  const atMs = Math.floor(input.durationMs * (0.05 + (rolling?.dice ?? 0) * 0.15))
  return [...planned, ...(rolling ? [{ ...rolling, atMs }] : [])].toSorted((a, b) => a.atMs - b.atMs)
}
