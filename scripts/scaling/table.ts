import { markdownTable } from '../docs/markdown.ts'
import { assumptions, type ChainKind } from './assumptions.ts'
import { type Costs, costsOf } from './costs.ts'
import type { Figures } from './figures.ts'
import { type ChainNeeds, chainNeeds, type EngineNeeds, engineNeeds, type Limit, limits } from './model.ts'

/** Transfers per second. */
export const rates = [10, 1_000, 100_000] as const

export function scalingOf(figures: Figures, chains: readonly ChainKind[]) {
  const costs = costsOf(figures)
  return {
    ...{ costs, assumptions, chains },
    engine: rates.map((rate) => engineNeeds(costs, rate)),
    chainNeeds: chains.flatMap((chain) => rates.map((rate) => chainNeeds(costs, chain, rate))),
    limits: limits(costs, chains),
  }
}

/** The computed part of docs/operate/scaling.md. */
export function scalingTables(figures: Figures, chains: readonly ChainKind[]): string {
  const scaling = scalingOf(figures, chains)
  return [
    ...['### Needs of one transfer', costsTable(scaling.costs, figures)],
    ...['### Needs of a rate: Temporal, its database and Portage', engineTable(scaling.engine)],
    ...['### Needs of a rate: the chain, if all transfers go there', chainsTable(scaling)],
    ...['### Which limit comes first', limitsTable(scaling.limits)],
  ].join('\n\n')
}

function costsTable(costs: Costs, { throughput, sizes, outage, nativeSizes, batched, floor }: Figures): string {
  const { gas } = costs
  const rows: [
    what: string,
    value: string,
    part: { readonly commit?: string | undefined; readonly machine: { readonly load: readonly number[] } },
  ][] = [
    [
      'state transitions of the transfer alone; with its share of the transitions of lanes and streams',
      `${costs.transitions}; ${rounded(costs.allTransitions)}`,
      outage,
    ],
    ['history: events, bytes', `${costs.historyEvents}, ${rounded(costs.historyBytes)}`, sizes],
    ['CPU of Portage, ms; the share of its main thread, ms', `${rounded(costs.relayerMs)}; ${rounded(costs.mainThreadMs)}`, throughput],
    [
      'CPU of Temporal, and of PostgreSQL, ms: the transitions times the CPU per transition of a one-activity workflow',
      `${rounded(costs.temporalMs)}, ${rounded(costs.databaseMs)}`,
      floor,
    ],
    ['RPC calls, in addition to the calls that are made once per block', rounded(costs.rpcCalls), throughput],
    ['RPC calls per block of a chain with no transfers', rounded(costs.rpcPerBlock), outage],
    ['gas of a Wormhole delivery (one guardian)', rounded(gas.wormhole), sizes],
    ['gas of a native delivery', rounded(gas.native), nativeSizes],
    [
      `gas per transfer in a batch of ${assumptions.batch}, computed from batches of ${rounded(batched.transfers / batched.deliveringTransactions)} on average`,
      rounded(gas.batched),
      batched,
    ],
    ['memory of a process, MiB', rounded(costs.processMiB), throughput],
    [`transfers per second, with everything on ${throughput.machine.cpus} cores`, rounded(costs.measuredPerSecond), throughput],
  ]
  return markdownTable(
    ['measured', 'value, per transfer unless the row names something else', 'commit', 'load of the machine'],
    rows.map(([what, value, { commit = '-', machine }]) => [what, value, commit, machine.load.join(', ')]),
  )
}

function engineTable(engine: readonly EngineNeeds[]): string {
  const row = (what: string, of: (needs: EngineNeeds) => number) => [what, ...engine.map((needs) => rounded(of(needs)))]
  return markdownTable(
    ['transfers per second', ...rates.map(rounded)],
    [
      row('state transitions per second', (one) => one.transitionsPerSecond),
      row('history shards, at least', (one) => one.shards),
      row('cores of PostgreSQL', (one) => one.databaseCores),
      row('cores of Temporal', (one) => one.temporalCores),
      row('cores of Portage', (one) => one.relayerCores),
      row('processes of the role `chain`', (one) => one.relayerProcesses),
      row('memory of the processes of the role `chain`, GiB', (one) => one.relayerGiB),
      row(`histories of ${assumptions.retentionDays} days, GiB`, (one) => one.historyGiB),
    ],
  )
}

function chainsTable({ chains, chainNeeds: needs }: ReturnType<typeof scalingOf>): string {
  const row = (chain: string, what: string, of: (one: ChainNeeds) => string) => [
    chain,
    what,
    ...needs.filter((one) => one.chain === chain).map(of),
  ]
  const percent = (share: number) => (share > 1 ? `needs ${rounded(share)} chains` : `${rounded(share * 100)} %`)
  return markdownTable(
    ['chain', 'transfers per second', ...rates.map(rounded)],
    chains.flatMap(({ name }) => [
      row(name, "share of the chain's gas for Wormhole transfers", (one) => percent(one.gasShare.wormhole)),
      row(
        name,
        "share of the chain's gas for native transfers; in batches",
        (one) => `${percent(one.gasShare.native)}; ${percent(one.gasShare.batched)}`,
      ),
      row(name, 'keys, with one transfer per transaction; with full batches', (one) => `${rounded(one.keys)}; ${rounded(one.keysBatched)}`),
      row(name, 'RPC calls per second', (one) => rounded(one.rpcPerSecond)),
      row(name, 'transfers that wait for finality', (one) => rounded(one.waiting)),
      row(name, 'native routes, if all transfers are native', (one) => rounded(one.nativeRoutes)),
    ]),
  )
}

function limitsTable(all: readonly Limit[]): string {
  return markdownTable(
    ['limit', 'highest rate, transfers per second', ...rates.map((rate) => `needed for ${rounded(rate)}`), 'remedy at the limit'],
    all.map(({ what, carries, next }) => [what, rounded(carries), ...rates.map((rate) => rounded(Math.ceil(rate / carries))), next]),
  )
}

/**
 * Rounds values below 10 to two decimals, values below 100 to one decimal, and other values to integers, because the
 * model is not more exact.
 */
function rounded(value: number): string {
  const digits = value >= 100 ? 0 : value >= 10 ? 1 : 2
  return Number(value.toFixed(digits)).toLocaleString('en-US')
}
