import { tellMachine } from './machine.ts'
import type { OutageResult } from './native-outage.ts'
import { tellVerdict } from './verdict.ts'

export function outageTable(result: OutageResult): string {
  const { transfers, keys, batch, maxOpen, seconds, transfersPerSecond, deliveringTransactions, rpcCalls, cpuMs, rssPeakMiB, machine } =
    result
  const tell = (all: Readonly<Record<string, number>>) =>
    Object.entries(all)
      .map(([name, value]) => `${name} ${value}`)
      .join(', ')
  const rows = [
    ['seconds', `${seconds}, ${transfersPerSecond} per second`],
    ['transactions', `${deliveringTransactions}, ${result.gasPerTransaction} gas each`],
    ['RPC calls', `${rpcCalls.perTransfer} per transfer, ${rpcCalls.perQuietBlock} per block of a chain with nothing to do`],
    [
      'state transitions',
      `${result.stateTransitionsPerTransfer} per transfer, ${result.allStateTransitionsPerTransfer} with lanes, streams and batches`,
    ],
    ['history events', result.historyEventsPerTransfer],
    ['CPU ms per transfer', tell(cpuMs)],
    ['memory at most, MiB', tell(rssPeakMiB)],
  ]
  return [
    ...rows.map(([name, value]) => `  ${String(name).padEnd(22)}${value}`),
    `  ${transfers} transfers, ${keys} keys per chain, ${batch ?? 'no'} batch, at most ${maxOpen} open per direction; ${tellMachine(machine)}`,
    `  ${tellVerdict(result)}`,
  ].join('\n')
}
