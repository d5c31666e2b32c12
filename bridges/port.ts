import type { At, Receipt, Revert } from '../chains/port.ts'
import type { ErrorCode } from '../domain/catalogue/errors.ts'
import type { Intent } from '../domain/intent.ts'
import type { BridgeName, ChainName, Transfer } from '../domain/transfer/transfer.ts'
import type { Source } from './source-port.ts'

/** The answer to "is this a message that we deliver?". `rejected` is for good, `declined` is policy, `wait` heals by itself. */
export type Verdict =
  | { readonly kind: 'valid' }
  | {
      readonly kind: 'rejected' | 'declined' | 'wait'
      readonly code: ErrorCode
      readonly reason: string
      /** The signatures were good before and are too old now: a copy with newer ones may be adopted. */
      readonly awaitNewSignatures?: true
      /** Whether the signatures are good could not be checked yet. */
      readonly unverified?: true
    }

/** What a revert of the delivering call means. */
export type RevertMeaning =
  | { readonly kind: 'delivered' }
  | { readonly kind: 'wait' | 'permanent' | 'unknown'; readonly code: ErrorCode; readonly reason: string }

/** A delivery, as found on the target chain. */
export interface FoundDelivery {
  readonly by: string
  readonly txHash: string
  readonly blockHeight: number
  readonly blockHash: string
}

/** `lane`: this lane can't deliver. `route`: nothing of this amount may go now; `opensAt`: seconds since the epoch. `transfer`: it fits on no day, park it. */
export type Gate =
  | { readonly kind: 'open' }
  | { readonly kind: 'lane'; readonly code: ErrorCode; readonly reason: string }
  | { readonly kind: 'transfer'; readonly code: ErrorCode; readonly reason: string }
  | { readonly kind: 'route'; readonly code: ErrorCode; readonly reason: string; readonly opensAt?: number }

/** A bridge on one target chain: reads, the delivering call, and what its reverts mean. */
export interface Endpoint {
  readonly chain: ChainName
  /** Is the message genuine (signed by a guardian set that the target accepts, or recorded by its source)? Asked before an id is taken; cached. */
  verify(message: Uint8Array): Promise<Verdict>
  /** Does the target's contract take messages of its emitter? Asked with `verify`, before an id is taken; absent: `verify` has shown it. */
  accepts?(transfer: Transfer): Promise<Verdict>
  /** Everything else that makes a message deliverable: payload kind, emitter, target, asset, fee. Includes `verify`. */
  validate(transfer: Transfer): Promise<Verdict>
  /** Does the target chain's state show the effect? One read, batched; one of each node where it asks for `agreed`. */
  delivered(transfer: Transfer, at: At): Promise<boolean>
  /**
   * Does the call that delivers it always revert once the effect is there? Then a simulation that succeeds shows that it is not, and `delivered` need not be read
   * beside it. Absent: it may succeed and do nothing.
   */
  revertsOnceDelivered?(transfer: Transfer): boolean
  /** The delivery, from the chain's logs; undefined if the node has no such log (pruned, not synced). */
  findDelivery(transfer: Transfer): Promise<FoundDelivery | undefined>
  /** The call that delivers. Chosen by reads (wrapped native token or not) that never change for a token, so cached. */
  intent(transfer: Transfer): Promise<Intent>
  /** Every call that `intent` may make: contract (0x, lower case) → selectors. The keys of this chain sign nothing else for this bridge. */
  readonly calls: Readonly<Record<string, readonly string[]>>
  /**
   * Proves a call right before a key signs it, from its calldata alone, whoever asked for it: exactly encoded, and every transfer in it is genuine (`verify`) and for
   * this chain. What was proved lately costs no read. Throws CALL_UNJUSTIFIED, also for a call that is none of `calls`; what waits (NATIVE_NOT_FINAL,
   * GUARDIAN_SET_UNKNOWN), and what reads throw.
   */
  proveCall(intent: Intent): Promise<void>
  /** @param transfer tells more where the bridge has limits: an amount that never fits from a budget that is spent */
  explainRevert(revert: Revert, transfer?: Transfer): RevertMeaning
  /**
   * The gate that a transfer meets if this account delivers it; absent: the bridge has none. Open: what it takes of a limit is reserved until it is on the chain, is
   * released, or was not asked for again for minutes. Closed: nothing is reserved. At most one read per block. Call it through `withReservation`.
   */
  reserve?(transfer: Transfer, relayer: string): Promise<Gate>
  /** Frees what is reserved for it, if anything is. */
  release?(transfer: Transfer): void
  /** What this account lacks a role for, if anything; `everywhere`: for all of this bridge on this chain. Absent: any may deliver. Read once per block. */
  unauthorized?(relayer: string): Promise<{ readonly everywhere: boolean; readonly reason: string } | undefined>
  /** How several transfers leave in one call; absent: the bridge cannot do that. */
  readonly batches?: SharedCalls
  /** What its fee is worth, wei of the target's coin; undefined, or absent: no price is configured, and cost decides nothing. */
  earned?(transfer: Transfer): bigint | undefined
  /** The recipient (lower-case address of the target chain) and the token (as the bridge's asset list names it), for the deny-list. */
  parties(transfer: Transfer): { readonly recipient: string; readonly token: string }
  /** True if this receipt of ours shows the effect of this transfer (its event). */
  hasEffect(receipt: Receipt, transfer: Transfer): boolean
}

/** Many transfers in one call, all or nothing. */
export interface SharedCalls {
  /** Most transfers that any call of this chain has: so many wait together, in the memory of a lane's process. */
  readonly largest: number
  /** A transfer may share a call with those of the same key, at most so many (a lane goes below it by itself). Undefined: the config wants it alone. */
  groupOf(transfer: Transfer): { readonly key: string; readonly most: number } | undefined
  /** The call that delivers all of them; they are of one group. */
  intent(transfers: readonly Transfer[]): Promise<Intent>
  /** Those that fit together into what the bridge's limits leave, in order, by what `reserve` last read; one that does not fit is passed over. */
  fitting(transfers: readonly Transfer[]): readonly Transfer[]
}

/** One protocol. Decoding is pure; what needs a chain is an Endpoint. */
export interface Bridge {
  readonly name: BridgeName
  /** Checks only the form: ask `verify` before the id is taken. Throws VAA_*, NATIVE_*, PAYLOAD_KIND, PAYLOAD_LENGTH, TARGET_CHAIN_UNSUPPORTED. */
  decode(message: Uint8Array): Transfer
  /** The signers that the bytes name (a guardian set, by its index: later ones have higher numbers), where others may sign anew; absent: signatures never age. Throws as `decode`. */
  signedBy?(message: Uint8Array): number
  /** Throws TARGET_CHAIN_UNSUPPORTED for a chain that this process does not serve. */
  endpoint(chain: ChainName): Endpoint
  /** The streams that its transfers come from, of the chains that this process is connected to. */
  readonly sources: readonly Source[]
}

/** All bridges of a process, by name. */
export type Bridges = ReadonlyMap<BridgeName, Bridge>
