import { perBlockMethods } from '../../lab/bench/rpc-calls.ts'
import { assumptions } from './assumptions.ts'
import type { Figures } from './figures.ts'

export type Costs = ReturnType<typeof costsOf>

/**
 * Costs of a transfer by the bench's figures. Throws Error if a figure is missing, because earlier versions of the
 * bench did not write all figures.
 */
export function costsOf({ throughput, sizes, outage, nativeSizes, batched, floor }: Figures) {
  const { portage } = throughput
  const allTransitions = portage.stateTransitions + outage.allStateTransitionsPerTransfer - outage.stateTransitionsPerTransfer
  const { oneActivity } = postgresOf(floor)
  const ofFloor = (name: string) =>
    (needed(oneActivity.cpuMsByProcess[name]?.median, `CPU of ${name}`) * allTransitions) / oneActivity.stateTransitions
  const native = needed(nativeSizes.gasPerTransaction, 'gas of native deliveries')
  return {
    // State transitions. `allTransitions` includes the transfer's share of the transitions of lanes and streams.
    transitions: portage.stateTransitions,
    allTransitions,
    historyEvents: portage.historyEvents,
    historyBytes: needed(sizes.portage.historyBytes, 'bytes of histories'),
    // CPU time, ms.
    relayerMs: needed(portage.cpuMsByProcess['worker']?.median, 'CPU of the relayer'),
    mainThreadMs: needed(portage.cpuMsByThread['main']?.median, 'CPU of the main thread'),
    temporalMs: ofFloor('temporal'),
    databaseMs: ofFloor('postgres'),
    // JSON-RPC calls: of the transfer, and per block of an idle process.
    rpcCalls: Object.entries(portage.rpcCalls.byMethod).reduce(
      (sum, [method, count]) => sum + (perBlockMethods.has(method) ? 0 : count),
      0,
    ),
    rpcPerBlock: outage.rpcCalls.perQuietBlock,
    processMiB: needed(portage.rssPeakMiB['worker'], 'memory of the relayer'),
    // Gas of a delivery: Wormhole (with the bench's number of guardians), native, and native in a full batch.
    gas: { wormhole: needed(sizes.portage.gasPerTransaction, 'gas of a delivery'), native, batched: gasInFullBatch(native, batched) },
    // Transfers per second of the whole machine on which the bench ran.
    measuredPerSecond: portage.sustainedPerSecond.median,
  }
}

/** The figures of a Temporal server with a database that syncs to disk. Throws Error if they were not measured. */
function postgresOf({ servers }: Figures['floor']) {
  const found = servers.find(({ server }) => server.includes('PostgreSQL') && !server.endsWith('off'))
  if (!found) throw new Error(`the figures of the floor have no PostgreSQL: ${servers.map(({ server }) => server).join('; ')}`)
  return found
}

function needed(value: number | undefined, what: string): number {
  if (value === undefined) throw new Error(`the figures have no ${what}: measure it with this version's bench`)
  return value
}

/**
 * The measured batches are not full, so each further transfer is assumed to add as much gas as a transfer of a measured
 * batch.
 */
function gasInFullBatch(alone: number, batched: Figures['batched']): number {
  const members = batched.transfers / batched.deliveringTransactions
  if (members <= 1) throw new Error('the figures of batches have none with two transfers')
  const more = (needed(batched.gasPerTransaction, 'gas of native deliveries') - alone) / (members - 1)
  return (alone + (assumptions.batch - 1) * more) / assumptions.batch
}

/** Transfers per second of one core, if each needs `ms` of CPU time. */
export const perCore = (ms: number) => (1_000 * assumptions.plannedShare) / ms
