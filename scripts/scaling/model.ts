import { limits as streamLimits } from '../../domain/stream/gaps.ts'
import { kept } from '../../domain/lane/entries.ts'
import { assumptions, type ChainKind } from './assumptions.ts'
import { type Costs, perCore } from './costs.ts'

const { plannedShare, poolSlots, blocksToInclude, gasShare, batch } = assumptions

/** The needs of a rate apart from chains: Temporal, its database, and Portage's processes. */
export interface EngineNeeds {
  readonly rate: number
  readonly transitionsPerSecond: number
  /** Of Temporal's history, the next power of two: their number is fixed when the database is made. */
  readonly shards: number
  readonly databaseCores: number
  readonly temporalCores: number
  readonly relayerCores: number
  readonly relayerProcesses: number
  readonly relayerGiB: number
  readonly historyGiB: number
}

export function engineNeeds(costs: Costs, rate: number): EngineNeeds {
  const cores = (ms: number) => rate / perCore(ms)
  const relayerProcesses = Math.ceil(rate / processRate(costs))
  return {
    rate,
    transitionsPerSecond: rate * costs.allTransitions,
    shards: 2 ** Math.ceil(Math.log2(Math.max(1, rate / shardRate(costs)))),
    databaseCores: cores(costs.databaseMs),
    temporalCores: cores(costs.temporalMs),
    relayerCores: cores(costs.relayerMs),
    relayerProcesses,
    relayerGiB: (relayerProcesses * costs.processMiB) / 1_024,
    historyGiB: (rate * 86_400 * assumptions.retentionDays * costs.historyBytes) / 2 ** 30,
  }
}

/** A shard commits one transition after the other. */
function shardRate({ allTransitions }: Costs): number {
  const { commitsPerTransition, commitMs } = assumptions
  return (1_000 * plannedShare) / (commitsPerTransition * commitMs) / allTransitions
}

/** The event loop is one thread: the first part of a process that is full. */
const processRate = ({ mainThreadMs }: Costs) => perCore(mainThreadMs)

/** The needs of a rate in one chain, if all transfers go there. */
export interface ChainNeeds {
  readonly rate: number
  readonly chain: string
  /** Of each block, by kind of delivery; above 1 the chain cannot take it. */
  readonly gasShare: Costs['gas']
  /** Keys of lanes: for one transaction per transfer, and for full batches. */
  readonly keys: number
  readonly keysBatched: number
  /** Calls per second to the nodes of the chain. */
  readonly rpcPerSecond: number
  /** Transfers that wait for the finality of the chain. */
  readonly waiting: number
  /** Routes of native bridges, of which each has a stream of its own. */
  readonly nativeRoutes: number
}

export function chainNeeds(costs: Costs, chain: ChainKind, rate: number): ChainNeeds {
  const share = (gas: number) => (rate * (chain.blockMs / 1_000) * gas) / chain.blockGas
  const keys = Math.ceil(rate / keyRate(chain))
  const processes = Math.ceil(rate / processRate(costs))
  const perBlock = processes * costs.rpcPerBlock + keys * assumptions.readsPerLanePerBlock
  return {
    ...{ rate, chain: chain.name, keys },
    gasShare: { wormhole: share(costs.gas.wormhole), native: share(costs.gas.native), batched: share(costs.gas.batched) },
    keysBatched: Math.ceil(rate / batch / keyRate(chain)),
    rpcPerSecond: rate * costs.rpcCalls + perBlock / (chain.blockMs / 1_000),
    waiting: rate * openSeconds(chain),
    nativeRoutes: Math.ceil(rate / routeRate(chain)),
  }
}

/** Transactions per second of one key: what a pool keeps of it, and what its ledger keeps until finality. */
const keyRate = (chain: ChainKind) => Math.min(poolRate(chain), keptRate(chain))
const poolRate = ({ blockMs }: ChainKind) => poolSlots / (blocksToInclude * (blockMs / 1_000))
const keptRate = (chain: ChainKind) => kept({ entries: {} }).keptLimit / openSeconds(chain)
const openSeconds = ({ blockMs, finalitySeconds }: ChainKind) => (blocksToInclude * blockMs) / 1_000 + finalitySeconds
const routeRate = (chain: ChainKind) => streamLimits.open / openSeconds(chain)

/** Something that is full at some rate, and of which there can be more, or not. */
export interface Limit {
  readonly what: string
  /** Transfers per second that one of it carries. */
  readonly carries: number
  readonly next: string
}

/** All limits, the one that is reached first at the head. */
export function limits(costs: Costs, chains: readonly ChainKind[]): Limit[] {
  const engine: Limit[] = [
    { what: 'a history shard', carries: shardRate(costs), next: 'more shards, before the database is made' },
    { what: 'a core of PostgreSQL', carries: perCore(costs.databaseMs), next: 'more cores' },
    {
      what: `a PostgreSQL with ${assumptions.databaseCores} cores`,
      carries: assumptions.databaseCores * perCore(costs.databaseMs),
      next: 'Cassandra, or another cluster with other chains',
    },
    { what: 'a process of Portage', carries: processRate(costs), next: 'more processes of the role `chain`' },
    {
      what: 'a namespace with the default `frontend.namespaceRPS`',
      carries: (assumptions.frontendRequests * plannedShare) / assumptions.requestsPerTransfer,
      next: 'raise `frontend.rps` and `frontend.namespaceRPS`',
    },
  ]
  return [...engine, ...chains.flatMap((chain) => chainLimits(costs, chain))].toSorted((a, b) => a.carries - b.carries)
}

function chainLimits({ gas }: Costs, chain: ChainKind): Limit[] {
  const { name, blockMs, blockGas } = chain
  const ofGas = (each: number) => (blockGas * gasShare) / (blockMs / 1_000) / each
  const percent = `${gasShare * 100} % of each block's gas`
  return [
    { what: `${name}: the pool's slots of a key`, carries: poolRate(chain), next: 'more keys; batches of a native route' },
    { what: `${name}: nonces that a key's ledger keeps`, carries: keptRate(chain), next: 'more keys' },
    {
      what: `${name}: open transfers of a native route`,
      carries: routeRate(chain),
      next: 'a chain that is final sooner, because no setting raises this limit',
    },
    { what: `${name}: ${percent} for Wormhole transfers`, carries: ofGas(gas.wormhole), next: 'another chain' },
    { what: `${name}: ${percent} for native transfers`, carries: ofGas(gas.native), next: 'batches, then another chain' },
    { what: `${name}: ${percent} for native batches`, carries: ofGas(gas.batched), next: 'another chain' },
  ]
}
