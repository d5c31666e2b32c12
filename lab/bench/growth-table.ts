import type { GrowthResult, GrowthRow } from './growth.ts'
import { tellMachine } from './machine.ts'
import { textTable } from './table.ts'
import { tellVerdict } from './verdict.ts'
import { workerName } from './yardsticks.ts'

export function growthTable({ rows, keys, form, machine }: GrowthResult): string {
  const row = (name: string, of: (one: GrowthRow) => number | undefined) => [name, ...rows.map((one) => String(of(one) ?? '-'))]
  const processes = Object.keys(rows[0]?.cpuMs ?? {})
  const named = (name: string) => (name === workerName ? 'relayer' : name)
  return [
    textTable([
      ['in flight', ...rows.map(({ inFlight, rounds }) => (rounds > 1 ? `${inFlight} (× ${rounds})` : String(inFlight)))],
      row('most open at a time', (one) => one.openPeak),
      row('seconds', (one) => one.seconds),
      row('per second', (one) => one.perSecond),
      ...processes.map((name) => row(`CPU ms per transfer: ${named(name)}`, (one) => one.cpuMs[name])),
      ...processes.map((name) => row(`  with fixed costs: ${named(name)}`, (one) => one.cpuMsAll[name])),
      ...processes.map((name) => row(`  fixed, ms per second: ${named(name)}`, (one) => one.fixed.cpuMsPerSecond[name])),
      row('RPC calls per transfer', (one) => one.rpcPerTransfer),
      row('  per block of a chain', (one) => one.rpcPerBlock),
      row('  the same with nothing in flight', (one) => one.fixed.rpcPerBlock),
      row('state transitions', (one) => one.stateTransitions),
      row('history events', (one) => one.historyEvents),
      ...processes.map((name) => row(`memory at most, MiB: ${named(name)}`, (one) => one.rssPeakMiB[name])),
    ]),
    `  ${keys} keys, form ${form}; ${tellMachine(machine)}`,
    ...rows.map((one) => `  ${one.inFlight}: ${tellVerdict(one)}`),
  ].join('\n')
}
