import { allClosed, type Closed } from './closes.ts'
import { type Measured, type ProcessUsage, startCpuMeter } from './cpu-meter.ts'
import { ratesOf, type Rates } from './statistics.ts'
import type { Client } from '@temporalio/client'

export interface Measurement extends Rates {
  readonly count: number
  /** Time at which the worker was ready, ms since the epoch. */
  readonly begin: number
  readonly closed: readonly Closed[]
  readonly usage: Readonly<Record<string, ProcessUsage>>
}

export interface MeasureOptions {
  readonly client: Client
  /** Visibility query that matches these workflows only. */
  readonly query: string
  readonly count: number
  readonly measured: Measured
  readonly giveUp: () => string | undefined
}

/** Measures from now until `count` workflows of the query have closed. Throws Error if they do not close. */
export async function measure({ client, query, count, measured, giveUp }: MeasureOptions): Promise<Measurement> {
  const begin = Date.now()
  const meter = await startCpuMeter(measured)
  const closed = await allClosed(client, query, count, giveUp)
  const usage = await meter.stop()
  const times = closed.map(({ closedAt }) => closedAt)
  return { count, begin, closed, usage, ...ratesOf(times, begin) }
}

export function perWorkflow(closed: readonly Closed[]): Record<'stateTransitions' | 'historyEvents' | 'historyBytes', number> {
  const mean = (of: (one: Closed) => number) => closed.reduce((sum, one) => sum + of(one), 0) / Math.max(1, closed.length)
  return {
    stateTransitions: mean((one) => one.stateTransitions),
    historyEvents: mean((one) => one.historyEvents),
    historyBytes: mean((one) => one.historyBytes),
  }
}
