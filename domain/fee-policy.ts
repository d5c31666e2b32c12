import type { LaneId } from './lane-id.ts'
import type { ChainName } from './transfer.ts'

/** What may be spent on a transaction. Every field is optional; each is decided by itself, by the most specific rule that sets it. */
export interface FeePolicy {
  /** Most that a unit of gas may cost, wei, decimal (EIP-1559 maxFeePerGas, or the legacy gas price). */
  readonly maxFeePerGas?: string | undefined
  /** Most of that for the block's builder, wei, decimal (maxPriorityFeePerGas). */
  readonly maxTip?: string | undefined
  /** Most that a whole transaction may cost, data fee of an L2 included, value not, wei, decimal. */
  readonly maxFeePerTransaction?: string | undefined
  /** Above this base fee (wei, decimal) nothing new is sent: transfers wait, and hold no nonce. */
  readonly baseFeeCeiling?: string | undefined
  /** The gas limit is the estimate times this. */
  readonly gasFactor?: number | undefined
  /** Most gas units of a transaction, decimal. A call that needs more is not sent. */
  readonly gasLimit?: string | undefined
}

/** Where a rule applies, from the most specific to the least: a transfer, a lane, a function of a contract, a contract, a chain, everything. */
export type FeeScope =
  | { readonly kind: 'transfer'; readonly id: string }
  | { readonly kind: 'lane'; readonly lane: LaneId }
  | { readonly kind: 'call'; readonly chain: ChainName; readonly contract: string; readonly selector?: string | undefined }
  | { readonly kind: 'chain'; readonly chain: ChainName }
  | { readonly kind: 'global' }

export interface FeeRule {
  readonly scope: FeeScope
  readonly policy: FeePolicy
}
