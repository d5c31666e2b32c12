import { limits as streamLimits } from '../../domain/stream/gaps.ts'
import { kept } from '../../domain/lane/entries.ts'
import { assumptions, type ChainKind } from './assumptions.ts'
import { type Costs, perCore } from './costs.ts'

const { plannedShare, poolSlots, blocksToInclude, gasShare, batch } = assumptions

export type EngineNeeds = ReturnType<typeof engineNeeds>

/** Resources for a rate of transfers: Temporal, its database and Portage's processes. */
export function engineNeeds(costs: Costs, rate: number) {
  const cores = (ms: number) => rate / perCore(ms)
  const relayerProcesses = Math.ceil(rate / processRate(costs))
  return {
    rate,
    transitionsPerSecond: rate * costs.allTransitions,
    // Shards of Temporal's history, a power of two that is fixed when the database is made.
    shards: 2 ** Math.ceil(Math.log2(Math.max(1, rate / shardRate(costs)))),
    databaseCores: cores(costs.databaseMs),
    temporalCores: cores(costs.temporalMs),
    relayerCores: cores(costs.relayerMs),
    relayerProcesses,
    relayerGiB: (relayerProcesses * costs.processMiB) / 1_024,
    historyGiB: (rate * 86_400 * assumptions.retentionDays * costs.historyBytes) / 2 ** 30,
  }
}

/** Transfers per second of one shard, which commits its transitions one after another. */
function shardRate({ allTransitions }: Costs): number {
  const { commitsPerTransition, commitMs } = assumptions
  return (1_000 * plannedShare) / (commitsPerTransition * commitMs) / allTransitions
}

/**
 * Transfers per second of one process. A process is full when its event loop is full, because the loop is one thread.
 */
const processRate = ({ mainThreadMs }: Costs) => perCore(mainThreadMs)

export type ChainNeeds = ReturnType<typeof chainNeeds>

/**
 * Resources for a rate of transfers if all transfers go to one chain. `keys`: number of keys if each transaction
 * delivers one transfer. `keysBatched`: number of keys if all batches are full.
 */
export function chainNeeds(costs: Costs, chain: ChainKind, rate: number) {
  const share = (gas: number) => (rate * (chain.blockMs / 1_000) * gas) / chain.blockGas
  const keys = Math.ceil(rate / keyRate(chain))
  const processes = Math.ceil(rate / processRate(costs))
  const perBlock = processes * costs.rpcPerBlock + keys * assumptions.readsPerLanePerBlock
  return {
    ...{ rate, chain: chain.name, keys },
    // Shares of each block's gas, by kind of delivery. A share above 1 is more gas than the chain has.
    gasShare: { wormhole: share(costs.gas.wormhole), native: share(costs.gas.native), batched: share(costs.gas.batched) },
    keysBatched: Math.ceil(rate / batch / keyRate(chain)),
    rpcPerSecond: rate * costs.rpcCalls + perBlock / (chain.blockMs / 1_000),
    // Transfers that wait for the chain's finality.
    waiting: rate * openSeconds(chain),
    // Each route has one stream, which limits the number of the route's open transfers.
    nativeRoutes: Math.ceil(rate / routeRate(chain)),
  }
}

/** Transactions per second of one key, whose open transactions are limited by a node's pool and by the key's ledger. */
const keyRate = (chain: ChainKind) => Math.min(poolRate(chain), keptRate(chain))
const poolRate = ({ blockMs }: ChainKind) => poolSlots / (blocksToInclude * (blockMs / 1_000))
const keptRate = (chain: ChainKind) => kept({ entries: {} }).keptLimit / openSeconds(chain)
const openSeconds = ({ blockMs, finalitySeconds }: ChainKind) => (blocksToInclude * blockMs) / 1_000 + finalitySeconds
const routeRate = (chain: ChainKind) => streamLimits.open / openSeconds(chain)

/** A limit: a part of the system that a high rate uses up, and the `next` step. */
export interface Limit {
  readonly what: string
  /** Transfers per second that one part of this kind can handle. */
  readonly carries: number
  readonly next: string
}

/** All limits, in the order in which a growing rate reaches them. */
export function limits(costs: Costs, chains: readonly ChainKind[]): Limit[] {
  const engine: Limit[] = [
    { what: 'a history shard', carries: shardRate(costs), next: 'more shards, chosen before the database is made' },
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
