import type { FeeQuote } from '../domain/fees/fees.ts'
import type { FinalityPolicy } from '../domain/finality.ts'
import type { Intent } from '../domain/intent.ts'
import type { NodeChange, NodeUse } from '../domain/settings/settings.ts'

export interface BlockRef {
  readonly height: number
  readonly hash: string
}

export interface BlockHeader extends BlockRef {
  readonly parentHash: string
  /** Seconds since the epoch. */
  readonly timestamp: number
}

export interface Block extends BlockHeader {
  /** Wei, decimal. Absent on legacy chains. */
  readonly baseFee?: string
  /** Transaction hashes, lower case, by place in the block. */
  readonly transactions: readonly string[]
}

/** The change since the last event. `applied` ascends; `rolledBack` (of a fork) descends and comes first. */
export interface HeadEvent {
  readonly applied: readonly Block[]
  readonly rolledBack: readonly BlockRef[]
  readonly latest: Block
  /** Height at and below which blocks are final. */
  readonly finalized: number
}

/** One poll or subscription per chain, shared by all that wait for blocks. */
export interface Heads {
  /** Throws NODE_UNAVAILABLE if no block was read within the connect timeout. */
  start(): Promise<void>
  stop(): void
  readonly current: HeadEvent | undefined
  /**
   * Called after every change. Returns the function that unsubscribes. An error of one listener does not stop the
   * others.
   */
  subscribe(listener: (event: HeadEvent) => void): () => void
}

export interface Log {
  readonly address: string
  readonly topics: readonly string[]
  readonly data: string
}

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

/** Whether a watched transaction is in a canonical block. `final`: its block is final. */
export type Inclusion = { readonly kind: 'unseen' } | { readonly kind: 'included'; readonly receipt: Receipt; readonly final: boolean }

/** Follows the transaction hashes of one nonce, of which at most one can be included, without polls of its own. */
export interface Watch {
  readonly inclusion: Inclusion
  add(hash: string): void
  /** Called whenever `inclusion` changes, also back to unseen by a reorg, and once at the start if already included. */
  onChange(listener: (inclusion: Inclusion) => void): void
  close(): void
}

/** An account, read in one batch. */
export interface Account {
  /** Transaction count at the latest block. */
  readonly latestNonce: number
  /** Transaction count at the finalized height, at most `latestNonce`. */
  readonly finalizedNonce: number
  /** Wei, decimal, at the latest block. */
  readonly balance: string
  /** The latest block that was known when the reads were sent. */
  readonly block: BlockRef
}

/** Refusals of a send. Each class has one reaction (docs/ARCHITECTURE.md, "What nodes say, and the reactions"). */
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

/** The best answer of all nodes to a raw transaction. `known` is as good as `accepted`. */
export type SendOutcome =
  | { readonly kind: 'accepted' | 'known' }
  | { readonly kind: 'refused'; readonly error: SendErrorClass; readonly message: string }

/** `data`: the revert bytes, 0x for none. `reason`: the decoded text, if any. */
export interface Revert {
  readonly data: string
  readonly reason: string
}

export type Simulation = { readonly ok: true; readonly gas: string } | { readonly ok: false; readonly revert: Revert }

/**
 * The state of a read. `agreed`: finalized, by more than half of the nodes (a single node: in two reads a block apart),
 * for irreversible verdicts. `agreed-latest`: the same at the latest block. `majority-latest`: the latest block by more
 * than half of the nodes, a single node once, for repeated reads. The agreed ones throw NODES_DISAGREE.
 */
export type At = 'latest' | 'finalized' | 'agreed' | 'agreed-latest' | 'majority-latest'

/** The transaction that used a nonce, in a block. */
export interface MinedTransaction {
  readonly hash: string
  /** Hash of the unsigned transaction: the same for every signature. */
  readonly signingHash: string
  /** Lower case. `to` is empty for a contract creation. */
  readonly call: Intent
  readonly block: BlockRef
}

/** The current state of a node. */
export interface NodeStatus {
  readonly name: string
  /** Scheme, host and port: the only part of the URL that is shown. */
  readonly origin: string
  readonly use: NodeUse
  readonly state: 'unknown' | 'up' | 'open' | 'half-open' | 'wrong-network' | 'disabled'
  /** Blocks behind the majority's head, or far above it. Absent: not compared. */
  readonly lag?: number
  /** Average of its latest answers, ms. */
  readonly latencyMs?: number
  readonly failures: number
  /** End of its latest call, ms since the epoch. Absent: never called. */
  readonly askedAt?: number
  /** Added at runtime: the node never counts in a majority. */
  readonly added?: boolean
}

/** One network, one instance per chain and process. Every method throws NODE_UNAVAILABLE if no node answers. */
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
  /** Transaction count with the nodes' pools: the highest answer, if more than half of the nodes answered. */
  pendingNonce(address: string): Promise<number>
  /** Whether the address has code, EIP-7702 delegations included. */
  hasCode(address: string): Promise<boolean>
  /** The market, read at most once per block. */
  quote(): Promise<FeeQuote>
  /**
   * Estimates gas. A revert needs more than half of the nodes. The gas limit is the estimate times `gasFactor` (default
   * 1).
   */
  simulate(call: Intent, from: string, gasFactor?: number): Promise<Simulation>
  /** Estimated fee for a call's data in addition to its gas (L2s), wei, decimal; '0' on other chains. */
  dataFee(call: Intent): Promise<string>
  /** Gas limit of an empty transfer from this address to itself, decimal. */
  noopGas(address: string): Promise<string>
  /** False where a higher fee replaces nothing (Arbitrum): stuck transactions are only resent. */
  readonly raises: boolean
  /**
   * Sends to every node that takes transactions. Never throws: silence and timeouts are `ambiguous`.
   * @param hash of the transaction, if the caller has it
   */
  send(raw: string, hash?: string): Promise<SendOutcome>
  watch(hashes: readonly string[]): Watch
  /** Estimated time until a block at this height is final, ms; 0 if it is final. */
  msToFinality(height: number): number
  /** Transaction count at the finalized height, by more than half of the nodes. Throws NODES_DISAGREE. */
  agreedNonce(address: string): Promise<number>
  /**
   * The transaction that used this nonce, by quorum. Undefined: none yet, pruned, or used by an EIP-7702 authorisation.
   * Throws NODES_DISAGREE.
   */
  mined(address: string, nonce: number): Promise<MinedTransaction | undefined>
  /**
   * Whether the block left the chain below finality: more than half of the nodes show another block at its height, or a
   * finalized head 128 blocks lower. A block that still exists costs at most one read. Throws NODES_DISAGREE.
   */
  denies(block: BlockRef): Promise<boolean>
  /**
   * The canonical block at a height; undefined: none yet. `agreed`: by more than half of the nodes, for final heights.
   * Throws NODES_DISAGREE.
   */
  block(height: number, at: 'latest' | 'agreed'): Promise<BlockHeader | undefined>
  nodes(): readonly NodeStatus[]
  /** Applies the live changes of this chain's nodes, in place of earlier ones. */
  adjustNodes(changes: readonly NodeChange[]): void
  /**
   * The receipt of a mined transaction; undefined: in no canonical block. `agreed`: either answer by more than half of
   * the nodes. Throws NODES_DISAGREE.
   */
  receipt(hash: string, at?: 'agreed'): Promise<Receipt | undefined>
  /** RPC calls by method. */
  readonly calls: ReadonlyMap<string, number>
  /** RPC calls by node name and method. */
  readonly callsByNode: ReadonlyMap<string, ReadonlyMap<string, number>>
}
