import { tellMachine } from './machine.ts'
import type { ScaleResult, ScaleRow } from './scale.ts'
import { textTable } from './table.ts'
import { tellVerdict } from './verdict.ts'

export function scaleTable({ rows, percent, keys, machine }: ScaleResult): string {
  const row = (name: string, of: (one: ScaleRow) => number | undefined) => [name, ...rows.map((one) => String(of(one) ?? '-'))]
  return [
    textTable([
      ['processes', ...rows.map(({ processes }) => String(processes))],
      row('per second, sustained', (one) => one.sustainedPerSecond),
      row('times one process', (one) => one.timesOne),
      row('periods with the CPU time used up, share', (one) => one.usedUp),
      ...Object.keys(rows[0]?.cores ?? {}).map((name) => row(`cores: ${name}`, (one) => one.cores[name])),
    ]),
    `  each process with the role chain may use ${percent} % of a core; ${keys} keys; ${tellMachine(machine)}`,
    ...rows.map((one) => `  ${one.processes}: ${tellVerdict(one)}`),
  ].join('\n')
}
