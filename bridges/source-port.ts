import type { RelayerError } from '../domain/catalogue/errors.ts'
import type { StreamConfig } from '../domain/stream/stream.ts'
import type { BridgeName, ChainName, Transfer } from '../domain/transfer/transfer.ts'

/** Both included. */
export interface BlockRange {
  readonly fromBlock: number
  readonly toBlock: number
}

/** A numbered source (domain/stream/stream.ts). `scanned`: blocks hold messages. `signed`: guardians keep them. */
export type Source = ScannedSource | SignedSource

interface SourceBase {
  readonly config: StreamConfig
  readonly bridge: BridgeName
  readonly sourceChain: ChainName
  /** Highest number at the finalized state, by quorum; undefined: none. Searches from `known`, also down. */
  highest(known?: string): Promise<string | undefined>
  /** By quorum at the target's finalized state; false without agreement. Throws contradictions, errors of reads. */
  delivered(transfers: readonly Omit<Transfer, 'message'>[]): Promise<readonly boolean[]>
}

/** A direction of a native bridge: transfers from blocks and a table, completions from blocks of the target. */
export interface ScannedSource extends SourceBase {
  readonly kind: 'scanned'
  readonly targetChain: ChainName
  /**
   * Without `at`, one node's word, which halts no route. At `agreed` NODES_DISAGREE, also for a refused range.
   * Throws NODE_REFUSED (split the range; stray logs), NODE_UNAVAILABLE, contradictions (`haltRoute`).
   */
  initiated(range: BlockRange, at?: 'agreed'): Promise<readonly PlacedTransfer[]>
  /** Undefined: none yet. Throws contradictions (`haltRoute`, by quorum), errors of reads, and NODES_DISAGREE. */
  recorded(numbers: readonly string[], at: 'finalized' | 'agreed'): Promise<readonly (Transfer | undefined)[]>
  /** By any account on the target. Throws as `initiated`. */
  completed(range: BlockRange, at?: 'agreed'): Promise<readonly Completion[]>
  /** Halts the route: the target completed a transfer other than the recorded one (by digest). */
  contradiction(completed: Completion, recorded: string | undefined): RelayerError
}

export interface Completion {
  readonly number: string
  readonly digest: string
  readonly height: number
}

/** A Wormhole emitter, whose messages guardians sign and keep. */
export interface SignedSource extends SourceBase {
  readonly kind: 'signed'
  /** Wormhole chain id. */
  readonly emitterChain: number
  /** 64 lower-case hex digits. */
  readonly emitter: string
  /**
   * Set without a node of the source: then `highest` and `published` find nothing.
   * `judges`: chains whose core contracts can check signatures, in order of preference.
   */
  readonly withoutNode?: { readonly judges: readonly ChainName[] }
  /** From the config. Absent: the stream agent decides. Numbers from `first` are in blocks from `block`. */
  readonly begins: { readonly first?: string; readonly block?: number }
  /**
   * Numbers in the source's blocks; `content` for `wanted` ones only. Without `at`, no number is given up.
   * Throws NODE_REFUSED (split the range), NODE_UNAVAILABLE (also after a fork), and with `at` NODES_DISAGREE.
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
