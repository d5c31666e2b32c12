import type { At, Receipt, Revert } from '../chains/port.ts'
import type { ErrorCode, RelayerError } from '../domain/catalogue/errors.ts'
import type { Intent } from '../domain/lane/lane.ts'
import type { CallPlan } from '../domain/transfer/call-plan.ts'
import type { Payment, TransferContent } from '../domain/transfer/content.ts'
import type { BridgeName, ChainName, Transfer } from '../domain/transfer/transfer.ts'
import type { StreamConfig } from '../domain/stream/stream.ts'

/** `rejected`: never valid. `declined`: refused by the operator's policy. `wait`: may become valid by itself. */
export type Verdict =
  | { readonly kind: 'valid' }
  | {
      readonly kind: 'rejected' | 'declined' | 'wait'
      readonly code: ErrorCode
      readonly reason: string
      /** The signatures have expired. The message with newer signatures may replace this one. */
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
 * `lane`: this lane cannot deliver. `transfer`: the amount never fits, so the transfer is parked.
 * `route`: closed for this amount now; `opensAt` is in seconds since the epoch.
 */
export type Gate =
  | { readonly kind: 'open' }
  | { readonly kind: 'lane'; readonly code: ErrorCode; readonly reason: string }
  | { readonly kind: 'transfer'; readonly code: ErrorCode; readonly reason: string }
  | { readonly kind: 'route'; readonly code: ErrorCode; readonly reason: string; readonly opensAt?: number }

export interface PlannedDelivery {
  /** With `wrapped`, the call pays the token without unwrapping it, so that no code of the recipient runs. */
  readonly call: (payout?: 'wrapped') => Promise<Intent>
  readonly parties: Parties
  /** Worth of the fee, wei of the target's coin. Absent: no price is configured, so the cost is not checked. */
  readonly earned?: bigint | undefined
  /** At the source, for this delivery. Absent: `earned`, or nobody pays. */
  readonly payment?: Payment | undefined
  /** The call gets no more gas, because nobody pays for more. */
  readonly gasAtMost?: bigint | undefined
  /** If true, a simulation that succeeds shows that the transfer is not delivered. */
  readonly revertsOnceDelivered: boolean
}

/** The next call of a delivery of several calls. `opensAt`: seconds since the epoch. */
export type NextStage =
  | { readonly kind: 'stage'; readonly stage: string }
  | { readonly kind: 'wait'; readonly code: ErrorCode; readonly reason: string; readonly opensAt?: number | undefined }
  | { readonly kind: 'never'; readonly code: ErrorCode; readonly reason: string }

/** A delivery of several calls. Each is sent once the effect of the one before is final. */
export interface Stages {
  /**
   * The first call, if it reverts once it is done or the whole effect is there. While its simulation succeeds, it is
   * next, and `next` is not asked. Undefined: `next` decides.
   */
  first?(transfer: Transfer): string | undefined
  /**
   * The answer counts only while the effect of the whole transfer is absent. Read together with this effect. Undefined:
   * one call delivers this transfer.
   */
  next(transfer: Transfer): Promise<NextStage> | undefined
  /** Whether the target chain's state shows the effect of the stage's call. */
  passed(transfer: Transfer, stage: string, at: At): Promise<boolean>
}

export type Attestation =
  | { readonly kind: 'attested'; readonly message: Uint8Array }
  | { readonly kind: 'wait'; readonly code: ErrorCode; readonly reason: string; readonly retryInMs: number }

export type Parties = Pick<Transfer, 'bridge' | 'targetChain'> & Omit<TransferContent, 'amount'>

export interface Endpoint {
  readonly chain: ChainName
  /** Checks that valid guardians signed the message or that its source recorded it. Cached. */
  verify(message: Uint8Array): Promise<Verdict>
  /** Runs `verify`, and checks that the target's contract accepts the emitter. Absent: the same as `verify`. */
  accepts?(message: Uint8Array): Promise<Verdict>
  /** All conditions of a delivery: payload kind, emitter, target, asset, fee. Includes `verify`. */
  validate(transfer: Transfer): Promise<Verdict>
  /** Whether the target chain's state shows the delivery. */
  delivered(transfer: Transfer, at: At): Promise<boolean>
  /**
   * From one node's logs. Undefined if the node has no such log (pruned, not synced). Names who delivered and decides
   * nothing: on a chain with several nodes, most of them must show the effect as final (`finalDelivery`).
   */
  findDelivery(transfer: Transfer): Promise<FoundDelivery | undefined>
  /** @param stage absent: the first. Throws what `decode` throws. */
  delivery(transfer: Transfer, stage?: string): PlannedDelivery
  /** Absent: one call delivers. */
  readonly stages?: Stages
  /** The call as data, for processes that do not run the bridge's code. Absent: every process runs it. */
  plan?(transfer: Transfer, stage?: string): CallPlan
  /** This endpoint with a planned call and its effects. Absent: the process runs the bridge's code. */
  planned?(plan: CallPlan): Endpoint
  /**
   * For messages that are found before they are attested. Undefined: the message has its attestation. The attestation
   * was verified, because a transfer that adopts a wrong one is rejected.
   */
  attest?(transfer: Transfer): Promise<Attestation | undefined>
  /** Contract (0x, lower case) → selectors that a delivering call may use. Keys sign no other call for this bridge. */
  readonly calls: Readonly<Record<string, readonly string[]>>
  /** Selector → most coins (wei, decimal) of a delivering call that may go to any contract. Absent: none. */
  readonly openCalls?: Readonly<Record<string, string>>
  /**
   * Proves, right before a key signs, that every transfer in the call is genuine and goes to this chain. Resolves to
   * the source chains of these transfers. For a call without a message: to all chains that it may come from.
   * Throws CALL_UNJUSTIFIED, read errors, and NATIVE_NOT_FINAL and GUARDIAN_SET_UNKNOWN, which may heal with time.
   */
  proveCall(intent: Intent): Promise<readonly ChainName[]>
  /** `transfer` lets the bridge distinguish an amount that never fits from a spent budget. */
  explainRevert(revert: Revert, transfer?: Transfer): RevertMeaning
  /** Reserves the amount if the gate is open. Absent: no gate. */
  reserve?(transfer: Transfer, relayer: string): Promise<Gate>
  release?(transfer: Transfer): void
  unauthorized?(relayer: string): Promise<{ readonly everywhere: boolean; readonly reason: string } | undefined>
  readonly batches?: SharedCalls
  /** Undefined: the transaction succeeded, and only the state can show whether it delivered. */
  hasEffect(receipt: Receipt, transfer: Transfer): boolean | undefined
}

export interface SharedCalls {
  readonly largest: number
  /** Transfers of the same key may share a call, up to `most`. Undefined: delivered alone. */
  groupOf(transfer: Transfer): { readonly key: string; readonly most: number } | undefined
  intent(transfers: readonly Transfer[]): Promise<Intent>
  /** Transfers whose sum is within the limits that `reserve` last read. Others are skipped. */
  fitting(transfers: readonly Transfer[]): readonly Transfer[]
}

/** One protocol. Decoding is pure; everything that needs a chain is in an Endpoint. */
export interface Bridge {
  readonly name: BridgeName
  /**
   * Checks the form only. A signed message is read by the bridge that owns the message, which may be another bridge.
   * Throws VAA_*, NATIVE_*, PAYLOAD_*, TARGET_CHAIN_UNSUPPORTED, MESSAGE_TOO_LARGE.
   */
  decode(message: Uint8Array): Transfer
  content(message: Uint8Array): Partial<TransferContent & Payment>
  /** Decimals of the content's amount, read once per token. Undefined: not known. Never throws. */
  decimals?(message: Uint8Array): Promise<number | undefined>
  /** Index of the signing guardian set. Absent: signatures never expire. Throws VAA_*. */
  signedBy?(message: Uint8Array): number
  readonly endpoints: ReadonlyMap<ChainName, Endpoint>
  readonly sources: readonly Source[]
}

export type Bridges = ReadonlyMap<BridgeName, Bridge>

/** Both ends are included. */
export interface BlockRange {
  readonly fromBlock: number
  readonly toBlock: number
}

/**
 * A numbered source (domain/stream/stream.ts). `scanned`: messages are in blocks, and numbered by their contract.
 * `placed`: messages are in blocks, and the place of their log is their number. `signed`: guardians have them.
 */
export type Source = ScannedSource | PlacedSource | SignedSource

interface SourceBase {
  readonly config: StreamConfig
  readonly bridge: BridgeName
  readonly sourceChain: ChainName
  /** A transfer counts if it is delivered and final, by quorum. Throws contradictions, read errors. */
  delivered(transfers: readonly Transfer[]): Promise<readonly boolean[]>
}

interface CountedSource extends SourceBase {
  /** Highest number at the finalized state, by quorum. Searches from `known`, also downwards. */
  highest(known?: string): Promise<string | undefined>
}

/** A direction of a native bridge: transfers from blocks and a table, completions from blocks of the target. */
export interface ScannedSource extends CountedSource {
  readonly kind: 'scanned'
  readonly targetChain: ChainName
  /**
   * Without `at`, one node answers, and its answer halts no route. Throws NODE_REFUSED (range too long, or stray logs),
   * NODE_UNAVAILABLE, contradictions (`haltRoute`), and at `agreed` NODES_DISAGREE, even for a refused range.
   */
  initiated(range: BlockRange, at?: 'agreed'): Promise<readonly PlacedTransfer[]>
  /** Undefined: no record yet. Throws contradictions (`haltRoute`, by quorum), read errors, and NODES_DISAGREE. */
  recorded(numbers: readonly string[], at: 'finalized' | 'agreed'): Promise<readonly (Transfer | undefined)[]>
  /** Completions by any account on the target. Throws what `initiated` throws. */
  completed(range: BlockRange, at?: 'agreed'): Promise<readonly Completion[]>
  /** An error that halts the route: the target completed a transfer other than the recorded one (by digest). */
  contradiction(completed: Completion, recorded: string | undefined): RelayerError
}

export interface Completion {
  readonly number: string
  readonly digest: string
  readonly height: number
}

/**
 * Logs of one contract, with transfers to any chain. Only blocks are read: nothing else shows that all logs were seen.
 * Its `config` is `placed`, with `first` 0. Without `start`, the stream begins with the blocks of the last days.
 */
export interface PlacedSource extends SourceBase {
  readonly kind: 'placed'
  /** The contract, 64 lower-case hex digits. Every transfer has it as its emitter. */
  readonly emitter: string
  /**
   * Transfers of final blocks in ascending order, by more than half of the nodes. The bridge must be able to start all
   * of them: logs that it refuses are left out. A single node is asked once, and at `agreed` twice. Throws NODE_REFUSED
   * (range too long, or logs that contradict each other), NODE_UNAVAILABLE and NODES_DISAGREE.
   */
  initiated(range: BlockRange, at?: 'agreed'): Promise<readonly PlacedTransfer[]>
}

export interface SignedSource extends CountedSource {
  readonly kind: 'signed'
  /** The bridges that may own its messages. `bridge` is one of them. */
  readonly owners: readonly BridgeName[]
  /** Wormhole chain id. */
  readonly emitterChain: number
  /** 64 lower-case hex digits. */
  readonly emitter: string
  /** Set if Portage reads no node of the source. `judges`: chains whose core contracts can check signatures. */
  readonly withoutNode?: { readonly judges: readonly ChainName[] }
  /** From the config. No block before `block` has numbers from `first` on. Absent: the stream agent decides. */
  readonly begins: { readonly first?: string; readonly block?: number }
  /**
   * Messages in the source's blocks, with `content` for `wanted` numbers. Without `at`, one node answers, so a message
   * with content `none` may still be a transfer. Throws NODE_REFUSED (range too long) and NODE_UNAVAILABLE (also after
   * a fork). If `at` is given, also throws NODES_DISAGREE.
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
  /** Absent: not read. `none`: no bridge delivers it. The transfer's message has no signatures. */
  readonly content?: { readonly kind: 'transfer'; readonly transfer: Transfer } | { readonly kind: 'none' }
}
