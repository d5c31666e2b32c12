import type { At, Receipt, Revert } from '../chains/port.ts'
import type { ErrorCode, RelayerError } from '../domain/catalogue/errors.ts'
import type { Intent } from '../domain/lane/lane.ts'
import type { CallPlan } from '../domain/transfer/call-plan.ts'
import type { Payment, TransferContent } from '../domain/transfer/content.ts'
import type { BridgeName, ChainName, Transfer, TransferRoute } from '../domain/transfer/transfer.ts'
import type { StreamConfig } from '../domain/stream/stream.ts'

/**
 * `rejected`: never valid. `declined`: refused by the operator's policy. `wait`: may become valid later without an
 * operator's order.
 */
export type Verdict =
  | {
      readonly kind: 'valid'
      /** The delivery of the first stage. If absent, `Endpoint.delivery` makes it. */
      readonly delivery?: PlannedDelivery
    }
  | {
      readonly kind: 'rejected' | 'declined' | 'wait'
      readonly code: ErrorCode
      readonly reason: string
      /** The signatures have expired. A copy of the message with newer signatures may be valid. */
      readonly awaitNewSignatures?: true
      /** No signatures of the message are verified yet. */
      readonly unverified?: true
      /** The config refuses the message: it sends the message to another chain, or reads it from another contract. */
      readonly ofConfig?: true
    }

export type RevertMeaning =
  | { readonly kind: 'delivered' }
  | { readonly kind: 'wait' | 'permanent' | 'unknown'; readonly code: ErrorCode; readonly reason: string }

export interface FoundDelivery {
  readonly by: string
  readonly txHash: string
  readonly blockHeight: number
  readonly blockHash: string
}

/**
 * `lane`: this lane may not deliver. `transfer`: the amount is above the bridge's whole budget. `route`: the bridge is
 * paused, or too little of its budget is left now. `opensAt`: seconds since the epoch.
 */
export type Gate =
  | { readonly kind: 'open' }
  | { readonly kind: 'lane'; readonly code: ErrorCode; readonly reason: string }
  | { readonly kind: 'transfer'; readonly code: ErrorCode; readonly reason: string }
  | { readonly kind: 'route'; readonly code: ErrorCode; readonly reason: string; readonly opensAt?: number }

/**
 * Returns the median price of a chain's coin or of a token (`<wormhole chain id>/<64 hex digits>`), dollars with 10
 * decimals. Of two middle prices, returns the one that is worse for the payer: the lower one for coins that the payer
 * pays (`source`), the higher one for coins that the delivery costs (`target`). Throws PRICE_MISSING.
 */
export type PriceOf = (name: string, end: 'source' | 'target') => Promise<bigint>

export interface PlannedDelivery {
  /** `wrapped`: pays the token without unwrapping it, so that no code of the recipient runs. */
  readonly call: (payout?: 'wrapped') => Promise<Intent>
  /** The intent that `call` returned, if `call` was called already. */
  readonly intent?: Intent | undefined
  readonly parties: Parties
  /**
   * Worth of the fee now minus the coins of the delivery's calls, wei of the target's coin. Undefined: the cost is not
   * checked. Throws PRICE_MISSING.
   * @param bytes size of the call's data, if the chain charges a fee for data
   */
  readonly earned?: (bytes?: number) => Promise<bigint | undefined>
  /** Payment for this delivery, made on the source chain. */
  readonly payment?: Payment | undefined
  /** Paid gas, for the call and all reverted calls of its stage together. Absent: nobody pays for gas. */
  readonly gasAtMost?: bigint | undefined
  /** If true, a successful simulation shows that the transfer is not delivered. */
  readonly revertsOnceDelivered: boolean
}

/** `opensAt` is in seconds since the epoch. */
export type NextStage =
  | { readonly kind: 'stage'; readonly stage: string }
  | { readonly kind: 'wait'; readonly code: ErrorCode; readonly reason: string; readonly opensAt?: number | undefined }
  | { readonly kind: 'never'; readonly code: ErrorCode; readonly reason: string }

