import { chanceOf } from './random.ts'
import { schedule } from './schedule.ts'

/** Faults of nodes, done by the fault proxies. */
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
/** Faults of the chain itself, done by anvil. */
export const chainKinds = ['fork', 'reorg', 'base-fee-spike', 'eviction', 'foreign-transaction', 'chain-stop', 'key-drained'] as const
/** Faults in Temporal, done by its client. */
export const temporalKinds = ['transfer-terminated', 'transfer-reset', 'lane-terminated', 'lane-reset'] as const
/** Faults of Temporal itself: its database is gone, or is one of some seconds ago. */
export const serverKinds = ['temporal-wiped', 'temporal-restored'] as const
/** Faults of those who tell of Wormhole's messages: readers of the spy are dropped and miss what it says, the guardians' REST API refuses. */
export const guardianKinds = ['spy-drop', 'guardian-429', 'guardian-5xx'] as const
/** Faults of processes: kill -9 of one, or of all; one stopped for a while. */
const processKinds = ['kill', 'freeze'] as const
export const faultKinds = [...nodeKinds, ...chainKinds, ...temporalKinds, ...serverKinds, ...guardianKinds, ...processKinds] as const

export type NodeKind = (typeof nodeKinds)[number]
export type ChainKind = (typeof chainKinds)[number]
export type TemporalKind = (typeof temporalKinds)[number]
export type ServerKind = (typeof serverKinds)[number]
export type GuardianKind = (typeof guardianKinds)[number]
export type FaultKind = (typeof faultKinds)[number]

/** One fault of a run. */
export interface PlannedFault<K extends FaultKind = FaultKind> {
  /** After the start of the run. */
  readonly atMs: number
  readonly kind: K
  readonly chain: 'ethereum' | 'bsc'
  /** Which of the chain's nodes; `all` of them at once only for what is no lie. */
  readonly node: number | 'all'
  readonly forMs: number
  /** 1 to `deepest`: depth of a fork, blocks that a node is behind. */
  readonly depth: number
  /** 0 to below 1: whatever else is left to chance. */
  readonly dice: number
}

export interface PlanInput {
  readonly seed: string
  readonly durationMs: number
  readonly kinds: readonly FaultKind[]
  readonly nodes: number
  /** Deepest fork: finality. */
  readonly deepest: number
  /** Mean pause between two faults. Default 700: with 39 kinds, each comes about once in 27 s. */
  readonly meanPauseMs?: number | undefined
}

/** What may befall all nodes of a chain at once: what makes none of them a liar, and lies that the contracts' own tables show. */
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
]

/** The faults of a run, in order of time: all kinds once in a random order, then all again, until the time is over. Pure. */
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
