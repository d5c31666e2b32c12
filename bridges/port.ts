import type { At, Receipt, Revert } from '../chains/port.ts'
import type { ErrorCode, RelayerError } from '../domain/catalogue/errors.ts'
import type { Intent } from '../domain/lane/lane.ts'
import type { CallPlan } from '../domain/transfer/call-plan.ts'
import type { Payment, TransferContent } from '../domain/transfer/content.ts'
import type { BridgeName, ChainName, Transfer, TransferRoute } from '../domain/transfer/transfer.ts'
import type { StreamConfig } from '../domain/stream/stream.ts'

/** `rejected`: never valid. `declined`: refused by the operator's policy. `wait`: may become valid by itself. */
export type Verdict =
  | {
      readonly kind: 'valid'
      /** The planned delivery of the first call. If it is absent, `Endpoint.delivery` returns it. */
      readonly delivery?: PlannedDelivery
    }
  | {
      readonly kind: 'rejected' | 'declined' | 'wait'
      readonly code: ErrorCode
      readonly reason: string
      /** The signatures have expired. A copy of the message with newer signatures may replace this one. */
      readonly awaitNewSignatures?: true
      readonly unverified?: true
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
 * `lane`: this lane cannot deliver. `transfer`: the amount can never fit, so the transfer is parked. `route`: closed
 * for this amount now. `opensAt` is in seconds since the epoch.
 */
export type Gate =
  | { readonly kind: 'open' }
  | { readonly kind: 'lane'; readonly code: ErrorCode; readonly reason: string }
  | { readonly kind: 'transfer'; readonly code: ErrorCode; readonly reason: string }
  | { readonly kind: 'route'; readonly code: ErrorCode; readonly reason: string; readonly opensAt?: number }

/**
 * Returns the price of a chain's coin or of a token (`<wormhole chain id>/<64 hex digits>`), dollars with 10 decimals. Of
 * two equally good prices, it is the one that is worse for the payer: the lower of what is paid (`source`), the upper of
 * what the delivery costs (`target`). Throws PRICE_MISSING.
 */
export type PriceOf = (name: string, end: 'source' | 'target') => Promise<bigint>

export interface PlannedDelivery {
  /** With `wrapped`, the call pays the token without unwrapping it, so that no code of the recipient runs. */
  readonly call: (payout?: 'wrapped') => Promise<Intent>
  /** The result of `call()`. Absent: not made yet. */
  readonly intent?: Intent | undefined
  readonly parties: Parties
  /**
   * Resolves to the worth of the fee now, wei of the target's coin. Absent, or undefined, if no price is configured: the
   * cost is then not checked. Throws PRICE_MISSING.
   */
  readonly earned?: () => Promise<bigint | undefined>
  /** Payment at the source for this delivery. Absent: `earned` applies, or nobody pays. */
  readonly payment?: Payment | undefined
  /** Maximum gas of the call, because nobody pays for more. */
  readonly gasAtMost?: bigint | undefined
  /** If true, a simulation that succeeds shows that the transfer is not delivered. */
  readonly revertsOnceDelivered: boolean
}

/** The next call of a delivery that takes several calls. `opensAt` is in seconds since the epoch. */
export type NextStage =
  | { readonly kind: 'stage'; readonly stage: string }
  | { readonly kind: 'wait'; readonly code: ErrorCode; readonly reason: string; readonly opensAt?: number | undefined }
  | { readonly kind: 'never'; readonly code: ErrorCode; readonly reason: string }

/** A delivery that takes several calls. Each call is sent once the effect of the previous call is final. */
export interface Stages {
  /**
   * Returns the first stage of a transfer for which a simulation shows whether the first stage is due, so that
   * `next` need not be asked. The call of the stage must revert once the stage is no longer needed: if the simulation
   * reverts, `next` decides. Undefined: `next` always decides.
   */
  first?(transfer: Transfer): string | undefined
  /**
   * Decides which stage is next. The answer counts only while the effect of the whole transfer, read at the same time,
   * is absent. Undefined: one call delivers this transfer.
   */
  next(transfer: Transfer): Promise<NextStage> | undefined
  /** Whether the effect of the stage is there. */
  passed(transfer: Transfer, stage: string, at: At): Promise<boolean>
}

export type Attestation =
  | { readonly kind: 'attested'; readonly message: Uint8Array }
  | { readonly kind: 'wait'; readonly code: ErrorCode; readonly reason: string; readonly retryInMs: number }

export type RouteWithin = Pick<TransferRoute, 'bridge' | 'sourceChain'>

/**
 * The source of messages in a call: a chain or, for messages of another bridge, a chain and this bridge. `payment` is
 * the digest of the request that pays for the coins of the call.
 */
export type ProvedSource =
  | ChainName
  | (Pick<RouteWithin, 'sourceChain'> & Partial<RouteWithin> & { readonly payment?: string; readonly parties?: DeniableParties })

/** The parties that are compared with the deny-list. */
export type DeniableParties = Pick<Parties, 'recipient' | 'payee' | 'token'>

export interface Parties extends Pick<Transfer, 'bridge' | 'targetChain'>, Omit<TransferContent, 'amount'> {
  /** Another account that gets coins. The deny-list applies to it too. */
  readonly payee?: string | undefined
  /**
   * Key under which reverts of deliveries count together. Default: token and recipient. A paid delivery has a key of
   * its own: the payment covers the gas, so its reverts hold back no other delivery.
   */
  readonly lossesOf?: string
  /**
   * Contract and message of a plug-in's call, hex digits. The deny-list applies to every party whose bytes they
   * contain.
   */
  readonly bytes?: string
}

export interface Endpoint {
  readonly chain: ChainName
  /** Checks that valid guardians signed the message, or that its source recorded it. Results are cached. */
  verify(message: Uint8Array): Promise<Verdict>
  /**
   * Checks a message before its transfer starts: as `verify`, and that the target's contract accepts the emitter.
   * Resolves to the decimals of the content's amount, undefined if not known. Throws refusals and read errors. Leaves
   * fields that anyone may choose in a genuine message to `validate`, which declines the transfer. Absent: `verify`
   * suffices, and the decimals are not known.
   */
  accept?(message: Uint8Array): Promise<number | undefined>
  /** Checks all conditions of a delivery: payload kind, emitter, target, asset, fee. Includes `verify`. */
  validate(transfer: Transfer): Promise<Verdict>
  delivered(transfer: Transfer, at: At): Promise<boolean>
  /**
   * Finds the delivery, and its sender, in one node's logs. Undefined if the node has no such log (pruned, not synced).
   * The answer decides nothing: if a chain has several nodes, most of them must show the effect as final
   * (`finalDelivery`).
   */
  findDelivery(transfer: Transfer): Promise<FoundDelivery | undefined>
  /**
   * Throws the errors of `decode`.
   * @param stage absent: the first stage
   */
  delivery(transfer: Transfer, stage?: string): PlannedDelivery
  /** Absent if each transfer takes only one call. */
  readonly stages?: Stages
  /** Returns the call as data, for processes that do not run the bridge's code. Absent if every process runs it. */
  plan?(transfer: Transfer, stage?: string): CallPlan
  /** Returns this endpoint with a planned call and its effects. Absent if every process runs the bridge's code. */
  planned?(plan: CallPlan): Endpoint
  /**
   * Finds the attestation of a message that has none, or a new one if it has expired or is not final enough. Verifies
   * the attestation, because a transfer with a wrong one would be rejected. Undefined if none is needed, or if
   * `validate` refuses the message.
   */
  attest?(transfer: Transfer): Promise<Attestation | undefined>
  /**
   * Contract (0x, lower case) → selectors of delivering calls. A key signs no other calls for this bridge, except
   * `openCalls`.
   */
  readonly calls: Readonly<Record<string, readonly string[]>>
  /** Selector of a delivering call to any contract → its maximum coins (wei, decimal). Absent: none. */
  readonly openCalls?: Readonly<Record<string, string>>
  /**
   * Proves, right before a key signs, that every transfer in the call is genuine and goes to this chain. Resolves to
   * the sources of these transfers. For a call without a message, resolves to all chains from which its transfer may
   * come. Before a signature, `gasLimit` is always given, because the payment for a request may bound the gas. Throws
   * CALL_UNJUSTIFIED and read errors. Also throws NATIVE_NOT_FINAL and GUARDIAN_SET_UNKNOWN, which time may cure.
   */
  proveCall(intent: Intent, gasLimit?: string): Promise<readonly ProvedSource[]>
  /** With `transfer`, the bridge can distinguish an amount that never fits from a spent budget. */
  explainRevert(revert: Revert, transfer?: Transfer): RevertMeaning
  /** Reserves the amount if the gate is open. Absent: no gate. */
  reserve?(transfer: Transfer, relayer: string): Promise<Gate>
  release?(transfer: Transfer): void
  /**
   * Returns why an account may not deliver. If `everywhere`, no contract of the bridge lets it. Undefined: it may
   * deliver.
   */
  unauthorized?(relayer: string): Promise<{ readonly everywhere: boolean; readonly reason: string } | undefined>
  readonly batches?: SharedCalls
  /** Whether the receipt shows the effect. Undefined after a success that only the state can confirm. */
  hasEffect(receipt: Receipt, transfer: Transfer): boolean | undefined
}

export interface SharedCalls {
  /** Maximum number of transfers in a call. */
  readonly largest: number
  /** Transfers with the same key may share a call, up to `most`. Undefined: this transfer is delivered alone. */
  groupOf(transfer: Transfer): { readonly key: string; readonly most: number } | undefined
  intent(transfers: readonly Transfer[]): Promise<Intent>
  /** Selects transfers that together fit the limits that `reserve` read last. */
  fitting(transfers: readonly Transfer[]): readonly Transfer[]
}

export interface Bridge {
  readonly name: BridgeName
  /**
   * Decodes a message, and checks only its form. A signed message is decoded by the bridge that owns it, which may be
   * another bridge. Throws VAA_*, NATIVE_*, PAYLOAD_*, TARGET_CHAIN_UNSUPPORTED, MESSAGE_TOO_LARGE.
   */
  decode(message: Uint8Array): Transfer
  content(message: Uint8Array): Partial<TransferContent & Payment>
  /**
   * Routes of the messages that this message asks to deliver. A halt of such a route also holds this message. Throws
   * the errors of `decode`.
   */
  within?(message: Uint8Array): readonly RouteWithin[]
  /** Returns the index of the guardian set that signed. Absent: signatures never expire. Throws VAA_*. */
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
 * A numbered source (domain/stream/stream.ts). `scanned`: the messages are in blocks, and their contract numbers them.
 * `placed`: the messages are in blocks, and the place of a log is its number. `signed`: guardians have the messages.
 */
export type Source = ScannedSource | PlacedSource | SignedSource

interface SourceBase {
  readonly config: StreamConfig
  readonly bridge: BridgeName
  readonly sourceChain: ChainName
  /** Whether each transfer is delivered and final, by most nodes. Throws contradictions (`haltRoute`), read errors. */
  delivered(transfers: readonly Transfer[]): Promise<readonly boolean[]>
}

interface CountedSource extends SourceBase {
  /** Highest number in the finalized state, by most nodes. Searches upwards or downwards from `known`. */
  highest(known?: string): Promise<string | undefined>
}

/** One direction of a native bridge. Transfers come from blocks and a table, completions from blocks of the target. */
export interface ScannedSource extends CountedSource {
  readonly kind: 'scanned'
  readonly targetChain: ChainName
  /**
   * Returns the transfers in a range of blocks. Throws NODE_REFUSED (range too long, or logs that do not belong there),
   * NODE_UNAVAILABLE and contradictions (`haltRoute`). Without `at`, one node answers, so its contradiction halts no
   * route yet. With `agreed`, also throws NODES_DISAGREE, even for a refused range.
   */
  initiated(range: BlockRange, at?: 'agreed'): Promise<readonly PlacedTransfer[]>
  /**
   * Returns the recorded transfers. A transfer without a record is undefined. Throws contradictions (`haltRoute`, from
   * most nodes), NODES_DISAGREE and read errors.
   */
  recorded(numbers: readonly string[], at: 'finalized' | 'agreed'): Promise<readonly (Transfer | undefined)[]>
  /** Returns completions on the target, by any account. Throws the errors of `initiated`. */
  completed(range: BlockRange, at?: 'agreed'): Promise<readonly Completion[]>
  /** Returns the error that halts the route, because the target completed another transfer than the recorded one. */
  contradiction(completed: Completion, recorded: string | undefined): RelayerError
}

export interface Completion {
  readonly number: string
  readonly digest: string
  readonly height: number
}

/**
 * The logs of one contract, with transfers to any chain. All blocks are read, because nothing else shows that no log is
 * missing. In `config`, `placed` is true and `first` is 0. Without `start`, the stream begins `streams.lookBackDays`
 * ago.
 */
export interface PlacedSource extends SourceBase {
  readonly kind: 'placed'
  /** The contract, as 64 lower-case hex digits. It is the emitter of every transfer. */
  readonly emitter: string
  /**
   * Returns the transfers of final blocks in ascending order, as more than half of the nodes show them. Leaves out logs
   * that the bridge refuses, because the bridge must be able to start every transfer. If the chain has one node, it is
   * asked once, and with `agreed` twice. Throws NODE_REFUSED (range too long, or logs that contradict each other),
   * NODE_UNAVAILABLE and NODES_DISAGREE.
   */
  initiated(range: BlockRange, at?: 'agreed'): Promise<readonly PlacedTransfer[]>
}

export interface SignedSource extends CountedSource {
  readonly kind: 'signed'
  /** The bridges that may own messages of this source. `bridge` is one of them. */
  readonly owners: readonly BridgeName[]
  readonly emitterChain: number
  readonly emitter: string
  /** Set if Portage reads no node of the source. `judges` are chains whose core contracts can check signatures. */
  readonly withoutNode?: { readonly judges: readonly ChainName[] }
  /**
   * The beginning of the stream in the config. No block below `block` has a message with the number `first` or a higher
   * one. Absent: the stream's agent decides.
   */
  readonly begins: { readonly first?: string; readonly block?: number }
  /**
   * Returns the messages in the source's blocks. Messages with `wanted` numbers have `content`. Without `at`, one node
   * answers, so a message with the content `none` may still be a transfer. Throws NODE_REFUSED (range too long) and
   * NODE_UNAVAILABLE (also after a fork). With `at`, also throws NODES_DISAGREE.
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
