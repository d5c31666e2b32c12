import type { FeeQuote } from '../domain/fees/fees.ts'
import type { BlockRef, FinalityPolicy } from '../domain/finality.ts'
import type { Intent } from '../domain/lane/lane.ts'
import type { SendErrorClass } from '../domain/lane/send-errors.ts'
import type { NodeChange, NodeUse } from '../domain/settings/settings.ts'

export type { BlockRef }

export interface BlockHeader extends BlockRef {
  readonly parentHash: string
  /** Seconds since the epoch. */
  readonly timestamp: number
}

export interface Block extends BlockHeader {
  /** Wei, decimal. Absent on legacy chains. */
  readonly baseFee?: string
  /** Hashes, lower case, in the order of the block. */
  readonly transactions: readonly string[]
}

/** `rolledBack` blocks (descending) are removed before `applied` blocks (ascending) are added. */
export interface HeadEvent {
  readonly applied: readonly Block[]
  readonly rolledBack: readonly BlockRef[]
  readonly latest: Block
  readonly finalized: number
  /** The latest timestamp that most nodes have reached, seconds. Absent until most nodes have shown a head. */
  readonly time?: number | undefined
}

/** All parts that wait for blocks share one poll. */
export interface Heads {
  /** Throws NODE_UNAVAILABLE if no block comes in time. */
  start(): Promise<void>
  stop(): void
  readonly current: HeadEvent | undefined
  /** Calls the listener after every change, and isolates its errors. Returns a function that unsubscribes. */
  subscribe(listener: (event: HeadEvent) => void): () => void
}

export interface Log {
  readonly address: string
  readonly topics: readonly string[]
  readonly data: string
}

export interface PlacedLog extends Log {
  readonly block: BlockRef
  readonly index: number
  readonly transactionHash: string
}

/** The logs of one contract that have `topics` as their first topics. The range includes both ends. */
export interface LogRange {
  readonly address: string
  readonly topics: readonly string[]
  readonly fromBlock: number
  readonly toBlock: number
  /**
   * If set, returns only the logs of this transaction in the first block, read from the transaction's receipt: a node
   * that leaves a log out of its answers about blocks still has the log in the receipt. Absent: the logs of all
   * transactions.
   */
  readonly transaction?: string | undefined
}

export function isLogOf({ address, topics }: Pick<LogRange, 'address' | 'topics'>): (log: Log) => boolean {
  const contract = address.toLowerCase()
  return (log) => log.address.toLowerCase() === contract && topics.every((topic, index) => log.topics[index]?.toLowerCase() === topic)
}

export interface Receipt {
  readonly hash: string
  readonly status: 'success' | 'reverted'
  readonly block: BlockRef
  readonly from: string
  /** Gas units, decimal. */
  readonly gasUsed: string
  readonly effectiveGasPrice: string
  readonly logs: readonly Log[]
  /**
   * Position of the first log among all logs of the block, from 0. Absent without logs, or if the position is not
   * known.
   */
  readonly firstLog?: number
}

export type Inclusion = { readonly kind: 'unseen' } | { readonly kind: 'included'; readonly receipt: Receipt; readonly final: boolean }

export interface Watch {
  readonly inclusion: Inclusion
  add(hash: string): void
  /** Calls the listener after each change, and at the start if a hash is included already. */
  onChange(listener: (inclusion: Inclusion) => void): void
  close(): void
}

export interface Account {
  readonly latestNonce: number
  readonly finalizedNonce: number
  /** At the latest block. Wei, decimal. */
  readonly balance: string
  readonly block: BlockRef
}

/**
 * The best answer of all nodes. `known`: a node had the transaction already, which is as good as `accepted`.
 * `mostAnswered`: more than half of the config's nodes that take transactions answered or may have got the transaction,
 * and none gave a better answer.
 */
export type SendOutcome =
  | { readonly kind: 'accepted' | 'known' }
  | { readonly kind: 'refused'; readonly error: SendErrorClass; readonly message: string; readonly mostAnswered?: true }

/** `data` is `0x` if the revert has no data. `reason` is the decoded text. */
export interface Revert {
  readonly data: string
  readonly reason: string
  /** Set if one node reports this revert, and too few other nodes agree. */
  readonly isDisputed?: true
}

/** `needsMore`: the call needs more gas than `GasOptions.atMost`. */
export type Simulation =
  | { readonly ok: true; readonly gas: string }
  | { readonly ok: false; readonly revert: Revert; readonly needsMore?: true }

export interface GasOptions {
  /** The gas is the estimate times this factor, up to the gas limit of a block. Default: 1. */
  readonly gasFactor?: number
  /**
   * Maximum gas that a node executes, decimal. Without a limit, a stranger's contract could use the gas of a whole
   * block at each step of an estimate. Besu ignores the limit. Absent: the node's own limit.
   */
  readonly atMost?: string | undefined
}

/**
 * `latest`, `finalized`: one node answers. `agreed` (the finalized state), `agreed-latest`: most nodes must agree, and
 * a chain's only node must answer twice, a block apart. `majority-latest`: most nodes must agree, and a chain's only
 * node is asked once. The last three throw NODES_DISAGREE.
 */
