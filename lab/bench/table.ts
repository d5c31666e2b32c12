import type { FloorSummary } from './floor.ts'
import { threadGroups } from './proc-stat.ts'
import type { Spread } from './statistics.ts'
import type { BenchSummary, KindSummary } from './summary.ts'

export function textTable(rows: readonly (readonly string[])[]): string {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => (row[column] ?? '').length)))
  const cell = (text: string, column: number) => (column === 0 ? text.padEnd(widths[column] ?? 0) : text.padStart(widths[column] ?? 0))
  return rows.map((row) => `  ${row.map(cell).join('  ')}`.trimEnd()).join('\n')
}

export function benchTable(summary: BenchSummary): string {
  const { portage, oneActivity, empty, ratio, ratioSustained, ratioCpu, machine } = summary
  const kinds = [portage, oneActivity, empty]
  const row = (name: string, of: (kind: KindSummary) => Spread | undefined) => [name, ...kinds.map((kind) => tellSpread(of(kind)))]
  const processes = Object.keys(portage.cpuMsByProcess)
  const rows = [
    ['median (least–most)', 'Portage', 'one activity', 'empty'],
    row('per second', (kind) => kind.perSecond),
    row('per second, sustained', (kind) => kind.sustainedPerSecond),
    row('CPU, ms each', (kind) => kind.cpuMs),
    ...processes.map((name) => row(`  ${name}`, (kind) => kind.cpuMsByProcess[name])),
    ...threadGroups.map((group) => row(`    worker: ${group}`, (kind) => kind.cpuMsByThread[group])),
    ...['temporal', 'worker'].map((name) => [`memory at most, MiB: ${name}`, ...kinds.map((kind) => String(kind.rssPeakMiB[name] ?? '-'))]),
    ['state transitions', ...kinds.map((kind) => String(kind.stateTransitions))],
    ['history events', ...kinds.map((kind) => String(kind.historyEvents))],
    ['history bytes', ...kinds.map((kind) => String(kind.historyBytes))],
  ]
  const calls = Object.entries(portage.rpcCalls.byMethod).map(([method, count]) => `${method} ${count}`)
  return [
    textTable(rows),
    `  Portage to one activity: ${tellSpread(ratio)}, sustained ${tellSpread(ratioSustained)}, CPU ${tellSpread(ratioCpu)}`,
    `  Ready after ${tellSpread(portage.startMs)} ms; first close ${tellSpread(portage.firstCloseMs)} ms after the block of the first delivery`,
    `  RPC calls per transfer: ${portage.rpcCalls.perTransfer} (${calls.join(', ')})`,
    `  History: ${Object.entries(portage.shape)
      .map(([type, count]) => `${type} ${count}`)
      .join(', ')}`,
    `  Delivered ${summary.delivered} of ${summary.of}; lost ${summary.lost}, duplicates ${summary.duplicates}, reverted ${summary.revertedTransactions}, fetched again ${summary.fetchedAgain}; most of a key in a block ${summary.maxPerLanePerBlock}; gas of a delivery ${portage.gasPerTransaction}`,
    `  ${summary.transfers} each, ${summary.rounds} rounds, ${summary.keys} keys, form ${summary.form}; ${machine.cpus} × ${machine.model}, Node ${machine.node}, load ${machine.load.join(', ')}`,
  ].join('\n')
}

export function floorTable({ servers, notRun, workflows, rounds, machine }: FloorSummary): string {
  const names = [...new Set(servers.flatMap(({ oneActivity }) => Object.keys(oneActivity.cpuMsByProcess)))]
  const rows = (['empty', 'oneActivity'] as const).flatMap((kind) =>
    servers.map((row) => {
      const { perSecond, sustainedPerSecond, cpuMs, cpuMsByProcess } = row[kind]
      const each = names.map((name) => tellSpread(cpuMsByProcess[name]))
      return [`${kind}: ${row.server}`, tellSpread(perSecond), tellSpread(sustainedPerSecond), tellSpread(cpuMs), ...each]
    }),
  )
  return [
    textTable([['median (least–most)', 'per second', 'sustained', 'CPU, ms each', ...names], ...rows]),
    ...notRun.map(({ name, why }) => `  NOT RUN: ${name}: ${why}`),
    `  ${workflows} each, ${rounds} rounds; ${machine.cpus} × ${machine.model}, load ${machine.load.join(', ')}`,
  ].join('\n')
}

export function tellSpread(one: Spread | undefined): string {
  if (!one) return '-'
  return one.min === one.max ? String(one.median) : `${one.median} (${one.min}–${one.max})`
}
