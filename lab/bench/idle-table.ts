import type { IdleResult, IdleRow } from './idle.ts'
import { tellMachine } from './machine.ts'

const mostNames = 8

export function idleTable({ rows, auditMinutes, machine }: IdleResult): string {
  const columns: readonly (readonly [string, (row: IdleRow) => string | number])[] = [
    ['streams of sources without a node', ({ streams }) => streams],
    ...Object.keys(rows[0]?.cpuMsPerSecond ?? {}).map(
      (name) => [`CPU ms per second, ${name}`, (row: IdleRow) => row.cpuMsPerSecond[name] ?? 0] as const,
    ),
    ['memory at most, MiB', ({ rssPeakMiB }) => rssPeakMiB],
    ['Temporal actions per hour', ({ actionsPerHour }) => actionsPerHour],
    ['calls to Temporal per hour', ({ callsPerHour }) => Object.values(callsPerHour).reduce((sum, count) => sum + count, 0)],
    ['long polls per hour', ({ pollsPerHour }) => pollsPerHour],
    ['requests to guardians per hour', ({ httpPerHour }) => httpPerHour],
    ['RPC calls per block of a chain', ({ rpcPerBlock }) => rpcPerBlock],
    ['other RPC calls per hour', ({ rpcOthersPerHour }) => rpcOthersPerHour],
  ]
  const lines = columns.map(([name, of]) => `  ${name.padEnd(36)}${rows.map((row) => String(of(row)).padStart(10)).join('')}`)
  const calls = rows.map(({ streams, callsPerHour }) => {
    const named = Object.entries(callsPerHour).slice(0, mostNames)
    return `  ${streams} streams: ${named.map(([name, count]) => `${name} ${count}`).join(', ')}`
  })
  return [
    ...lines,
    ...calls,
    `  ${rows.map(({ seconds }) => seconds).join(' and ')} s, audits every ${auditMinutes} minutes; ${tellMachine(machine)}`,
  ].join('\n')
}