export type At = 'latest' | 'finalized' | 'agreed' | 'agreed-latest' | 'majority-latest'

export interface MinedTransaction {
  readonly hash: string
  /** Hash of the unsigned transaction, the same for every signature. */
  readonly signingHash: string
  /** Lower case. `to` is empty for a contract creation. */
  readonly call: Intent
  readonly block: BlockRef
}

export interface NodeStatus {
  readonly name: string
  /** Scheme, host and port. */
  readonly origin: string
  readonly use: NodeUse
  readonly state: 'unknown' | 'up' | 'failing' | 'probing' | 'wrong-network' | 'disabled'
  /** Blocks between the node's head and the majority's (`lagOf`). Absent if the heads were not compared. */
  readonly lag?: number
  readonly latencyMs?: number
  readonly failures: number
  /** ms since the epoch. Absent if the node was never called. */
  readonly askedAt?: number
  /** Added at runtime. Such a node never counts in a majority. */
  readonly added?: boolean
}

/** A process has one instance per chain. Methods that read the chain throw NODE_UNAVAILABLE if no node answers. */
export interface Chain {
  readonly name: string
  readonly networkId: string
  readonly finality: FinalityPolicy
  readonly blockTimeMs: number
  readonly heads: Heads
  /** Checks the network id of every node and starts to follow the head. Throws CHAIN_ID_MISMATCH. */
  connect(): Promise<void>
  close(): void
  account(address: string): Promise<Account>
  /** Wei or ERC-20 units at the latest block. Asks a chain's only node once. Throws NODES_DISAGREE, NODE_REFUSED. */
  balanceOf(address: string, token?: string): Promise<string>
  /**
   * The highest plausible transaction count in the nodes' pools. Throws NODE_UNAVAILABLE unless more than half of the
   * nodes answer.
   */
  pendingNonce(address: string): Promise<number>
  /**
   * Whether most nodes show that the account has code or an EIP-7702 delegation. Asks a chain's only node once. Throws
   * NODES_DISAGREE.
   * @param during a block. Also true if the account had code before this block, or if its transaction count changed in
   * this block, because EIP-7702 may add and remove code within one block. Default, and if nodes have pruned the state:
   * the latest block.
   */
  hasCode(address: string, during?: number): Promise<boolean>
  /** Reads the market's fees at most once per block. */
  quote(): Promise<FeeQuote>
  /**
   * Estimates the gas of a call, or returns its revert. If several nodes are asked, a revert keeps its data only if
   * most of them report the same data. Throws TRANSACTION_REFUSED if the sender cannot pay the value.
   */
  simulate(call: Intent, from: string, options?: GasOptions): Promise<Simulation>
  /** The fee that L2s charge for a call's data, in addition to gas. Wei, decimal. `0` on other chains. */
  readonly dataFee: (call: Intent) => Promise<string>
  noopGas(address: string): Promise<string>
  /** False if a higher fee does not replace a transaction (Arbitrum). */
  readonly raises: boolean
  /**
   * Sends to every node that takes transactions and is up or, if none is up, to those that may be tried again. Never
   * throws: if no node answers, the outcome is `ambiguous`.
   */
  send(raw: string, hash?: string): Promise<SendOutcome>
  watch(hashes: readonly string[]): Watch
  /** Estimates the ms until a block of this height is final. 0 if such a block is final already. */
  msToFinality(height: number): number
  /** Nonce at the finalized height, according to more than half of the nodes. Throws NODES_DISAGREE. */
  agreedNonce(address: string): Promise<number>
  /**
   * The transaction that used a nonce, according to most nodes. Undefined if the nonce is unused, if an EIP-7702
   * authorization used it, or if nodes pruned the state. Throws NODES_DISAGREE.
   */
  mined(address: string, nonce: number): Promise<MinedTransaction | undefined>
  /**
   * Whether most nodes show a different block at this height. Also true if most nodes show no block at this height, and
   * their head (with a finality tag: their finalized head) is at least 128 blocks lower, unless most nodes are syncing.
   * Throws NODES_DISAGREE.
   */
  denies(block: BlockRef): Promise<boolean>
  /**
   * Undefined if there is no such block yet. `latest`: one node answers. `agreed`, `majority`: most nodes must agree
   * about a final block, and a chain's only node must answer twice (`agreed`) or once (`majority`). Both throw
   * NODES_DISAGREE.
   */
  block(height: number, at: 'latest' | 'agreed' | 'majority'): Promise<BlockHeader | undefined>
  nodes(): readonly NodeStatus[]
  adjustNodes(changes: readonly NodeChange[]): void
  /** Undefined if no canonical block has the transaction. `agreed` asks most nodes, and throws NODES_DISAGREE. */
  receipt(hash: string, at?: 'agreed'): Promise<Receipt | undefined>
  readonly callsByNode: ReadonlyMap<string, ReadonlyMap<string, number>>
}
