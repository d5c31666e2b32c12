import type { ChainName } from '../../domain/transfer/transfer.ts'

export interface AuditInput {
  chain: ChainName
  /** Checks runs that closed within this time. */
  hours: number
  /** Runs that closed less than this ago, ms, are left for the next audit: a node may lag. */
  graceMs: number
}

/** Findings of an audit. Lists hold the first 200 ids. */
export interface AuditReport extends Pick<AuditInput, 'chain' | 'hours'> {
  checked: number
  intact: number
  /** Their final effect is gone: an alarm. They are started again. */
  undoneCount: number
  undone: string[]
  /** They closed without an outcome, and are started again. */
  reopenedCount: number
  reopened: string[]
  /** They waited for nothing, or their tasks were not answered. They are reset. */
  idleCount: number
  idle: string[]
  /** Without their effect, on their way again. */
  underway: number
  /** The nodes disagree, or no second block confirmed. The next audit checks them again. */
  unsure: number
}

export interface AuditSteps {
  auditDelivered(input: AuditInput): Promise<AuditReport>
}

export const auditGraceMs = 60_000

export const auditPrefix = 'audit:'

/** Id of a chain's schedule. Its workflows append the time. */
export function auditId(chain: ChainName): string {
  return `${auditPrefix}${chain}`
}
