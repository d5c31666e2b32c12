import { cpus, loadavg } from 'node:os'
import { round } from './statistics.ts'

export interface Machine {
  readonly cpus: number
  readonly model: string
  readonly node: string
  /** One-minute load averages: one before each part, and one at the end. */
  readonly load: readonly number[]
}

export function machineOf(begun: readonly number[]): Machine {
  const load = [...begun, loadavg()[0] ?? 0].map((one) => round(one))
  return { cpus: cpus().length, model: cpus()[0]?.model ?? 'unknown', node: process.version, load }
}

export function tellMachine({ cpus: count, model, node, load }: Machine): string {
  return `${count} × ${model}, Node ${node}, load ${load.join(', ')}`
}
