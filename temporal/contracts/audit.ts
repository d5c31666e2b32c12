import type { ChainName } from '../../domain/transfer/transfer.ts'

/** Input of the workflow `audit`, and of its step. */
export interface AuditInput {
  chain: ChainName
  /** It looks at what closed within this time. */
  hours: number
  /** What closed less than this long ago, ms, is left for the next audit: a node may lag, or a person may restart it. */
  graceMs: number
}

/** Findings of an audit. Its lists hold the first 200 ids; the counts count all. */
export interface AuditReport extends Pick<AuditInput, 'chain' | 'hours'> {
  /** Delivered transfers that were asked for, and those whose effect is there. */
  checked: number
  intact: number
  /** Delivered and final, and the effect is gone: an alarm. Started again. */
  undoneCount: number
  undone: string[]
  /** Closed without an outcome (failed, terminated, timed out), and started again. */
  reopenedCount: number
  reopened: string[]
  /** Waited for nothing, or its tasks were not answered: reset. */
  idleCount: number
  idle: string[]
  /** The effect is not there, and the transfer is on its way again already. */
  underway: number
  /** The nodes don't agree, or no block came for a second look: the next audit asks again. */
  unsure: number
}

export interface AuditSteps {
  /** On the queue of the chain. */
  auditDelivered(input: AuditInput): Promise<AuditReport>
}

/** The usual `graceMs`. */
export const auditGraceMs = 60_000

/** Ids of the schedules of audits, and of their runs, begin so. */
export const auditPrefix = 'audit:'

/** Id of the schedule of a chain's audits, and of the workflows that it starts (with the time behind it). */
export function auditId(chain: ChainName): string {
  return `${auditPrefix}${chain}`
}
