import type { Fees } from '../domain/fees/fees.ts'
import type { Intent, LaneId } from '../domain/lane/lane.ts'
import type { Settings } from '../domain/settings/settings.ts'
import type { TransferRoute } from '../domain/transfer/transfer.ts'

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
  /** 0x, lower case. */
  readonly hash: string
  /** Hash of the unsigned transaction, the same for every signature. */
  readonly signingHash: string
}

/** Contract → selectors of its functions: 0x, lower case. */
export type ContractCalls = Readonly<Record<string, readonly string[]>>

/** Limits of everything a key signs. Gas units, and wei as decimal strings. */
export interface SigningLimits {
  readonly maxGasPerTransaction: string
  readonly maxTipPerGasWei: string
  readonly maxDataFeePerTransactionWei: string
  /** Gas limit × fee per gas + data fee. */
  readonly maxCostPerTransactionWei: string
  /** Of each nonce, only the dearest attempt counts. Payments of coins are summed separately, with the same limit. */
  readonly maxSpendingPerHourWei: string
  readonly maxSpendingPerDayWei: string
  readonly maxPaymentWei: string
}

/** The transactions that a key signs in addition to no-ops. Addresses and selectors are 0x, lower case. */
export interface SigningPolicy {
  /** Functions that deliver. `proveCall` must prove each such call. The calls carry no coins. */
  readonly calls: ContractCalls
  /** Selector → most coins (wei, decimal) of a delivering call to any contract. `proveCall` must prove each of them. */
  readonly openCalls: Readonly<Record<string, string>>
  /** Contract → how operators' calls must begin (hex). The calls carry no coins. Further arguments are not proved. */
  readonly operatorCalls: ContractCalls
  /**
   * Proves one of `calls` or `openCalls` from its calldata, and resolves to the routes of its transfers. Throws
   * CALL_UNJUSTIFIED, or retryable read errors.
   */
  readonly proveCall: (call: Intent) => Promise<readonly TransferRoute[]>
  /** Their halts apply to the routes of a call. Throws SETTINGS_UNREACHABLE before the settings are read. */
  readonly settings: () => Pick<Settings, 'halts'>
  readonly limits: SigningLimits
  readonly dataFee: (call: Intent) => Promise<string>
  readonly lane: LaneId
  readonly fieldOf: (what: 'calls' | 'payees' | 'topUps' | 'topUpLimits' | keyof SigningLimits) => string
  readonly spendingFolder: string
  readonly coinPayees: readonly string[]
  readonly otherLanes: readonly string[]
  /** If true, coins may go to `otherLanes`: a thief of one key and Temporal access gets all coins, within limits. */
  readonly topUps: boolean
  /** Limits of coins to `otherLanes`, in addition to `limits`. Wei, decimal. */
  readonly topUpLimits?: { readonly maxPaymentWei: string; readonly maxPerDayWei: string } | undefined
  readonly tokens: readonly string[]
  readonly tokenPayees: readonly string[]
}

/** An absent nonce means the account's next nonce. */
export type Proposed = Omit<UnsignedTransaction, 'nonce'> & { readonly nonce?: number | undefined }

export interface Spending {
  /** `cost`: gas and data fees. `payment`: coins paid. `top-up`: coins paid to other lanes, if they have a limit. */
  readonly kind: 'cost' | 'payment' | 'top-up'
  readonly window: 'hour' | 'day'
  readonly spent: bigint
  readonly limit: bigint
}

/** An empty `spending` means that there is no limit. */
export interface LaneSpending {
  readonly lane: string
  readonly spending: readonly Spending[]
}

export interface Signer {
  readonly address: string
  /**
   * Throws SIGNER_OFFLINE, SIGNER_UNAVAILABLE, SIGNING_REFUSED, CALL_UNJUSTIFIED, SPENDING_UNRECORDED, read errors.
   * The fact `limit` names an exceeded limit. The fact `dataFee` is set if only the data fee exceeds it.
   */
  sign(transaction: UnsignedTransaction): Promise<SignedTransaction>
  /** Throws the refusals of `sign` without asking the key. Absent: no checks. */
  check?(transaction: Proposed): Promise<void>
  spending?(): readonly Spending[]
}
