import type { Intent, Owner } from '../domain/lane/lane.ts'
import type { SignedHash } from '../temporal/contracts/operator-transaction.ts'
import { createHash } from 'node:crypto'

export interface LaneCall {
  readonly owner: Owner
  readonly intent: Intent
  readonly tried?: readonly SignedHash[] | undefined
}

export function laneCall(intentId: string, intent: Intent): LaneCall {
  return { owner: { intentId, callHash: callHash(intent), ...(intent.value !== '0' && { value: intent.value }) }, intent }
}

/** Identifies a call in the ledger: sha256 over its three fields. */
export function callHash({ to, value, data }: Intent): string {
  return `0x${createHash('sha256').update(`${to}|${value}|${data}`).digest('hex')}`
}
