import type { ChainName } from '../../domain/transfer/transfer.ts'

export interface AuditInput {
  chain: ChainName
  hours: number
  /** Nodes may lag, so runs that closed within this time are left to the next audit. */
  graceMs: number
}

/** Each list has at most the first 200 ids. */
export interface AuditReport extends Pick<AuditInput, 'chain' | 'hours'> {
  checked: number
  intact: number
  /** Transfers whose final effect is gone. The audit starts them again. */
  undoneCount: number
  undone: string[]
  reopenedCount: number
  reopened: string[]
  idleCount: number
  idle: string[]
  underway: number
  /** Transfers that could not be read or recovered, or on which nodes disagree. The next audit checks them again. */
  unsure: number
}

export interface AuditSteps {
  auditDelivered(input: AuditInput): Promise<AuditReport>
}

export const auditGraceMs = 60_000

export const auditPrefix = 'audit:'

/** Id of a chain's audit schedule. Temporal appends the time to get the id of a scheduled audit. */
export function auditId(chain: ChainName): string {
  return `${auditPrefix}${chain}`
}
