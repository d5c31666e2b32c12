import type { Chain } from '../chains/port.ts'
import type { Signer } from '../chains/signing-port.ts'
import type { FeePolicyResolver, Fees } from '../domain/fees/fees.ts'
import type { Attempt, Intent, LaneConfig, Owner } from '../domain/lane/lane.ts'
import type { WatchedToken } from '../domain/lane/tokens.ts'
import type { Terms } from '../domain/transfer/transfer.ts'
import type { Logger } from '../observability/logger.ts'
import type { LedgerClient } from './ledger/ledger-client.ts'
import type { SignedHash } from '../temporal/contracts/operator-transaction.ts'
import { createHash } from 'node:crypto'

export interface LaneDeps {
  readonly chain: Chain
  readonly signer: Signer
  /** The highest nonce below `limit` that the key signed lately. Throws SPENDING_UNRECORDED. */
  readonly signedBelow: (limit: number) => Promise<number | undefined>
  readonly ledger: LedgerClient
  readonly logger: Logger
  readonly config: LaneConfig
  readonly bumpAfterBlocks: number
  readonly raised?: (kind: Attempt['kind']) => void
  readonly fees?: FeePolicyResolver
  readonly tokens?: readonly WatchedToken[] | undefined
}

export interface LaneCall {
  readonly owner: Owner
  readonly intent: Intent
  readonly tried?: readonly SignedHash[] | undefined
  readonly terms?: Terms | undefined
}

/** The call of a nonce, as far as a process knows it. Without `intent`, the process can only sign no-ops. */
export interface KnownCall extends Partial<Pick<LaneCall, 'intent' | 'tried' | 'terms'>> {
  readonly intentId?: string
  /** Identifies the call even if an earlier process signed it with other fees or with another signer. */
  readonly callHash?: string | undefined
  readonly grantedTo?: string | undefined
  /** Why the nodes refused the call, in their words. */
  readonly refusal?: string | undefined
  /** Number of blocks for which earlier processes have driven the last attempt. */
  readonly waited?: number
  /** Fees of attempts that a pool may hold and the ledger does not know. New attempts must exceed them. */
  readonly outbid?: readonly Fees[] | undefined
}

export function laneCall(intentId: string, intent: Intent): LaneCall {
  return { owner: { intentId, callHash: callHash(intent), ...(intent.value !== '0' && { value: intent.value }) }, intent }
}

export function callHash({ to, value, data }: Intent): string {
  return `0x${createHash('sha256').update(`${to}|${value}|${data}`).digest('hex')}`
}
