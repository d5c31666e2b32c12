import type { ChainName } from '../../domain/transfer/transfer.ts'

/** Input of the workflow `audit` and of its step. */
export interface AuditInput {
  chain: ChainName
  /** The audit checks runs that closed within this time. */
  hours: number
  /**
   * Runs that closed later than this long ago, ms, are left for the next audit: a node may lag, or a person may restart
   * one.
   */
  graceMs: number
}

/** Findings of an audit. Lists hold the first 200 ids; counts count all. */
export interface AuditReport extends Pick<AuditInput, 'chain' | 'hours'> {
  /** Delivered transfers that were checked, and those whose effect is there. */
  checked: number
  intact: number
  /** Transfers whose final effect is gone. An alarm; they are started again. */
  undoneCount: number
  undone: string[]
  /** Transfers that closed without an outcome (failed, terminated, timed out). They are started again. */
  reopenedCount: number
  reopened: string[]
  /** Transfers that waited for nothing, or whose tasks were not answered. They are reset. */
  idleCount: number
  idle: string[]
  /** Transfers without their effect that are on their way again. */
  underway: number
  /** Transfers on which the nodes disagree, or that no second block confirmed. The next audit checks them again. */
  unsure: number
}

export interface AuditSteps {
  /** On the queue of the chain. */
  auditDelivered(input: AuditInput): Promise<AuditReport>
}

/** Default of `graceMs`. */
export const auditGraceMs = 60_000

/** Prefix of the ids of audits, and of their schedules. */
export const auditPrefix = 'audit:'

/** Id of the schedule of a chain's audits. Its workflows append the time. */
export function auditId(chain: ChainName): string {
  return `${auditPrefix}${chain}`
}