/** For deliveries that take several calls. Each call is sent once the effect of the previous call is final. */
export interface Stages {
  /**
   * Returns the first stage if its call reverts whenever the stage is not needed, so that a simulation shows whether
   * the stage is due.
   */
  first?(transfer: Transfer): string | undefined
  /**
   * Finds the next stage. The answer is ignored if `delivered`, which is read at the same time, is true. One node names
   * a stage; every other answer is that of most nodes. `isDoubted`: the call of a stage reverts, so most nodes name the
   * stage too. Undefined if one call delivers the transfer.
   */
  next(transfer: Transfer, isDoubted?: boolean): Promise<NextStage> | undefined
  passed(transfer: Transfer, stage: string, at: At): Promise<boolean>
}

export type Attestation =
  | { readonly kind: 'attested'; readonly message: Uint8Array }
  | { readonly kind: 'wait'; readonly code: ErrorCode; readonly reason: string; readonly retryInMs: number }

export type RouteWithin = Pick<TransferRoute, 'bridge' | 'sourceChain'>

/**
 * The source chain of a delivered message and, if another bridge owns the message, that bridge. `payment`: id of the
 * payment for the call's coins.
 */
export type ProvedSource =
  | ChainName
  | (Pick<RouteWithin, 'sourceChain'> & Partial<RouteWithin> & { readonly payment?: string; readonly parties?: DeniableParties })

export type DeniableParties = Pick<Parties, 'recipient' | 'payee' | 'token'>

export interface Parties extends Pick<Transfer, 'bridge' | 'targetChain'>, Omit<TransferContent, 'amount'> {
  /** Another account that gets coins. */
  readonly payee?: string | undefined
  /** Key under which losses are counted. Absent: the token. */
  readonly lossesOf?: string
  /** Contract and message of a plug-in's call, hex digits. If they contain a denied address, the call is denied. */
  readonly bytes?: string
}

