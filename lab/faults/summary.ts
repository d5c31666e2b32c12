import type { CheckResult } from '../checker/checker.ts'
import type { Remains } from './drain.ts'
import type { Injected } from './inject.ts'
import type { LogFindings } from './logs.ts'

/** What a fault run prints. */
export interface FaultSummary extends LogFindings {
  readonly seed: string
  readonly transfers: number
  /** Faults that struck, by kind. */
  readonly faults: Injected
  readonly delivered: number
  readonly lost: number
  readonly duplicateEffects: number
  readonly wrongBalances: number
  /** Completions of the native bridge that no user had initiated. */
  readonly foreignCompletions: number
  readonly nonceHoles: number
  /** Transfers that have not ended as delivered, lanes with a nonce that is not mined, streams that have not proved all their numbers. */
  readonly stuck: number
  /** Transactions of our lanes in blocks that delivered nothing: no-ops, reverted calls, what others did with our keys. */
  readonly wastedTransactions: number
  readonly revertedTransactions: number
  /** Processes that ended without having been killed, and were started again. */
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
    restarts: input.restarts,
    rpcCallsPerTransfer: Math.round((10 * input.rpcCalls) / Math.max(1, check.transfers)) / 10,
    seconds: Math.round(input.elapsedMs / 100) / 10,
  }
}

/** Everything delivered once, no hole, nothing stuck; nothing in a log that must not be there. */
export function isClean(summary: FaultSummary): boolean {
  const { transfers, delivered, lost, duplicateEffects, wrongBalances, foreignCompletions, nonceHoles, stuck, brokenTasks, loggedKeys } =
    summary
  const wrong = lost + duplicateEffects + wrongBalances + foreignCompletions + nonceHoles + stuck + brokenTasks + loggedKeys
  return transfers > 0 && delivered === transfers && wrong === 0
}

/** The summary for people. */
export function describe(summary: FaultSummary): string {
  const { faults, ...figures } = summary
  const rows = Object.entries(figures).map(([name, value]) => `  ${name.padEnd(24)}${value}`)
  const struck = Object.entries(faults).toSorted(([a], [b]) => a.localeCompare(b))
  return [...rows, '  faults', ...struck.map(([kind, count]) => `    ${kind.padEnd(22)}${count}`)].join('\n')
}
