import { intentIdOf } from '../../domain/lane/intent-id.ts'
import type { LaneId } from '../../domain/lane/lane-id.ts'
import type { ChainName, Transfer } from '../../domain/transfer/transfer.ts'
import { defineSearchAttributeKey } from '@temporalio/common'

/**
 * The workflow id of a transfer. The digest (its first 64 bits) makes two messages that claim one sequence two transfers. All of it is in the message, so that
 * no change of the config makes a second transfer of one message.
 */
export function transferId(transfer: Pick<Transfer, 'bridge' | 'sourceId' | 'emitter' | 'sequence' | 'digest'>): string {
  const { bridge, sourceId, emitter, sequence, digest } = transfer
  return [bridge, sourceId, emitter, sequence, digest.slice(2, 18)].join(':')
}

/** Workflow id of a lane's ledger. */
export function laneWorkflowId(lane: LaneId): string {
  return `lane:${lane}`
}

/** Workflow ids of the batches of a lane begin so. */
export function batchPrefix(lane: LaneId): string {
  return `batch:${lane}:`
}

/** Workflow ids of operators' transactions begin so. */
export const operatorTransactionPrefix = 'operator-transaction:'

/** A batch is one intent for ever: no second round. */
export function batchIntentId(workflowId: string): string {
  return intentIdOf(workflowId, 1)
}

export const settingsWorkflowId = 'settings'

/** Transfer workflows and the keyless steps of a target chain. */
export function chainQueue(chain: ChainName): string {
  return `chain:${chain}`
}

/** Steps that need the key of a lane. */
export function laneQueue(lane: LaneId): string {
  return `lane:${lane}`
}

/** The ledgers: no chain, no key. */
export const ledgerQueue = 'ledger'

/** Types of its workflows that run on for long: what they know is in their input, and in the signals and updates since. */
export const ledgerWorkflows = ['lane', 'stream', 'settings', 'batch', 'operatorTransaction', 'notifier'] as const

export const searchAttributes = {
  TransferState: defineSearchAttributeKey('TransferState', 'KEYWORD'),
  Bridge: defineSearchAttributeKey('Bridge', 'KEYWORD'),
  SourceChain: defineSearchAttributeKey('SourceChain', 'KEYWORD'),
  TargetChain: defineSearchAttributeKey('TargetChain', 'KEYWORD'),
  Lane: defineSearchAttributeKey('Lane', 'KEYWORD'),
  TxHash: defineSearchAttributeKey('TxHash', 'KEYWORD'),
  /** Why a transfer waits, is parked or was refused: a code of docs/reference/errors.md. None while it goes on. */
  PortageCode: defineSearchAttributeKey('PortageCode', 'KEYWORD'),
} as const

/** Failure type of an update that a workflow refuses as malformed. A repetition is refused too. */
export const malformedUpdate = 'REQUEST_MALFORMED'
/** Failure type of an update for a run that is ending. The next run takes it. */
export const runIsFull = 'RUN_IS_FULL'
