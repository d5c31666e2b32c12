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
  /** What was signed: the same for every signature of the same transaction. */
  readonly signingHash: string
}

/** Contract → selectors of its functions: 0x, lower case. */
export type ContractCalls = Readonly<Record<string, readonly string[]>>

/** Most that a key spends, whatever asks for it. Gas units, and wei as decimal strings. */
export interface SigningLimits {
  readonly maxGasPerTransaction: string
  readonly maxTipPerGasWei: string
  /** What the chain charges for the data of one transaction beside its gas (L2s). */
  readonly maxDataFeePerTransactionWei: string
  /** Gas limit × fee per gas of one transaction, and its data fee. */
  readonly maxCostPerTransactionWei: string
  /** The same of all nonces together, each by its dearest attempt. */
  readonly maxSpendingPerHourWei: string
  readonly maxSpendingPerDayWei: string
  /** Coins of one payment to a payee; absent: no limit, since the config names the payees. */
  readonly maxPaymentWei?: string | undefined
}

/** What a key may sign beside no-ops to itself. All addresses and selectors 0x, lower case. */
export interface SigningPolicy {
  /** Calls that deliver: they carry no coins, and each is signed only once `proveCall` has proved it. */
  readonly calls: ContractCalls
  /** Contract → how the data of operators' calls begins: a selector, and the first arguments that it must have. Without coins; nothing proves what follows. */
  readonly operatorCalls: ContractCalls
  /** Proves one of `calls` from its calldata alone. Throws CALL_UNJUSTIFIED, and what reads throw: then nothing is known, and it may be asked again. */
  readonly proveCall: (call: Intent) => Promise<void>
  readonly limits: SigningLimits
  /** What the chain charges for the data of a call beside its gas, wei, decimal (`Chain.dataFee`): no transaction says it. Throws what reads throw. */
  readonly dataFee: (call: Intent) => Promise<string>
  /** For those who read of a refusal: the lane, and the fields of the config that decide. */
  readonly lane: LaneId
  readonly fieldOf: (what: 'calls' | 'payees' | keyof SigningLimits) => string
  /** The folder in which spending outlives the process; absent: it is counted in memory. */
  readonly spendingFolder?: string | undefined
  /** Addresses that may be sent coins. */
  readonly coinPayees: readonly string[]
  /** Token contracts whose tokens may be sent to `tokenPayees`. */
  readonly tokens: readonly string[]
  readonly tokenPayees: readonly string[]
}

/** A transaction as it would be signed; without a nonce: with the next one. */
export type Proposed = Omit<UnsignedTransaction, 'nonce'> & { readonly nonce?: number | undefined }

/** What a key has signed for, wei, and its limit. */
export interface Spending {
  readonly window: 'hour' | 'day'
  readonly spent: bigint
  readonly limit: bigint
}

/** Of the key of one lane; empty: it has no limit. */
export interface LaneSpending {
  readonly lane: string
  readonly spending: readonly Spending[]
}

/** The only holder of key material. */
export interface Signer {
  /** 0x address, lower case. */
  readonly address: string
  /**
   * Some signers (KMS) give another hash each time for the same input. Throws SIGNER_OFFLINE, SIGNER_UNAVAILABLE; SIGNING_REFUSED (with the fact `limit` where a
   * limit is the reason, and `dataFee` where it would not be without the data fee of the moment), CALL_UNJUSTIFIED, SPENDING_UNRECORDED, and what the reads of a proof and of the data fee throw.
   */
  sign(transaction: UnsignedTransaction): Promise<SignedTransaction>
  /** Throws what `sign` would refuse it with, before anything is recorded or given a nonce for it; the key is not asked. Absent: signs all. */
  check?(transaction: Proposed): Promise<void>
  /** What was signed for lately; absent: not counted. */
  spending?(): readonly Spending[]
}
