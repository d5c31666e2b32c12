import type { RelayerError } from '../../domain/catalogue/errors.ts'
import type { LaneId } from '../../domain/lane/lane-id.ts'
import type { LaneState } from '../../domain/lane/lane.ts'
import type { NotifierState } from '../../domain/notification/notifier.ts'
import type { NodeUse, Settings } from '../../domain/settings/settings.ts'
import type { StreamState } from '../../domain/stream/stream.ts'
import type { ChainName } from '../../domain/transfer/transfer.ts'
import type { OpenTransfer } from '../../temporal/client/transfers/open-transfers.ts'
import type { QueueState } from '../../temporal/client/visibility/task-queues.ts'

// All times are ms since the epoch.

/** The answer of one source of facts, or why there is none. */
export type Read<Value> = { readonly asOf: number } & ({ readonly value: Value } | { readonly error: RelayerError })

/** A node as this process reached it just now. */
export interface NodeFacts {
  readonly node: string
  readonly use: NodeUse
  /** Added by an operator while the workers run. It counts in no majority. */
  readonly added: boolean
  readonly isDisabled: boolean
  /** Absent: the node is disabled and was not asked. Without a value: the node only takes transactions. */
  readonly head?: Read<NodeHead | undefined>
}

export interface NodeHead {
  readonly height: number
  /** Time of that block. */
  readonly at: number
  readonly finalized: number
  /** wei, decimal. */
  readonly baseFee?: string
}

/** A chain as its nodes showed it just now. */
export interface ChainFacts {
  readonly chain: ChainName
  readonly blockTimeMs: number
  readonly nodes: readonly NodeFacts[]
  /** Finality has stalled if the newest final block lags the head by more. Default: the usual limit. */
  readonly finalityStalledMs?: number
  /** Time of the highest final block. Absent: finality is by depth or instant, or the block was not read. */
  readonly finalAt?: number
  /** By address, wei, decimal. */
  readonly balances: ReadonlyMap<string, string>
}

/** A lane of the config. */
export interface LaneFacts {
  readonly lane: LaneId
  readonly chain: ChainName
  /** Undefined: it has no ledger yet. */
  readonly ledger: Read<LaneState | undefined>
  /** The queue of the key. */
  readonly queue: Read<QueueState>
}

export interface StreamFacts {
  readonly stream: string
  readonly state: Read<StreamState>
}

/** A receiver of notifications of the config. */
export interface ReceiverFacts {
  readonly receiver: string
  /** Undefined: it has not begun. */
  readonly notifier: Read<NotifierState | undefined>
  /** The queue of the steps that notify all receivers. */
  readonly queue: Read<QueueState>
  /** Notifications that wait. For a receiver that is not notified now, with those that only Temporal has. */
  readonly waiting?: number
  /** For a receiver that is not notified now: the step under way, its tries, and its last failure. */
  readonly step?: { readonly tries: number; readonly failure?: string }
}

/** Whether workers serve a queue: of `asked` workflows, `answered` did. 0 asked: only the pollers show it. */
export interface ServedFacts {
  readonly queue: Read<QueueState>
  readonly asked: number
  readonly answered: number
}

/** A transfer of a list, with more facts if it was asked. */
export interface TransferFacts extends OpenTransfer {
  /** When it came into its state. Absent: not asked. */
  readonly inStateSince?: number
  /** The last failure of its step. */
  readonly failure?: string
}

export interface FailingWorkflow {
  readonly workflow: string
  readonly tries: number
  readonly since?: number
}

export interface SpyFacts {
  readonly address: string
  readonly bridge: string
  readonly asOf: number
  /** Why it does not answer, or is not read. */
  readonly problem?: string
  /** Messages that this process received and cannot submit. */
  readonly kept: number
  /** Those of them whose guardian set is not known yet. */
  readonly unknownSets: number
}

/** All facts as they were read. If Temporal does not answer, everything that it would say is empty. */
export interface Facts {
  readonly at: number
  /** Whether Temporal is reachable and, if not, why. */
  readonly temporal: Read<true>
  readonly settings: Read<Settings>
  readonly ledger: ServedFacts
  /** By chain. */
  readonly chainWorkers: ReadonlyMap<ChainName, ServedFacts>
  readonly chains: readonly ChainFacts[]
  readonly lanes: readonly LaneFacts[]
  readonly streams: readonly StreamFacts[]
  readonly receivers: readonly ReceiverFacts[]
  readonly spies: readonly SpyFacts[]
  readonly transfers: readonly TransferFacts[]
  readonly declined: readonly TransferFacts[]
  readonly failing: readonly FailingWorkflow[]
  /** Other parts that did not answer. */
  readonly unread: readonly { readonly what: string; readonly asOf: number; readonly error: RelayerError }[]
}
