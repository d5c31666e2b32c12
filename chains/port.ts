import type { FeeQuote } from '../domain/fees/fees.ts'
import type { FinalityPolicy } from '../domain/finality.ts'
import type { Intent } from '../domain/lane/lane.ts'
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
  /** Hashes, lower case, by place in the block. */
  readonly transactions: readonly string[]
}

/** After a fork, the `rolledBack` blocks (descending) leave before the `applied` blocks (ascending) are added. */
export interface HeadEvent {
  readonly applied: readonly Block[]
  readonly rolledBack: readonly BlockRef[]
  readonly latest: Block
  /** Blocks at and below this height are final. */
  readonly finalized: number
  /** The block time that most nodes have reached, seconds since the epoch. Absent until most nodes showed a head. */
  readonly time?: number | undefined
}

/** One poll or subscription per chain, shared by all that wait for blocks. */
export interface Heads {
  /** Throws NODE_UNAVAILABLE if no block came within the timeout. */
  start(): Promise<void>
  stop(): void
  readonly current: HeadEvent | undefined
  /** The listener is called after every change. Its errors do not reach other listeners. Returns the unsubscribe. */
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

/** Follows the transaction hashes of one nonce. At most one of these transactions can be included. */
export interface Watch {
  readonly inclusion: Inclusion
  add(hash: string): void
  /** Calls the listener when `inclusion` changes (a reorg may undo it), and once if the hash is already included. */
  onChange(listener: (inclusion: Inclusion) => void): void
  close(): void
}

export interface Account {
  readonly latestNonce: number
  /** At the finalized height, at most `latestNonce`. */
  readonly finalizedNonce: number
  /** Wei, decimal, at the latest block. */
  readonly balance: string
  /** Latest known block when the reads were sent. */
  readonly block: BlockRef
}

/** Each class has one reaction (docs/ARCHITECTURE.md, "Answers of nodes, and the reactions"). */
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

/** The best answer of all nodes. `known` is as good as `accepted`. */
export type SendOutcome =
  | { readonly kind: 'accepted' | 'known' }
  | { readonly kind: 'refused'; readonly error: SendErrorClass; readonly message: string }

/** `data`: 0x for none. `reason`: the decoded text. */
export interface Revert {
  readonly data: string
  readonly reason: string
}

export type Simulation = { readonly ok: true; readonly gas: string } | { readonly ok: false; readonly revert: Revert }

/**
 * The state that a read sees. `agreed`: the finalized state, as more than half of the nodes report it. `agreed-latest`:
 * the same at the latest block. A single node must answer both twice, a block apart. `majority-latest`: as
 * `agreed-latest`, but a single node is asked once. `agreed` and `agreed-latest` are for irreversible verdicts and
 * throw NODES_DISAGREE.
 */
export type At = 'latest' | 'finalized' | 'agreed' | 'agreed-latest' | 'majority-latest'

/** The transaction in a block that used a nonce. */
export interface MinedTransaction {
  readonly hash: string
  /** Hash of the unsigned transaction. It is the same for every signature. */
  readonly signingHash: string
  /** Lower case. `to` is empty for a contract creation. */
  readonly call: Intent
  readonly block: BlockRef
}

export interface NodeStatus {
  readonly name: string
  /** Scheme, host and port: the only part of the URL that is shown. */
  readonly origin: string
  readonly use: NodeUse
  readonly state: 'unknown' | 'up' | 'failing' | 'probing' | 'wrong-network' | 'disabled'
  /** Distance of the node's head from the majority's head, blocks; 0 if slightly above. Absent: not compared. */
  readonly lag?: number
  readonly latencyMs?: number
  readonly failures: number
  /** Ms since the epoch. Absent: never called. */
  readonly askedAt?: number
  /** Added at runtime, so never counted in a majority. */
  readonly added?: boolean
}

/** One network, one instance per chain and process. Every method throws NODE_UNAVAILABLE if no node answers. */
export interface Chain {
  readonly name: string
  readonly family: string
  readonly networkId: string
  readonly finality: FinalityPolicy
  readonly blockTimeMs: number
  readonly heads: Heads
  /** Checks the network id of every node (throws CHAIN_ID_MISMATCH) and starts to follow the head. */
  connect(): Promise<void>
  close(): void
  account(address: string): Promise<Account>
  /** The highest transaction count of the nodes' pools, if more than half answered. */
  pendingNonce(address: string): Promise<number>
  /**
   * By more than half of the nodes; a single node is asked once. EIP-7702 delegations count as code. Throws
   * NODES_DISAGREE.
   * @param during a height: whether the account may have had code in this block. Default: at the latest block. If the
   * nodes have pruned the state of this block, the latest block decides.
   */
  hasCode(address: string, during?: number): Promise<boolean>
  /** The market's fees, read at most once per block. */
  quote(): Promise<FeeQuote>
  /** More than half of the nodes must report a revert. The gas limit is the estimate times `gasFactor` (default 1). */
  simulate(call: Intent, from: string, gasFactor?: number): Promise<Simulation>
  /** Estimated fee for a call's data in addition to gas (L2s), wei, decimal; '0' on other chains. */
  readonly dataFee: (call: Intent) => Promise<string>
  /** Gas limit of the account's empty transfer to itself, decimal. */
  noopGas(address: string): Promise<string>
  /** False where a higher fee replaces nothing (Arbitrum). A stuck transaction is then only sent again. */
  readonly raises: boolean
  /** Sends to every node that takes transactions. Never throws: silence becomes `ambiguous`. @param hash if known */
  send(raw: string, hash?: string): Promise<SendOutcome>
  watch(hashes: readonly string[]): Watch
  /** Estimated time until a block at this height is final, ms. */
  msToFinality(height: number): number
  /** The account's nonce at the finalized height, by more than half of the nodes. Throws NODES_DISAGREE. */
  agreedNonce(address: string): Promise<number>
  /**
   * The transaction that used a nonce, by quorum. Undefined if the nonce is unused, if the nodes pruned the state, or
   * if an EIP-7702 authorization used the nonce. Throws NODES_DISAGREE.
   */
  mined(address: string, nonce: number): Promise<MinedTransaction | undefined>
  /** Whether most nodes have another block at its height, or a head 128 blocks lower. Throws NODES_DISAGREE. */
  denies(block: BlockRef): Promise<boolean>
  /** Undefined: no such block yet. `agreed`: by most nodes, for final heights. Throws NODES_DISAGREE. */
  block(height: number, at: 'latest' | 'agreed'): Promise<BlockHeader | undefined>
  nodes(): readonly NodeStatus[]
  /** Applies live changes of this chain's nodes. The changes replace all earlier ones. */
  adjustNodes(changes: readonly NodeChange[]): void
  /** Undefined: in no canonical block. `agreed`: by more than half of the nodes. Throws NODES_DISAGREE. */
  receipt(hash: string, at?: 'agreed'): Promise<Receipt | undefined>
  readonly callsByNode: ReadonlyMap<string, ReadonlyMap<string, number>>
}
