import type { FeeQuote } from '../domain/fees/fees.ts'
import type { FinalityPolicy } from '../domain/finality.ts'
import type { Intent } from '../domain/lane/lane.ts'
import type { SendErrorClass } from '../domain/lane/send-errors.ts'
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
  /** Hashes, lower case, in the order of the block. */
  readonly transactions: readonly string[]
}

/** `rolledBack` blocks (descending) are removed before `applied` blocks (ascending) are added. */
export interface HeadEvent {
  readonly applied: readonly Block[]
  readonly rolledBack: readonly BlockRef[]
  readonly latest: Block
  readonly finalized: number
  /** Block time that most nodes have reached, seconds since the epoch. Absent until most nodes have shown a head. */
  readonly time?: number | undefined
}

/** The heads of a chain. All parts that wait for blocks share one poll. */
export interface Heads {
  /** Throws NODE_UNAVAILABLE if no block came within the timeout. */
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

/** Logs of one contract whose topics begin with `topics`, in a range of blocks that includes both ends. */
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
  /** `gasUsed` is in gas units, `effectiveGasPrice` in wei per gas. Both are decimal. */
  readonly gasUsed: string
  readonly effectiveGasPrice: string
  readonly logs: readonly Log[]
  /** Place of the first log among all logs of the block, from 0. Absent without logs, or if not known. */
  readonly firstLog?: number
}

export type Inclusion = { readonly kind: 'unseen' } | { readonly kind: 'included'; readonly receipt: Receipt; readonly final: boolean }

export interface Watch {
  readonly inclusion: Inclusion
  add(hash: string): void
  /** Calls the listener after each change and, if a hash is included already, at the start. A reorg is a change. */
  onChange(listener: (inclusion: Inclusion) => void): void
  close(): void
}

export interface Account {
  readonly latestNonce: number
  readonly finalizedNonce: number
  /** Balance at the latest block. Wei, decimal. */
  readonly balance: string
  /** The latest known block at the time of the reads. */
  readonly block: BlockRef
}

/** The best answer of all nodes. `known` is as good as `accepted`. */
export type SendOutcome =
  | { readonly kind: 'accepted' | 'known' }
  | { readonly kind: 'refused'; readonly error: SendErrorClass; readonly message: string }

/** `data` is 0x if there is no data. `reason` is the decoded text. */
export interface Revert {
  readonly data: string
  readonly reason: string
}

export type Simulation = { readonly ok: true; readonly gas: string } | { readonly ok: false; readonly revert: Revert }

/**
 * `latest`, `finalized`: one node answers. `agreed` (the finalized state), `agreed-latest`: most nodes must agree, and
 * a single node must answer twice, a block apart. `majority-latest`: as `agreed-latest`, but a single node answers only
 * once. The last three throw NODES_DISAGREE.
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
  /** Scheme, host and port. No other part of the URL is shown. */
  readonly origin: string
  readonly use: NodeUse
  readonly state: 'unknown' | 'up' | 'failing' | 'probing' | 'wrong-network' | 'disabled'
  /**
   * Number of blocks between the node's head and the majority's head. 0 if the node's head is slightly higher, but the
   * distance if the node's head is much higher, because such a head is false. Absent if the heads were not compared.
   */
  readonly lag?: number
  readonly latencyMs?: number
  readonly failures: number
  /** ms since the epoch. Absent if the node was never called. */
  readonly askedAt?: number
  /** True for a node that was added at runtime. Such a node never counts in a majority. */
  readonly added?: boolean
}

/** One network. A process has one instance per chain. Every method throws NODE_UNAVAILABLE if no node answers. */
export interface Chain {
  readonly name: string
  readonly family: string
  readonly networkId: string
  readonly finality: FinalityPolicy
  readonly blockTimeMs: number
  readonly heads: Heads
  /** Checks the network id of every node and starts to follow the head. Throws CHAIN_ID_MISMATCH. */
  connect(): Promise<void>
  close(): void
  account(address: string): Promise<Account>
  /** Coins (wei) or ERC-20 units at the latest block. Asks a lone node once. Throws NODES_DISAGREE, NODE_REFUSED. */
  balanceOf(address: string, token?: string): Promise<string>
  /** Returns the highest plausible transaction count in the nodes' pools. More than half of the nodes must answer. */
  pendingNonce(address: string): Promise<number>
  /**
   * Whether the account has code. An EIP-7702 delegation counts as code. More than half of the nodes must agree. A
   * single node is asked once. Throws NODES_DISAGREE.
   * @param during the block to check. Default: the latest block. The answer is also true if the account had code before
   * the block, or if its transaction count changed in the block, because EIP-7702 may add and remove code within one
   * block. If nodes have pruned the state, the latest block is checked instead.
   */
  hasCode(address: string, during?: number): Promise<boolean>
  /** Returns the market's fees. They are read at most once per block. */
  quote(): Promise<FeeQuote>
  /**
   * Simulates a call. If several nodes are asked, a revert keeps its data only if most of them report the same data.
   * The gas is the estimate times `gasFactor` (default 1), but not more than the gas limit of a block. Throws
   * TRANSACTION_REFUSED if the sender cannot pay the value.
   */
  simulate(call: Intent, from: string, gasFactor?: number): Promise<Simulation>
  /** Estimates the fee for a call's data, which L2s charge in addition to gas. Wei, decimal. `0` on other chains. */
  readonly dataFee: (call: Intent) => Promise<string>
  noopGas(address: string): Promise<string>
  /**
   * False if a higher fee does not replace a transaction (Arbitrum). A stuck transaction is then only sent again,
   * unchanged.
   */
  readonly raises: boolean
  /** Sends to every node that takes transactions. Never throws: if no node answers, the outcome is `ambiguous`. */
  send(raw: string, hash?: string): Promise<SendOutcome>
  watch(hashes: readonly string[]): Watch
  /** Estimates the ms until a block of this height is final. 0 if such a block is final already. */
  msToFinality(height: number): number
  /** Nonce at the finalized height, by more than half of the nodes. Throws NODES_DISAGREE. */
  agreedNonce(address: string): Promise<number>
  /**
   * Returns the transaction that used a nonce, as most nodes show it. Undefined if the nonce is unused, if an EIP-7702
   * authorization used it, or if nodes pruned the state. Throws NODES_DISAGREE.
   */
  mined(address: string, nonce: number): Promise<MinedTransaction | undefined>
  /**
   * Whether most nodes show another block of this height, or no block there and a head at least 128 blocks lower. With
   * a finality tag, this head is the finalized one. A low head proves nothing while most nodes sync. Throws
   * NODES_DISAGREE.
   */
  denies(block: BlockRef): Promise<boolean>
  /** Undefined if there is no such block yet. `agreed` asks most nodes for a final block, and throws NODES_DISAGREE. */
  block(height: number, at: 'latest' | 'agreed'): Promise<BlockHeader | undefined>
  nodes(): readonly NodeStatus[]
  adjustNodes(changes: readonly NodeChange[]): void
  /** Undefined if no canonical block has the transaction. `agreed` asks most nodes, and throws NODES_DISAGREE. */
  receipt(hash: string, at?: 'agreed'): Promise<Receipt | undefined>
  readonly callsByNode: ReadonlyMap<string, ReadonlyMap<string, number>>
}
