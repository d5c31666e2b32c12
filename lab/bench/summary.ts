import { cpus, loadavg } from 'node:os'
import type { BacklogMeasurement } from './backlog.ts'
import type { Form } from './form.ts'
import type { Shape } from './history-shape.ts'
import { type Measurement, perWorkflow } from './measure.ts'
import { type ThreadGroup, threadGroups } from './proc-stat.ts'
import { round, type Spread, spread } from './statistics.ts'
import { workerName } from './yardsticks.ts'

/** Each round measures each kind once, so that a machine whose speed drifts does not favour one kind. */
export interface Round {
  readonly oneActivity: Measurement
  readonly portage: BacklogMeasurement
  readonly empty: Measurement
  readonly load: number
}

/** Figures over all rounds. CPU times are ms per workflow. */
export interface KindSummary {
  readonly perSecond: Spread
  readonly sustainedPerSecond: Spread
  readonly cpuMs: Spread
  /** `worker`: the relayer, or the yardstick's worker. `driver`: the bench itself, with guardian and users. */
  readonly cpuMsByProcess: Readonly<Record<string, Spread>>
  /** ms of CPU of the worker process per workflow. `proc-stat.ts` explains the groups. */
  readonly cpuMsByThread: Readonly<Record<ThreadGroup, Spread>>
  readonly rssPeakMiB: Readonly<Record<string, number>>
  readonly stateTransitions: number
  readonly historyEvents: number
  readonly historyBytes: number
}

export interface PortageSummary extends KindSummary {
  readonly rpcCalls: { readonly perTransfer: number; readonly byMethod: Readonly<Record<string, number>> }
  readonly startMs: Spread
  readonly firstCloseMs: Spread
  readonly gasPerTransaction: number
  readonly shape: Shape
}

export interface BenchSummary {
  readonly form: Form
  readonly transfers: number
  readonly rounds: number
  readonly keys: number
  readonly machine: { readonly cpus: number; readonly model: string; readonly node: string; readonly load: readonly number[] }
  readonly portage: PortageSummary
  readonly oneActivity: KindSummary
  readonly empty: KindSummary
  /** Portage's rate divided by the rate of one-activity workflows, per round. */
  readonly ratio: Spread
  readonly ratioSustained: Spread
  /** CPU time of all processes in Portage's run, divided by that of the one-activity run, per round. */
  readonly ratioCpu: Spread
  readonly delivered: number
  readonly of: number
  readonly lost: number
  readonly duplicates: number
  readonly revertedTransactions: number
  /** Number of signed messages that were fetched although their transfers were already running. */
  readonly fetchedAgain: number
  readonly maxPerLanePerBlock: number
}

export function summarize(
  rounds: readonly Round[],
  { form, keys, shape }: { readonly form: Form; readonly keys: number; readonly shape: Shape },
): BenchSummary {
  const portage = rounds.map((one) => one.portage)
  const checks = portage.map(({ check }) => check)
  const sum = (of: (check: BacklogMeasurement['check']) => number) => checks.reduce((total, one) => total + of(one), 0)
  const ratio = (of: (one: Measurement) => number) => spread(rounds.map((one) => of(one.portage) / of(one.oneActivity)))
  const transfers = portage[0]?.count ?? 0
  return {
    ...{ form, transfers, rounds: rounds.length, keys },
    machine: {
      ...{ cpus: cpus().length, model: cpus()[0]?.model ?? 'unknown', node: process.version },
      load: [...rounds.map(({ load }) => round(load)), round(loadavg()[0] ?? 0)],
    },
    portage: {
      ...kindOf(portage),
      rpcCalls: rpcCallsOf(portage),
      startMs: spread(portage.map(({ startMs }) => startMs)),
      firstCloseMs: spread(portage.map(({ firstCloseMs }) => firstCloseMs)),
      gasPerTransaction: checks.at(-1)?.gasPerTransaction ?? 0,
      shape,
    },
    oneActivity: kindOf(rounds.map((one) => one.oneActivity)),
    empty: kindOf(rounds.map((one) => one.empty)),
    ratio: ratio(({ perSecond }) => perSecond),
    ratioSustained: ratio(({ sustainedPerSecond }) => sustainedPerSecond),
    ratioCpu: ratio(cpuOf),
    delivered: sum(({ delivered }) => delivered),
    of: portage.reduce((total, { count }) => total + count, 0),
    lost: sum(({ lost }) => lost),
    duplicates: sum(({ duplicates }) => duplicates),
    revertedTransactions: sum((one) => one.revertedTransactions),
    fetchedAgain: portage.reduce((total, one) => total + one.fetchedAgain, 0),
    maxPerLanePerBlock: Math.max(...checks.map((one) => one.maxPerLanePerBlock)),
  }
}

export function cpuOf({ usage, count }: Measurement): number {
  return Object.values(usage).reduce((sum, { cpuMs }) => sum + cpuMs, 0) / count
}

export function kindOf(all: readonly Measurement[]): KindSummary {
  const names = Object.keys(all[0]?.usage ?? {})
  const eachOf = (of: (one: Measurement) => number) => spread(all.map(of))
  const inWorker = (group: ThreadGroup) => eachOf(({ usage, count }) => (usage[workerName]?.threadMs[group] ?? 0) / count)
  const { stateTransitions, historyEvents, historyBytes } = perWorkflow(all.flatMap(({ closed }) => closed))
  return {
    perSecond: eachOf((one) => one.perSecond),
    sustainedPerSecond: eachOf((one) => one.sustainedPerSecond),
    cpuMs: eachOf(cpuOf),
    cpuMsByProcess: record(names, (name) => eachOf(({ usage, count }) => (usage[name]?.cpuMs ?? 0) / count)),
    cpuMsByThread: record(threadGroups, inWorker),
    rssPeakMiB: record(names, (name) => Math.max(...all.map(({ usage }) => usage[name]?.rssPeakMiB ?? 0))),
    stateTransitions: round(stateTransitions),
    historyEvents: round(historyEvents),
    historyBytes: Math.round(historyBytes),
  }
}

function rpcCallsOf(all: readonly BacklogMeasurement[]): PortageSummary['rpcCalls'] {
  const transfers = all.reduce((sum, { count }) => sum + count, 0)
  const sums = new Map<string, number>()
  for (const { rpcCalls } of all) for (const [method, count] of rpcCalls) sums.set(method, (sums.get(method) ?? 0) + count)
  const total = [...sums.values()].reduce((sum, count) => sum + count, 0)
  const ordered = [...sums].toSorted(([, a], [, b]) => b - a)
  return {
    perTransfer: round(total / transfers),
    byMethod: Object.fromEntries(ordered.map(([name, count]) => [name, round(count / transfers, 3)])),
  }
}

function record<Key extends string, Value>(keys: readonly Key[], of: (key: Key) => Value): Record<Key, Value> {
  return Object.fromEntries(keys.map((key) => [key, of(key)])) as Record<Key, Value>
}
