import type { Fees } from '../domain/fees/fees.ts'
import type { Intent } from '../domain/intent.ts'
import type { LaneId } from '../domain/lane/lane-id.ts'

export interface UnsignedTransaction extends Fees {
  readonly networkId: string
  readonly nonce: number
  readonly to: string
  readonly data: string
  readonly value: string
  readonly gasLimit: string
}

export interface SignedTransaction {
  readonly raw: string
  /** 0x transaction hash, lower case. */
  readonly hash: string
  /** Hash of the unsigned transaction: the same for every signature. */
  readonly signingHash: string
}

/** Contract → selectors of its functions: 0x, lower case. */
export type ContractCalls = Readonly<Record<string, readonly string[]>>

/** Limits of everything a key signs. Gas units, and wei as decimal strings. */
export interface SigningLimits {
  readonly maxGasPerTransaction: string
  readonly maxTipPerGasWei: string
  /** Fee for the data of one transaction in addition to its gas (L2s). */
  readonly maxDataFeePerTransactionWei: string
  /** Gas limit × fee per gas of one transaction + its data fee. */
  readonly maxCostPerTransactionWei: string
  /** Cost of all nonces, each by its dearest attempt. */
  readonly maxSpendingPerHourWei: string
  readonly maxSpendingPerDayWei: string
  /** Coins of one payment to a payee. Absent: no limit, since the config names the payees. */
  readonly maxPaymentWei?: string | undefined
}

/** The transactions that a key may sign in addition to no-ops. Addresses and selectors are 0x, lower case. */
export interface SigningPolicy {
  /** Deliveries. They carry no coins, and each needs a proof by `proveCall`. */
  readonly calls: ContractCalls
  /**
   * Contract → prefixes of the data of operators' calls: a selector and leading arguments. Without coins. The arguments
   * after the prefix are not proved.
   */
  readonly operatorCalls: ContractCalls
  /**
   * Proves one of `calls` from its calldata alone. Throws CALL_UNJUSTIFIED, or errors of reads, after which it may be
   * retried.
   */
  readonly proveCall: (call: Intent) => Promise<void>
  readonly limits: SigningLimits
  /** `Chain.dataFee`. Throws errors of reads. */
  readonly dataFee: (call: Intent) => Promise<string>
  /** The lane and the deciding config fields, for the text of a refusal. */
  readonly lane: LaneId
  readonly fieldOf: (what: 'calls' | 'payees' | keyof SigningLimits) => string
  /** The folder where spending outlives the process. Absent: counted in memory. */
  readonly spendingFolder?: string | undefined
  /** Addresses that may receive coins. */
  readonly coinPayees: readonly string[]
  /** Token contracts whose tokens may be sent to `tokenPayees`. */
  readonly tokens: readonly string[]
  readonly tokenPayees: readonly string[]
}

/** A transaction before it is signed. Without a nonce: the next one. */
export type Proposed = Omit<UnsignedTransaction, 'nonce'> & { readonly nonce?: number | undefined }

/** The amount a key has signed for, wei, and its limit. */
export interface Spending {
  readonly window: 'hour' | 'day'
  readonly spent: bigint
  readonly limit: bigint
}

/** Spending of one lane's key. Empty: no limit. */
export interface LaneSpending {
  readonly lane: string
  readonly spending: readonly Spending[]
}

/** The only holder of key material. */
export interface Signer {
  /** 0x address, lower case. */
  readonly address: string
  /**
   * Signatures may differ each time (KMS). Throws SIGNER_OFFLINE, SIGNER_UNAVAILABLE, SIGNING_REFUSED (with the fact
   * `limit` if a limit is the reason, and `dataFee` if only the current data fee exceeds it), CALL_UNJUSTIFIED,
   * SPENDING_UNRECORDED, and errors of the proof's and the data fee's reads.
   */
  sign(transaction: UnsignedTransaction): Promise<SignedTransaction>
  /** Throws the refusals of `sign` without asking the key, before a nonce or a record exists. Absent: no checks. */
  check?(transaction: Proposed): Promise<void>
  /** Recent spending. Absent: not counted. */
  spending?(): readonly Spending[]
}