export interface Endpoint {
  readonly chain: ChainName
  /** Checks that a quorum of guardians signed the message, or that its source chain recorded it. */
  verify(message: Uint8Array): Promise<Verdict>
  /**
   * Checks a message before its transfer starts: makes the checks of `verify`, and checks whether the target's contract
   * accepts the emitter, and whether the plug-in delivers the message (PAYLOAD_KIND). Resolves to the decimals of the
   * amount, if they are known. Absent: `verify` suffices. Throws refusals and read errors.
   */
  accept?(message: Uint8Array): Promise<number | undefined>
  /**
   * Verifies a message, so that its plug-in may be asked about it. Until then, `delivery` and `plan` throw
   * PLUGIN_FAILED; all other functions verify the message themselves. Absent: the endpoint asks no plug-in package.
   * Throws VAA_*, GUARDIAN_SET_* and read errors.
   */
  demandSigned?(transfer: Transfer): Promise<void>
  /** Called before each admission with the time (ms since the epoch) of an operator's last order to retry, if any. */
  retry?(transfer: Transfer, orderedAt: number | undefined): void
  /** Checks all conditions of a delivery, including `verify`. */
  validate(transfer: Transfer): Promise<Verdict>
  delivered(transfer: Transfer, at: At): Promise<boolean>
  /**
   * Whether `delivered` can find the effect now. If false, for example because the route is no longer in the config, a
   * false `delivered` does not mean that the effect is gone. Absent: true for all transfers. Throws the errors of
   * `delivered`.
   */
  mayShow?(transfer: Transfer): Promise<boolean>
  /** Searches the logs of one node, which may be incomplete. Only `finalDelivery` proves a delivery. */
  findDelivery(transfer: Transfer): Promise<FoundDelivery | undefined>
  /**
   * Plans the delivery by `stage` (default: the first stage). Throws the errors of `decode`, EXECUTOR_* for a request
   * that the terms refuse, and INPUT_INVALID for an unknown stage.
   */
  delivery(transfer: Transfer, stage?: string): PlannedDelivery
  readonly stages?: Stages
  /** Returns the call as data, for processes that do not run the bridge's code. */
  plan?(transfer: Transfer, stage?: string): CallPlan
  /** Returns this endpoint with the call and the effects of the plan. */
  planned?(plan: CallPlan): Endpoint
  /**
   * Finds and verifies an attestation if the message has none, or if its attestation has expired or was made at too low
   * a finality. Undefined if no attestation is needed, or if `validate` refuses the message.
   */
  attest?(transfer: Transfer): Promise<Attestation | undefined>
  /** Contract (0x, lower case) → selectors. A key signs no other calls for this bridge, except `openCalls`. */
  readonly calls: Readonly<Record<string, readonly string[]>>
  /** Contract → selector → maximum coins (wei, decimal). Without an entry, a call of `calls` carries no coins. */
  readonly paidCalls?: Readonly<Record<string, Readonly<Record<string, string>>>>
  /** Selector of a call to any contract → its maximum coins (wei, decimal). */
  readonly openCalls?: Readonly<Record<string, string>>
  /**
   * Proves, right before a key signs, that every transfer in the call is genuine and goes to this chain. Resolves to
   * the transfers' sources or, for a call without a message, to all possible sources. `gasLimit` is always given when a
   * key is about to sign. Throws CALL_UNJUSTIFIED, NATIVE_NOT_FINAL, PLACE_NOT_FINAL, GUARDIAN_SET_UNKNOWN,
   * GUARDIAN_SET_IMPOSSIBLE and read errors.
   */
  proveCall(intent: Intent, gasLimit?: string): Promise<readonly ProvedSource[]>
  /** With `transfer`, the bridge can distinguish an amount that never fits from a spent budget. */
  explainRevert(revert: Revert, transfer?: Transfer): RevertMeaning
  /** Returns the state of the gate, and reserves the amount if the gate is open. */
  reserve?(transfer: Transfer, relayer: string): Promise<Gate>
  release?(transfer: Transfer): void
  /** Returns why the account may not deliver. `everywhere`: no contract of the bridge accepts the account. */
  unauthorized?(relayer: string): Promise<{ readonly everywhere: boolean; readonly reason: string } | undefined>
  readonly batches?: SharedCalls
  /** Undefined if the call succeeded, but only the chain's state, not the receipt, can show the effect. */
  hasEffect(receipt: Receipt, transfer: Transfer): boolean | undefined
}

export interface SharedCalls {
  /** Maximum number of transfers in a call. */
  readonly largest: number
  /**
   * Transfers with the same key may share a call of up to `most` transfers. Undefined if the transfer needs a call of
   * its own.
   */
  groupOf(transfer: Transfer): { readonly key: string; readonly most: number } | undefined
  intent(transfers: readonly Transfer[]): Promise<Intent>
  /** Selects transfers that together fit the limits that `reserve` read last. */
  fitting(transfers: readonly Transfer[]): readonly Transfer[]
}

export interface Bridge {
  readonly name: BridgeName
  /**
   * Checks only the message's form. A signed message may be a transfer of another bridge. Asks no plug-in package,
   * because anybody can invent a message: packages are asked only about messages that guardians signed (`accept`,
   * `verify`, `demandSigned`) or that logs of their source show. Throws VAA_*, NATIVE_*, PAYLOAD_*,
   * TARGET_CHAIN_UNSUPPORTED, MESSAGE_TOO_LARGE.
   */
  decode(message: Uint8Array): Transfer
  /** Empty for a message of a plug-in package until the message's signatures are verified. */
  content(message: Uint8Array): Partial<TransferContent & Payment>
  /** Routes of the messages that this message asks to deliver. A halt of such a route also holds this message. */
  within?(message: Uint8Array): readonly RouteWithin[]
  /** Index of the guardian set that signed. Absent: signatures never expire. Throws VAA_*. */
  signedBy?(message: Uint8Array): number
  readonly endpoints: ReadonlyMap<ChainName, Endpoint>
  readonly sources: readonly Source[]
}

export type Bridges = ReadonlyMap<BridgeName, Bridge>

/** Includes both ends. */
export interface BlockRange {
  readonly fromBlock: number
  readonly toBlock: number
}

