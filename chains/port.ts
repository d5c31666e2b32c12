import type { FeeQuote, Fees } from '../domain/fees.ts'
import type { FinalityPolicy } from '../domain/finality.ts'
import type { Intent } from '../domain/intent.ts'

/** A block by height and hash. */
export interface BlockRef {
  readonly height: number
  readonly hash: string
}

/** A canonical block as the head tracker keeps it. */
export interface Block extends BlockRef {
  readonly parentHash: string
  /** Seconds since the epoch. */
  readonly timestamp: number
  /** Wei, decimal; absent on legacy chains. */
  readonly baseFee?: string
  /** Transaction hashes, lower case, in order. */
  readonly transactions: readonly string[]
}

/** What changed since the last event. Blocks in order of height; a fork lists what was rolled back, newest first, before what was applied. */
export interface HeadEvent {
  readonly applied: readonly Block[]
  readonly rolledBack: readonly BlockRef[]
  readonly latest: Block
  /** Height at and below which blocks are final by the chain's policy. */
  readonly finalized: number
}

/** One poll or subscription per chain, shared by all who wait. */
export interface Heads {
  /** Throws NODE_UNAVAILABLE if the first block was not read within the connect timeout. */
  start(): Promise<void>
  stop(): void
  /** The last event, or undefined before the first block. */
  readonly current: HeadEvent | undefined
  /** Called after every change. Returns the function that ends it. A listener's throw never stops the others. */
  subscribe(listener: (event: HeadEvent) => void): () => void
}

export interface Log {
  readonly address: string
  readonly topics: readonly string[]
  readonly data: string
}

export interface Receipt {
  readonly hash: string
  readonly status: 'success' | 'reverted'
  readonly block: BlockRef
  readonly from: string
  /** Decimal gas units and wei. */
  readonly gasUsed: string
  readonly effectiveGasPrice: string
  readonly logs: readonly Log[]
}

/** Where the watched transactions stand: none in a canonical block, or one of them is. `final`: its block is past finality. */
export type Inclusion = { readonly kind: 'unseen' } | { readonly kind: 'included'; readonly receipt: Receipt; readonly final: boolean }

/** Follows a set of transaction hashes of one nonce (of which at most one can be included) without a poll of its own. */
export interface Watch {
  readonly inclusion: Inclusion
  /** One more hash that may be included (a bump). */
  add(hash: string): void
  /** Called whenever `inclusion` changes, also back to unseen by a reorg. Called once soon after creation if already included. */
  onChange(listener: (inclusion: Inclusion) => void): void
  close(): void
}

/** An account as one batch of reads tells it. */
export interface Account {
  /** Transaction count at the latest block. */
  readonly latestNonce: number
  /** Transaction count at the finalized height (≤ latestNonce). */
  readonly finalizedNonce: number
  /** Wei, decimal, at the latest block. */
  readonly balance: string
  /** The latest block as the head tracker knew it when the reads were sent. */
  readonly block: BlockRef
}

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
}

/** The only holder of key material. */
export interface Signer {
  /** 0x address, lower case. */
  readonly address: string
  /** Deterministic signers give the same bytes for the same input. Throws SIGNER_UNAVAILABLE. */
  sign(transaction: UnsignedTransaction): Promise<SignedTransaction>
}

/** The closed set of what a node can say to a send; each class has one reaction (reference: docs/ARCHITECTURE.md, error classes). */
export type SendErrorClass =
  | 'nonce-too-low'
  | 'already-known'
  | 'own-nonce-used'
  | 'replacement-underpriced'
  | 'underpriced'
  | 'nonce-too-high'
  | 'pool-limit'
  | 'insufficient-funds'
  | 'fee-cap'
  | 'fatal'
  | 'terminally-stuck'
  | 'ambiguous'

/** The best answer of all nodes that a raw transaction was sent to. `known` is as good as `accepted`. */
export type SendOutcome =
  | { readonly kind: 'accepted' | 'known' }
  | { readonly kind: 'refused'; readonly error: SendErrorClass; readonly message: string }

/** A revert as data: `data` is the revert bytes (0x when none), `reason` the decoded text where there is one. */
export interface Revert {
  readonly data: string
  readonly reason: string
}

export type Simulation = { readonly ok: true; readonly gas: string } | { readonly ok: false; readonly revert: Revert }

/** Which state a read looks at. */
export type At = 'latest' | 'finalized'

/** One network. One instance per chain in a worker process, shared by all its users. Every method throws NODE_UNAVAILABLE if no node answers. */
export interface Chain {
  readonly name: string
  readonly family: string
  readonly networkId: string
  readonly finality: FinalityPolicy
  /** Expected time between blocks, ms. */
  readonly blockTimeMs: number
  readonly heads: Heads
  /** Checks the network id of every node (CHAIN_ID_MISMATCH) and starts the head tracker. */
  connect(): Promise<void>
  close(): void
  account(address: string): Promise<Account>
  /** Transaction count including the node's pool; the highest answer of all nodes. */
  pendingNonce(address: string): Promise<number>
  /** True if the address has code (EIP-7702 delegations too). */
  hasCode(address: string): Promise<boolean>
  /** The market, read at most once per block. */
  quote(): Promise<FeeQuote>
  /** Would the call succeed from this address, and with how much gas (already with the safety factor)? Two reads in one. */
  simulate(call: Intent, from: string): Promise<Simulation>
  /** Sends to every node that takes transactions. Never throws: silence and time-outs are `ambiguous`. */
  send(raw: string): Promise<SendOutcome>
  watch(hashes: readonly string[]): Watch
  /** How long until a block at this height is final, estimated, ms; 0 if it is. */
  msToFinality(height: number): number
  /** Canonical transaction hash and sender of a mined transaction, or undefined. */
  receipt(hash: string): Promise<Receipt | undefined>
  /** RPC calls made so far by method, for the summary and the metrics. */
  readonly calls: ReadonlyMap<string, number>
}
