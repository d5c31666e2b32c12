import type { ChainName } from '../../domain/transfer/transfer.ts'

export interface AuditInput {
  chain: ChainName
  /** Checks runs that closed within this time. */
  hours: number
  /** Runs that closed within this time, ms, wait for the next audit, because nodes may lag. */
  graceMs: number
}

/** Findings of an audit. Lists hold the first 200 ids. */
export interface AuditReport extends Pick<AuditInput, 'chain' | 'hours'> {
  checked: number
  intact: number
  /** Transfers whose final effect is gone, which raises an alarm. They are started again. */
  undoneCount: number
  undone: string[]
  /** Transfers that closed without an outcome. They are started again. */
  reopenedCount: number
  reopened: string[]
  /** Transfers that are reset, because they waited for nothing, or because no process answered their tasks. */
  idleCount: number
  idle: string[]
  /** Transfers whose effect is gone and that already run again. */
  underway: number
  /** Transfers on which nodes disagree, or whose effect is missing in one block only. The next audit checks again. */
  unsure: number
}

export interface AuditSteps {
  auditDelivered(input: AuditInput): Promise<AuditReport>
}

export const auditGraceMs = 60_000

export const auditPrefix = 'audit:'

/** Id of a chain's schedule. The ids of its workflows are this id and the time. */
export function auditId(chain: ChainName): string {
  return `${auditPrefix}${chain}`
}