/**
 * `scanned`: a contract numbers its transfers. `placed`: a log's place is its number. `signed`: guardians sign the
 * messages.
 */
export type Source = ScannedSource | PlacedSource | SignedSource

interface SourceBase {
  readonly config: StreamConfig
  readonly bridge: BridgeName
  readonly sourceChain: ChainName
  /** Whether most nodes show each transfer as delivered and final. Throws contradictions (`haltRoute`), read errors. */
  delivered(transfers: readonly Transfer[]): Promise<readonly boolean[]>
}

interface CountedSource extends SourceBase {
  /** Highest number in the finalized state, if any, according to most nodes. Searches from `known`. */
  highest(known?: string): Promise<string | undefined>
}

/** One direction of a native bridge. */
export interface ScannedSource extends CountedSource {
  readonly kind: 'scanned'
  readonly targetChain: ChainName
  /**
   * Reads the transfers that the source's logs show. Without `at`, most nodes are asked only if one node shows logs,
   * and a contradiction does not halt the route yet. Throws NODE_REFUSED (range too long, or stray logs),
   * NODE_UNAVAILABLE, contradictions (`haltRoute`) and NODES_DISAGREE.
   */
  initiated(range: BlockRange, at?: 'agreed'): Promise<readonly PlacedTransfer[]>
  /**
   * Reads transfers from the source's table. Undefined for a number without a record. Throws contradictions
   * (`haltRoute`), NODES_DISAGREE and read errors.
   */
  recorded(numbers: readonly string[], at: 'finalized' | 'agreed'): Promise<readonly (Transfer | undefined)[]>
  /** Completions by any account. Without `at`, one node answers. Throws the errors of `initiated`. */
  completed(range: BlockRange, at?: 'agreed'): Promise<readonly Completion[]>
  /** Makes the error that halts the route, for a completed transfer that is not the recorded one. */
  contradiction(completed: Completion, recorded: string | undefined): RelayerError
}

export interface Completion {
  readonly number: string
  readonly digest: string
  readonly height: number
}

/** The logs of one contract. All blocks are read, because nothing else shows that no log is missing. */
export interface PlacedSource extends SourceBase {
  readonly kind: 'placed'
  /** The contract, as 64 lower-case hex digits. */
  readonly emitter: string
  /**
   * Returns the transfers that most nodes show in final blocks, in ascending order. Leaves out logs that the bridge
   * refuses. `agreed` asks a chain's only node twice. Throws NODE_REFUSED (range too long, or logs that contradict each
   * other), NODE_UNAVAILABLE and NODES_DISAGREE.
   */
  initiated(range: BlockRange, at?: 'agreed'): Promise<readonly PlacedTransfer[]>
}

export interface SignedSource extends CountedSource {
  readonly kind: 'signed'
  /** The bridges that may own messages of this source, including `bridge`. */
  readonly owners: readonly BridgeName[]
  readonly emitterChain: number
  readonly emitter: string
  /** Set if Portage reads no node of the source. `judges`: chains whose core contracts can check signatures. */
  readonly withoutNode?: { readonly judges: readonly ChainName[] }
  /** No block below `block` has a message with the number `first` or a higher one. */
  readonly begins: { readonly first?: string; readonly block?: number }
  /**
   * Reads the emitter's messages from logs. Only messages whose number `wanted` accepts (default: all) get `content`.
   * Without `at`, one node answers, so a message with the content `none` may still be a transfer. Throws NODE_REFUSED
   * (range too long), NODE_UNAVAILABLE (also after a fork) and, with `at`, NODES_DISAGREE.
   */
  published(range: BlockRange, wanted?: (number: string) => boolean, at?: 'agreed' | 'majority'): Promise<readonly Published[]>
}

export interface PlacedTransfer {
  readonly transfer: Transfer
  readonly height: number
  readonly txHash: string
}

export interface Published {
  readonly number: string
  readonly height: number
  /** Absent: not read. `none`: no bridge delivers the message. The message of `transfer` has no signatures. */
  readonly content?: { readonly kind: 'transfer'; readonly transfer: Transfer } | { readonly kind: 'none' }
}
