import type { ChainName } from '../../domain/transfer/transfer.ts'

export interface AuditInput {
  chain: ChainName
  hours: number
  /** Runs that closed within this time (ms) are left to the next audit, because nodes may lag. */
  graceMs: number
}

/** Result of an audit. Each list has at most the first 200 ids. */
export interface AuditReport extends Pick<AuditInput, 'chain' | 'hours'> {
  checked: number
  intact: number
  /** Transfers whose final effect is gone. The audit raises an alarm, and starts these transfers again. */
  undoneCount: number
  undone: string[]
  reopenedCount: number
  reopened: string[]
  idleCount: number
  idle: string[]
  underway: number
  /**
   * Transfers that could not be read or recovered, or on which nodes disagree. Also those whose effect was missing and
   * could not be read again, because no later block came. The next audit checks all of them again.
   */
  unsure: number
}

export interface AuditSteps {
  auditDelivered(input: AuditInput): Promise<AuditReport>
}

export const auditGraceMs = 60_000

export const auditPrefix = 'audit:'

/** Id of a chain's schedule. The id of a scheduled audit is this id with the time. */
export function auditId(chain: ChainName): string {
  return `${auditPrefix}${chain}`
}
