import type { FeeQuote } from '../domain/fees/fees.ts'
import type { FinalityPolicy } from '../domain/finality.ts'
import type { Intent } from '../domain/intent.ts'
import type { NodeChange, NodeUse } from '../domain/settings/settings.ts'

/** A block by height and hash. */
export interface BlockRef {
  readonly height: number
  readonly hash: string
}

export interface BlockHeader extends BlockRef {
  readonly parentHash: string
  /** Seconds since the epoch. */
  readonly timestamp: number
}

/** A canonical block as the head tracker keeps it. */
export interface Block extends BlockHeader {
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

/** One poll or subscription per chain, shared by all that wait for blocks. */
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

/** A log with its place on the chain. */
export interface PlacedLog extends Log {
  readonly block: BlockRef
  readonly transactionHash: string
}

/** Logs of one contract in a range of blocks, both ends included, that begin with these topics. */
export interface LogRange {
  readonly address: string
  readonly topics: readonly string[]
  readonly fromBlock: number
  readonly toBlock: number
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

/** Whether one of the watched transactions is in a canonical block. `final`: its block is past finality. */
export type Inclusion = { readonly kind: 'unseen' } | { readonly kind: 'included'; readonly receipt: Receipt; readonly final: boolean }

/** Follows a set of transaction hashes of one nonce (of which at most one can be included) without a poll of its own. */
export interface Watch {
  readonly inclusion: Inclusion
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

/** All that a node can say to a send; each class has one reaction (docs/ARCHITECTURE.md, "What nodes say, and the reactions"). */
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

/**
 * Which state a read looks at. `agreed`: the finalized state by more than half of the nodes (with one: in two reads a block apart), for verdicts
 * that can't be taken back; throws NODES_DISAGREE. `agreed-latest`: the same of the latest state, where one node could hold something up.
 * `majority-latest`: the latest state by more than half of the nodes, with one node its word: for what is read again and again.
 */
export type At = 'latest' | 'finalized' | 'agreed' | 'agreed-latest' | 'majority-latest'

/** The transaction that used a nonce, as the chain has it in a block. */
export interface MinedTransaction {
  readonly hash: string
  /** What was signed, without the signature: two signatures of one transaction have the same. */
  readonly signingHash: string
  /** What it did, in lower case; `to` is empty for a creation. */
  readonly call: Intent
  readonly block: BlockRef
}

/** A node as its chain sees it now. */
export interface NodeStatus {
  readonly name: string
  /** Scheme, host and port: all that is ever shown of its URL. */
  readonly origin: string
  readonly use: NodeUse
  readonly state: 'unknown' | 'up' | 'open' | 'half-open' | 'wrong-network' | 'disabled'
  /** Blocks behind the head of the majority, or far above it, where it was compared. */
  readonly lag?: number
  /** Of its latest answers, ms. */
  readonly latencyMs?: number
  readonly failures: number
  /** When its latest call ended, answered or not, ms since the epoch: what is above is not newer. Absent: it was not called. */
  readonly askedAt?: number
  /** Added while the workers run: it never counts in a majority. Absent: the config has it. */
  readonly added?: boolean
}

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
  /** Transaction count including the nodes' pools; the highest answer of all nodes, of which more than half must have answered. */
  pendingNonce(address: string): Promise<number>
  /** True if the address has code (EIP-7702 delegations too). */
  hasCode(address: string): Promise<boolean>
  /** The market, read at most once per block. */
  quote(): Promise<FeeQuote>
  /** One read; a revert is the word of more than half of the nodes. The gas limit is the estimate times `gasFactor`; absent: as estimated. */
  simulate(call: Intent, from: string, gasFactor?: number): Promise<Simulation>
  /** What the chain charges for the data of a call beside its gas (L2s), wei, decimal; '0' where it charges nothing. An estimate. */
  dataFee(call: Intent): Promise<string>
  /** Gas limit of a transfer of nothing from this address to itself, decimal. */
  noopGas(address: string): Promise<string>
  /** False where a higher fee replaces nothing (Arbitrum): what is stuck is only sent again. */
  readonly raises: boolean
  /** Sends to every node that takes transactions. Never throws: silence and time-outs are `ambiguous`. @param hash its own, where the caller has it */
  send(raw: string, hash?: string): Promise<SendOutcome>
  watch(hashes: readonly string[]): Watch
  /** How long until a block at this height is final, estimated, ms; 0 if it is. */
  msToFinality(height: number): number
  /** Transaction count at the finalized height, on the word of more than half of the nodes. Throws NODES_DISAGREE. */
  agreedNonce(address: string): Promise<number>
  /** The transaction that used this nonce, by quorum; undefined: none yet, pruned, or an EIP-7702 authorisation used it. Throws NODES_DISAGREE. */
  mined(address: string, nonce: number): Promise<MinedTransaction | undefined>
  /**
   * True only when more than half of the nodes show another block at its height, or a finalized head 128 blocks below it: the chain was replaced,
   * or reorganised deeper than finality. A block that is there costs one read at most. Throws NODES_DISAGREE.
   */
  denies(block: BlockRef): Promise<boolean>
  /** The canonical block at a height; undefined: there is none yet. `agreed`: by more than half of the nodes, for final heights. Throws NODES_DISAGREE. */
  block(height: number, at: 'latest' | 'agreed'): Promise<BlockHeader | undefined>
  nodes(): readonly NodeStatus[]
  /** Applies the live changes of this chain to its configured nodes; replaces those that were applied before. */
  adjustNodes(changes: readonly NodeChange[]): void
  /** Of a mined transaction; undefined: in no canonical block. `agreed`: both on the word of more than half of the nodes. Throws NODES_DISAGREE. */
  receipt(hash: string, at?: 'agreed'): Promise<Receipt | undefined>
  /** RPC calls made so far by method, for the summary and the metrics. */
  readonly calls: ReadonlyMap<string, number>
  /** The same by the name of the node that was asked. */
  readonly callsByNode: ReadonlyMap<string, ReadonlyMap<string, number>>
}
