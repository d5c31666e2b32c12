import type { CheckResult } from '../checker/checker.ts'
import type { Remains } from './drain.ts'
import type { Injected } from './inject.ts'
import type { LogFindings } from './logs.ts'
import type { Takeover } from './takeover.ts'
import { idleMembers, type WorkShares } from './work-shares.ts'

export interface FleetFindings {
  /** Time from the SIGKILL of a lane process to the next delivery by the other process of its key. */
  readonly takeoverMs: { readonly min: number; readonly median: number; readonly max: number } | null
  readonly takeovers: readonly Takeover[]
  readonly work: WorkShares
  /** Processes that polled a queue but took no task during the whole run. */
  readonly idle: readonly string[]
}

export interface FaultSummary extends LogFindings, Partial<FleetFindings> {
  readonly seed: string
  readonly transfers: number
  readonly faults: Injected
  readonly delivered: number
  readonly lost: number
  readonly duplicateEffects: number
  readonly wrongBalances: number
  readonly foreignCompletions: number
  readonly nonceHoles: number
  /** Number of transfers, lanes and streams with work left, plus the number of lanes and streams that do not answer. */
  readonly stuck: number
  readonly wastedTransactions: number
  readonly revertedTransactions: number
  readonly restarts: number
  readonly rpcCallsPerTransfer: number
  readonly seconds: number
}

export function summarize(input: {
  seed: string
  injected: Injected
  check: CheckResult
  remains: Remains
  logs: LogFindings
  restarts: number
  rpcCalls: number
  elapsedMs: number
  fleet?: FleetFindings | undefined
}): FaultSummary {
  const { check, remains } = input
  return {
    seed: input.seed,
    transfers: check.transfers,
    faults: input.injected,
    delivered: check.delivered,
    lost: check.lost,
    duplicateEffects: check.duplicates,
    wrongBalances: check.wrongBalances,
    foreignCompletions: check.foreignCompletions,
    nonceHoles: check.nonceHoles,
    stuck:
      remains.transfers.length + remains.lanes.length + remains.streams.length + check.lanes.filter(({ waiting }) => waiting > 0).length,
    wastedTransactions: check.wastedTransactions,
    revertedTransactions: check.revertedTransactions,
    ...input.logs,
    ...input.fleet,
    restarts: input.restarts,
    rpcCallsPerTransfer: Math.round((10 * input.rpcCalls) / Math.max(1, check.transfers)) / 10,
    seconds: Math.round(input.elapsedMs / 100) / 10,
  }
}

export function fleetFindings(takeovers: readonly Takeover[], work: WorkShares): FleetFindings {
  const times = takeovers.map(({ ms }) => ms).toSorted((a, b) => a - b)
  const [min, median, max] = [0, Math.floor((times.length - 1) / 2), times.length - 1].map((at) => times[at])
  const takeoverMs = min === undefined || median === undefined || max === undefined ? null : { min, median, max }
  return { takeoverMs, takeovers, work, idle: idleMembers(work) }
}

export function isClean(summary: FaultSummary): boolean {
  const { transfers, delivered, lost, duplicateEffects, wrongBalances, foreignCompletions, nonceHoles, stuck, brokenTasks, loggedKeys } =
    summary
  const { idle = [] } = summary
  const wrong = lost + duplicateEffects + wrongBalances + foreignCompletions + nonceHoles + stuck + brokenTasks + loggedKeys + idle.length
  return transfers > 0 && delivered === transfers && wrong === 0
}

export function describe(summary: FaultSummary): string {
  const { faults, takeoverMs, takeovers = [], work = {}, idle, ...figures } = summary
  const rows = Object.entries(figures).map(([name, value]) => `  ${name.padEnd(24)}${value}`)
  if (takeoverMs)
    rows.push(`  ${'takeoverMs'.padEnd(24)}${takeoverMs.min} to ${takeoverMs.max}, median ${takeoverMs.median}, of ${takeovers.length}`)
  if (idle) rows.push(`  ${'idle'.padEnd(24)}${idle.join(', ') || 'none'}`, '  tasks of each process')
  rows.push(...Object.entries(work).map(([name, tasks]) => `    ${name.padEnd(22)}${tasks}`))
  const struck = Object.entries(faults).toSorted(([a], [b]) => a.localeCompare(b))
  return [...rows, '  faults', ...struck.map(([kind, count]) => `    ${kind.padEnd(22)}${count}`)].join('\n')
}
