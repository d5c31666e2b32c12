import type { RelayerError } from '../domain/catalogue/errors.ts'
import type { StreamConfig } from '../domain/stream/stream.ts'
import type { BridgeName, ChainName, Transfer } from '../domain/transfer/transfer.ts'

/** Heights, both included. */
export interface BlockRange {
  readonly fromBlock: number
  readonly toBlock: number
}

/** A numbered source of transfers, as its stream agent reads it (domain/stream/stream.ts). `scanned`: its messages are in blocks. `signed`: others sign and keep them. */
export type Source = ScannedSource | SignedSource

interface SourceBase {
  /** What the stream begins with. */
  readonly config: StreamConfig
  readonly bridge: BridgeName
  readonly sourceChain: ChainName
  /** The highest number given out, at the finalized state, by quorum; undefined: none. The look begins at `known`, which existed, and finds less if that is gone. */
  highest(known?: string): Promise<string | undefined>
  /**
   * Which of them the target's finalized state shows, in order: what is delivered is never started. By quorum; false where the nodes disagree, and where this process
   * is not connected to the target. Throws what contradicts itself (`haltRoute`), what reads throw.
   */
  delivered(transfers: readonly Omit<Transfer, 'message'>[]): Promise<readonly boolean[]>
}

/** A direction of a native bridge: blocks and a table tell its transfers, and blocks of the target their completions. */
export interface ScannedSource extends SourceBase {
  readonly kind: 'scanned'
  readonly targetChain: ChainName
  /**
   * Transfers of these blocks, in order; without `at` by one node's word, which halts no route. Throws NODE_REFUSED (split the range; stray logs), NODE_UNAVAILABLE;
   * what contradicts itself (`haltRoute`); at `agreed` NODES_DISAGREE, also where nodes refuse the range.
   */
  initiated(range: BlockRange, at?: 'agreed'): Promise<readonly PlacedTransfer[]>
  /**
   * What the source's table has under these numbers, in the same order; undefined: nothing yet. In batches. At `finalized` one node is asked, and the others
   * for what that one does not have. Throws what contradicts itself (`haltRoute`, by quorum), what reads throw; at `agreed` NODES_DISAGREE.
   */
  recorded(numbers: readonly string[], at: 'finalized' | 'agreed'): Promise<readonly (Transfer | undefined)[]>
  /** Completions in these blocks of the target, by any account. Throws as `initiated`. */
  completed(range: BlockRange, at?: 'agreed'): Promise<readonly Completion[]>
  /** The error that halts the route: the target completed another transfer under this number than the source has recorded (its digest). */
  contradiction(completed: Completion, recorded: string | undefined): RelayerError
}

/** A transfer that the target shows as completed. */
export interface Completion {
  readonly number: string
  /** Of the transfer that was completed. */
  readonly digest: string
  readonly height: number
}

/** A Wormhole emitter: its guardians sign what it publishes, and some server keeps it. */
export interface SignedSource extends SourceBase {
  readonly kind: 'signed'
  /** Wormhole's number of the source chain. */
  readonly emitterChain: number
  /** 64 lower-case hex digits. */
  readonly emitter: string
  /**
   * The config has no node of the source: nothing counts its messages (`highest` finds none), and no block is read (`published` has none). Whether a message that
   * goes to none of our chains is signed, these chains say, in this order, as the first that can: their core contracts know the same guardians. Absent: the source says.
   */
  readonly withoutNode?: { readonly judges: readonly ChainName[] }
  /** From the config; absent: the stream agent decides. Numbers from `first` on are in blocks from `block` on; `first` of `config` is the lowest there can be. */
  readonly begins: { readonly first?: string; readonly block?: number }
  /**
   * Numbers in the source's blocks, in order, so that a gap gets its name. Blocks of numbers that are not `wanted` are not read. Without `at` one node's word, for which
   * no number is given up. Throws NODE_REFUSED (split the range), NODE_UNAVAILABLE (also if a fork moved the blocks meanwhile); at `agreed` and `majority` (more than half of the nodes; one is asked once) NODES_DISAGREE.
   */
  published(range: BlockRange, wanted?: (number: string) => boolean, at?: 'agreed' | 'majority'): Promise<readonly Published[]>
}

/** A transfer with the final block that it started in. */
export interface PlacedTransfer {
  readonly transfer: Transfer
  readonly height: number
}

/** A message that its core contract has logged. */
export interface Published {
  readonly number: string
  readonly height: number
  /** What it is; absent: it was not looked at. `none`: no transfer that we deliver (another payload, no route). */
  readonly content?: { readonly kind: 'transfer'; readonly transfer: Omit<Transfer, 'message'> } | { readonly kind: 'none' }
}
