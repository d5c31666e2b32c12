import type { Fees } from '../domain/fees/fees.ts'
import type { Intent, LaneId } from '../domain/lane/lane.ts'
import type { DenySubject, Settings } from '../domain/settings/settings.ts'
import type { BridgeName, TransferRoute } from '../domain/transfer/transfer.ts'

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

/** Gas is in units. Wei are decimal strings. */
export interface SigningLimits {
  readonly maxGasPerTransaction: string
  readonly maxTipPerGasWei: string
  readonly maxDataFeePerTransactionWei: string
  readonly maxCostPerTransactionWei: string
  /** Only the most expensive attempt for a nonce counts. Payments have a sum of their own, with the same limit. */
  readonly maxSpendingPerHourWei: string
  readonly maxSpendingPerDayWei: string
  readonly maxPaymentWei: string
}

export interface ProvedRoute extends TransferRoute {
  /** Id of the payment for the call's coins. For each payment, a key signs with only one nonce at a time. */
  readonly payment?: string | undefined
  /** The accounts and the token to which the deny-list applies. Absent: the call does not show them. */
  readonly parties?: Pick<DenySubject, 'recipient' | 'payee' | 'token'> | undefined
}

/** The transactions that a key signs, in addition to no-ops. Addresses and selectors are 0x, lower case. */
export interface SigningPolicy {
  /** Functions that deliver. `proveCall` must prove each such call. */
  readonly calls: ContractCalls
  /** Contract → selector → maximum coins (wei, decimal). Without an entry, a call of `calls` carries no coins. */
  readonly paidCalls: Readonly<Record<string, Readonly<Record<string, string>>>>
  /** Selector of a delivering call to any contract → maximum coins (wei, decimal). `proveCall` must prove it. */
  readonly openCalls: Readonly<Record<string, string>>
  /**
   * Contract → beginnings (hex) of calls that operators may order, without coins. The key does not check the arguments
   * that follow.
   */
  readonly operatorCalls: ContractCalls
  /** Proves a call by its calldata. Resolves to the routes of its transfers. Throws CALL_UNJUSTIFIED, read errors. */
  readonly proveCall: (call: Intent, gasLimit: string) => Promise<readonly ProvedRoute[]>
  /** Throws SETTINGS_UNREACHABLE before the settings are read. */
  readonly settings: () => Pick<Settings, 'halts' | 'denied'>
  /**
   * Names of plug-in packages. Their code does not run here, so a call that contains the bytes of a denied address is
   * denied.
   */
  readonly packages: ReadonlySet<BridgeName>
  /** Number of the account's nonces that most nodes show as used and final. Throws read errors. */
  readonly finalNonce: () => Promise<number>
  readonly limits: SigningLimits
  readonly dataFee: (call: Intent) => Promise<string>
  readonly lane: LaneId
  /** The config field that sets a list or a limit, for the texts of refusals. */
  readonly fieldOf: (what: 'calls' | 'payees' | 'topUps' | 'topUpLimits' | keyof SigningLimits) => string
  readonly spendingFolder: string
  /** Addresses to which coins and `tokens` may go. */
  readonly payees: readonly string[]
  readonly otherLanes: readonly string[]
  /**
   * If true, coins may go to other lanes. A thief of one key who can reach Temporal can then collect the coins of all
   * lanes.
   */
  readonly topUps: boolean
  /** Limits of coins for `otherLanes`, in addition to `limits`. Wei, decimal. */
  readonly topUpLimits?: { readonly maxPaymentWei: string; readonly maxPerDayWei: string } | undefined
  readonly tokens: readonly string[]
}

/** Without a nonce, the transaction is for the account's next nonce. */
export type Proposed = Omit<UnsignedTransaction, 'nonce'> & { readonly nonce?: number | undefined }

export interface Spending {
  /** `cost`: gas and data fees. `payment`: coins that were paid. `top-up`: coins to other lanes, if limited. */
  readonly kind: 'cost' | 'payment' | 'top-up'
  readonly window: 'hour' | 'day'
  readonly spent: bigint
  readonly limit: bigint
}

/** If `spending` is empty, there is no limit. */
export interface LaneSpending {
  readonly lane: string
  readonly spending: readonly Spending[]
}

export interface Signer {
  readonly address: string
  /**
   * Throws SIGNER_OFFLINE, SIGNER_UNAVAILABLE, SIGNING_REFUSED, CALL_UNJUSTIFIED, SPENDING_UNRECORDED and read errors.
   * Throws HALTED, RECIPIENT_DENIED and TOKEN_DENIED for a call that an operator's order holds back. Facts of
   * SIGNING_REFUSED: `limit` is the exceeded limit, and `dataFee` is set if the limit is exceeded only because of the
   * data fee.
   */
  sign(transaction: UnsignedTransaction): Promise<SignedTransaction>
  /** Makes the checks of `sign` without asking the key. Throws the refusals of `sign`. */
  check?(transaction: Proposed): Promise<void>
  spending?(): readonly Spending[]
}
