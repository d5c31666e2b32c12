import type { RelayerError } from '../domain/errors.ts'
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
  /**
   * The highest number that the source has given out, at its finalized state, on the word of more than half of its nodes; undefined: none yet.
   * @param known one that was known to exist: the look begins there; the answer is below it if it is gone
   */
  highest(known?: string): Promise<string | undefined>
  /**
   * Which of them the target's finalized state shows, by their ids, on the word of more than half of its nodes: what is delivered is never started. In
   * batches, in the same order; false where the nodes disagree, and where this process is not connected to the target. Throws what contradicts itself
   * (`haltRoute`), what reads throw.
   */
  delivered(transfers: readonly Omit<Transfer, 'message'>[]): Promise<readonly boolean[]>
}

/** A direction of a native bridge: blocks and a table tell its transfers, and blocks of the target their completions. */
export interface ScannedSource extends SourceBase {
  readonly kind: 'scanned'
  readonly targetChain: ChainName
  /**
   * The transfers that started in these blocks, in order. Throws NODE_REFUSED (a range that is too long is for the caller to split; logs that were not asked for),
   * NODE_UNAVAILABLE; what contradicts itself (`haltRoute`); at `agreed` NODES_DISAGREE, also where nodes refuse the range.
   * @param at absent: one node's word, which halts no route
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
   * Where the config says that it begins; the `first` of `config` is only the lowest number there can be. Absent: the stream agent
   * decides. `block` is where reads of `published` end: no number from `first` on is below it.
   */
  readonly begins: { readonly first?: string; readonly block?: number }
  /**
   * What the source's blocks say of numbers, in order, so that a gap gets its name. Throws NODE_REFUSED (split the range), NODE_UNAVAILABLE (also if
   * a fork moved the blocks meanwhile); at `agreed` NODES_DISAGREE.
   * @param wanted of the others only number and height are returned: their blocks are not read
   * @param at absent: one node's word, for which no number is given up
   */
  published(range: BlockRange, wanted?: (number: string) => boolean, at?: 'agreed'): Promise<readonly Published[]>
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
