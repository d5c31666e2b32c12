import { intentIdOf, type LaneId } from '../../domain/lane/lane.ts'
import { isU64 } from '../../domain/stream/request.ts'
import type { ChainName, Transfer } from '../../domain/transfer/transfer.ts'
import { defineSearchAttributeKey } from '@temporalio/common'

/**
 * Id of a transfer's workflow. Changes of the config do not change it. The digest separates messages with equal
 * sequences.
 */
export function transferId(transfer: Pick<Transfer, 'bridge' | 'sourceId' | 'emitter' | 'sequence' | 'digest'>): string {
  const { bridge, sourceId, emitter, sequence, digest } = transfer
  return [bridge, sourceId, emitter, sequence, digest.slice(2, 18)].join(':')
}

/** Undefined for a text that `transferId` does not make. */
export function transferIdParts(id: string): { bridge: string; emitter: string; sequence: string } | undefined {
  const [bridge, sourceId, emitter, sequence, digest = '', ...rest] = id.split(':')
  if (!bridge || !sourceId || !emitter || !isU64(sequence) || !/^[0-9a-f]{16}$/.test(digest) || rest.length > 0) return undefined
  return { bridge, emitter, sequence }
}

export function laneWorkflowId(lane: LaneId): string {
  return `lane:${lane}`
}

export function batchPrefix(lane: LaneId): string {
  return `batch:${lane}:`
}

export const operatorTransactionPrefix = 'operator-transaction:'

export function batchIntentId(workflowId: string): string {
  return intentIdOf(workflowId, 1)
}

export const settingsWorkflowId = 'settings'

/** Queue of transfers to the chain, and of their steps that need no key. */
export function chainQueue(chain: ChainName): string {
  return `chain:${chain}`
}

/** Queue of steps that need the lane's key. */
export function laneQueue(lane: LaneId): string {
  return `lane:${lane}`
}

export const ledgerQueue = 'ledger'

export const ledgerWorkflows = ['lane', 'stream', 'settings', 'batch', 'operatorTransaction', 'notifier'] as const

export const searchAttributes = {
  TransferState: defineSearchAttributeKey('TransferState', 'KEYWORD'),
  Bridge: defineSearchAttributeKey('Bridge', 'KEYWORD'),
  SourceChain: defineSearchAttributeKey('SourceChain', 'KEYWORD'),
  TargetChain: defineSearchAttributeKey('TargetChain', 'KEYWORD'),
  Lane: defineSearchAttributeKey('Lane', 'KEYWORD'),
  TxHash: defineSearchAttributeKey('TxHash', 'KEYWORD'),
  PortageCode: defineSearchAttributeKey('PortageCode', 'KEYWORD'),
} as const

/** Type of a refusal: every run would refuse the update. */
export const malformedUpdate = 'REQUEST_MALFORMED'
/** Type of a refusal: this run refuses the update, but the next run accepts it. */
export const runIsFull = 'RUN_IS_FULL'
