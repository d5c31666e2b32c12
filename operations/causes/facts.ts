import type { RelayerError } from '../../domain/catalogue/errors.ts'
import type { LaneId } from '../../domain/lane/lane-id.ts'
import type { LaneState } from '../../domain/lane/lane.ts'
import type { NotifierState } from '../../domain/notification/notifier.ts'
import type { NodeUse, Settings } from '../../domain/settings/settings.ts'
import type { StreamState } from '../../domain/stream/stream.ts'
import type { ChainName } from '../../domain/transfer/transfer.ts'
import type { OpenTransfer } from '../../temporal/client/transfers/open-transfers.ts'
import type { QueueState } from '../../temporal/client/visibility/task-queues.ts'

/** One source of facts that was asked: its answer, or why there is none. `asOf`: when, ms since the epoch. */
export type Read<Value> = { readonly asOf: number } & ({ readonly value: Value } | { readonly error: RelayerError })

/** A node as this process reached it just now. */
export interface NodeFacts {
  readonly node: string
  readonly use: NodeUse
  /** By an operator, while the workers run. It counts in no majority. */
  readonly isAdded: boolean
  readonly isDisabled: boolean
  /** Absent: it was not asked, since it is disabled. Without a value: it only takes transactions. */
  readonly head?: Read<NodeHead | undefined>
}

export interface NodeHead {
  readonly height: number
  /** Of that block, ms since the epoch. */
  readonly at: number
  readonly finalized: number
  /** wei, decimal. */
  readonly baseFee?: string
  /** How long its answers took, ms. */
  readonly latencyMs?: number
}

/** A chain as its nodes showed it just now. */
export interface ChainFacts {
  readonly chain: ChainName
  readonly blockTimeMs: number
  readonly nodes: readonly NodeFacts[]
  /** A final block that is older than the head by more than this tells that finality stands, ms; absent: as most chains. */
  readonly finalityStalledMs?: number
  /** When the highest final block was made, ms since the epoch; absent: finality is near by the config, or was not read. */
  readonly finalAt?: number
  /** By address, wei, decimal; absent: not read. */
  readonly balances: ReadonlyMap<string, string>
}

/** A lane of the config. */
export interface LaneFacts {
  readonly lane: LaneId
  readonly chain: ChainName
  /** Undefined: it has no ledger yet. */
  readonly ledger: Read<LaneState | undefined>
  /** Of the key. */
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
  /** Of the steps that tell all receivers. */
  readonly queue: Read<QueueState>
  /** Notifications that wait, of one that is told nothing now with those that only Temporal has; absent: not known. */
  readonly waiting?: number
  /** Of one that is told nothing now: the step that is under way, how often it was tried, and what it failed with the last time. */
  readonly step?: { readonly tries: number; readonly failure?: string }
}

/** A process of the queue answers, or not. `asked`: how many of its workflows were asked; 0: only its pollers tell. */
export interface ServedFacts {
  readonly queue: Read<QueueState>
  readonly asked: number
  readonly answered: number
}

/** A transfer, with what is known beyond its list. */
export interface TransferFacts extends OpenTransfer {
  /** When it came into its state, ms since the epoch; absent: not asked. */
  readonly inStateSince?: number
  /** What its step failed with the last time. */
  readonly failure?: string
}

export interface FailingWorkflow {
  readonly workflow: string
  readonly tries: number
  /** ms since the epoch. */
  readonly since?: number
}

export interface SpyFacts {
  readonly address: string
  /** Whose messages it tells. */
  readonly bridge: string
  readonly asOf: number
  /** Why it does not answer, or is not read. */
  readonly problem?: string
  /** Messages that were heard and cannot be submitted, of this process. */
  readonly kept: number
  /** Those of them whose guardian set is not known yet. */
  readonly unknownSets: number
}

/** All that is known, as it was read. What depends on a Temporal that does not answer is empty. */
export interface Facts {
  /** ms since the epoch. */
  readonly at: number
  /** Throws nothing: away, with the reason, or there. */
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
  /** What else was asked and did not answer. */
  readonly unread: readonly { readonly what: string; readonly asOf: number; readonly error: RelayerError }[]
}
