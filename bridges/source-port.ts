import type { RelayerError } from '../domain/catalogue/errors.ts'
import type { StreamConfig } from '../domain/stream/stream.ts'
import type { BridgeName, ChainName, Transfer } from '../domain/transfer/transfer.ts'

/** Heights, both included. */
export interface BlockRange {
  readonly fromBlock: number
  readonly toBlock: number
}

/**
 * A numbered source of transfers (domain/stream/stream.ts). `scanned`: blocks hold its messages. `signed`: guardians
 * sign and keep them.
 */
export type Source = ScannedSource | SignedSource

interface SourceBase {
  /** The initial state of the stream. */
  readonly config: StreamConfig
  readonly bridge: BridgeName
  readonly sourceChain: ChainName
  /**
   * The highest existing number at the finalized state, by quorum; undefined: none. The search starts at `known`, and
   * goes down if that is gone.
   */
  highest(known?: string): Promise<string | undefined>
  /**
   * Whether the target's finalized state shows each transfer as delivered, by quorum. False if the nodes disagree or
   * the target is not connected. Throws contradictions (`haltRoute`) and errors of reads.
   */
  delivered(transfers: readonly Omit<Transfer, 'message'>[]): Promise<readonly boolean[]>
}

/** A direction of a native bridge: transfers from blocks and a table, completions from blocks of the target. */
export interface ScannedSource extends SourceBase {
  readonly kind: 'scanned'
  readonly targetChain: ChainName
  /**
   * The transfers of these blocks. Without `at`, one node's word, which halts no route. Throws NODE_REFUSED (split the
   * range; stray logs), NODE_UNAVAILABLE, contradictions (`haltRoute`), and at `agreed` NODES_DISAGREE, also if nodes
   * refuse the range.
   */
  initiated(range: BlockRange, at?: 'agreed'): Promise<readonly PlacedTransfer[]>
  /**
   * The source's table entries of these numbers; undefined: none yet. At `finalized` one node is asked, and the others
   * for missing entries. Throws contradictions (`haltRoute`, by quorum), errors of reads, and at `agreed`
   * NODES_DISAGREE.
   */
  recorded(numbers: readonly string[], at: 'finalized' | 'agreed'): Promise<readonly (Transfer | undefined)[]>
  /** Completions by any account in these blocks of the target. Throws as `initiated`. */
  completed(range: BlockRange, at?: 'agreed'): Promise<readonly Completion[]>
  /** The error that halts the route: the target completed a transfer other than the recorded one (by digest). */
  contradiction(completed: Completion, recorded: string | undefined): RelayerError
}

export interface Completion {
  readonly number: string
  /** Digest of the completed transfer. */
  readonly digest: string
  readonly height: number
}

/** A Wormhole emitter, whose messages guardians sign and keep. */
export interface SignedSource extends SourceBase {
  readonly kind: 'signed'
  /** Wormhole chain id of the source. */
  readonly emitterChain: number
  /** 64 lower-case hex digits. */
  readonly emitter: string
  /**
   * Set if the config has no node of the source: then `highest` and `published` find nothing. `judges` are chains whose
   * core contracts can check signatures of messages to other chains, in order of preference.
   */
  readonly withoutNode?: { readonly judges: readonly ChainName[] }
  /** From the config. Absent: the stream agent decides. Numbers from `first` on are in blocks from `block` on. */
  readonly begins: { readonly first?: string; readonly block?: number }
  /**
   * The numbers in the source's blocks, which identify gaps. `content` is read for `wanted` numbers only. Without `at`,
   * one node's word, for which no number is given up. Throws NODE_REFUSED (split the range), NODE_UNAVAILABLE (also
   * after a fork), and at `agreed` and `majority` (a single node is asked once) NODES_DISAGREE.
   */
  published(range: BlockRange, wanted?: (number: string) => boolean, at?: 'agreed' | 'majority'): Promise<readonly Published[]>
}

/** A transfer with its final source block. */
export interface PlacedTransfer {
  readonly transfer: Transfer
  readonly height: number
}

/** A message that its core contract has logged. */
export interface Published {
  readonly number: string
  readonly height: number
  /** Absent: not read. `none`: no deliverable transfer (another payload, no route). */
  readonly content?: { readonly kind: 'transfer'; readonly transfer: Omit<Transfer, 'message'> } | { readonly kind: 'none' }
}
