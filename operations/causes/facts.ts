import { medianOf, votersOf } from '../../chains/heads.ts'
import type { RelayerError } from '../../domain/catalogue/errors.ts'
import type { FeeLimit } from '../../domain/fees/fees.ts'
import type { LaneId, LaneState } from '../../domain/lane/lane.ts'
import type { TokenReading, WatchedToken } from '../../domain/lane/tokens.ts'
import type { NotifierState } from '../../domain/notification/notifier.ts'
import type { NodeUse, Settings } from '../../domain/settings/settings.ts'
import type { StreamState } from '../../domain/stream/stream.ts'
import type { ChainName } from '../../domain/transfer/transfer.ts'
import type { OpenTransfer } from '../../temporal/client/transfers/open-transfers.ts'
import type { VersionStatus } from '../../temporal/client/connection/deployments.ts'
import type { QueueState } from '../../temporal/client/visibility/runs.ts'

// All times in this file are ms since the epoch.

export type Read<Value> = { readonly asOf: number } & ({ readonly value: Value } | { readonly error: RelayerError })

export interface NodeFacts {
  readonly node: string
  readonly use: NodeUse
  /** True for a node that an operator added. Such a node does not count in majorities. */
  readonly added: boolean
  readonly isDisabled: boolean
  /** Absent if the node is disabled. The value is undefined if the node only takes transactions. */
  readonly head?: Read<NodeHead | undefined>
  /** Whether a disabled node answers again. Absent if the node is not disabled. */
  readonly isBack?: boolean
}

export interface NodeHead {
  readonly height: number
  readonly at: number
  readonly finalized: number
  /** Absent if finality is by depth or instant, or if the block was not read. */
  readonly finalAt?: number
  /** Decimal wei. */
  readonly baseFee?: string
}

export interface ChainFacts {
  readonly chain: ChainName
  readonly blockTimeMs: number
  readonly nodes: readonly NodeFacts[]
  readonly finalityStalledMs?: number
  /** Decimal wei by address, and decimal smallest units of watched tokens by `tokenKey`. */
  readonly balances: ReadonlyMap<string, string>
  readonly watchTokens?: readonly WatchedToken[] | undefined
}

export interface LaneFacts {
  readonly lane: LaneId
  readonly chain: ChainName
  readonly ledger: Read<LaneState | undefined>
  readonly queue: Read<QueueState>
}

export interface StreamFacts {
  readonly stream: string
  readonly state: Read<StreamState>
}

export interface ReceiverFacts {
  readonly receiver: string
  readonly notifier: Read<NotifierState | undefined>
  readonly queue: Read<QueueState>
  /** If sending has stopped, also counts closed transfers that the notifier has not read yet. */
  readonly waiting?: number
  readonly step?: { readonly tries: number; readonly failure?: string }
}

export interface ServedFacts {
  readonly queue: Read<QueueState>
  readonly asked: number
  readonly answered: number
}

export interface TransferFacts extends OpenTransfer {
  readonly inStateSince?: number
  readonly failure?: string
  readonly feeLimit?: FeeLimit
  /** The only lane that may deliver the transfer, if its submission chose one. */
  readonly chosenLane?: LaneId
  readonly tries?: number
  /** True if the workflow runs, was asked for its state, and did not answer. */
  readonly isSilent?: boolean
  /** Build id of the only processes that can run the workflow. */
  readonly version?: string
}

export interface FailingWorkflow {
  readonly workflow: string
  readonly tries: number
  readonly since?: number
}

export interface VersionFacts {
  readonly buildId: string
  readonly status: VersionStatus
  readonly current: string | undefined
}

export interface SpyFacts {
  readonly address: string
  readonly bridge: string
  readonly asOf: number
  readonly problem?: string
  readonly kept: number
  readonly unknownSets: number
}

/** Missing prices of coins on the Executor's chains, and the state of the service that signs quotes. */
export interface QuoteFacts {
  readonly asOf: number
  /** Why the key's signing service does not answer. Absent if the service answers, or the key is local. */
  readonly offline?: string | undefined
  readonly missing: readonly { readonly name: ChainName; readonly why: string }[]
}

export const tokenKey = (address: string, token: string) => `${address}/${token}`

/** Leaves out tokens whose balance could not be read. */
export function tokensOf(chain: Pick<ChainFacts, 'balances' | 'watchTokens'> | undefined, address: string): TokenReading[] {
  return (chain?.watchTokens ?? []).flatMap((one) => {
    const balance = chain?.balances.get(tokenKey(address, one.token))
    return balance === undefined ? [] : [{ ...one, balance }]
  })
}

/** If Temporal does not answer, all facts that come from it are empty. */
export interface Facts {
  readonly at: number
  readonly temporal: Read<true>
  readonly settings: Read<Settings>
  readonly ledger: ServedFacts
  readonly chainWorkers: ReadonlyMap<ChainName, ServedFacts>
  readonly chains: readonly ChainFacts[]
  readonly lanes: readonly LaneFacts[]
  readonly streams: readonly StreamFacts[]
  readonly receivers: readonly ReceiverFacts[]
  readonly spies: readonly SpyFacts[]
  /** Absent if this config gives no quotes. */
  readonly quotes?: QuoteFacts | undefined
  readonly transfers: readonly TransferFacts[]
  readonly declined: readonly TransferFacts[]
  readonly failing: readonly FailingWorkflow[]
  readonly version?: Read<VersionFacts> | undefined
  readonly unread: readonly { readonly what: string; readonly asOf: number; readonly error: Pick<RelayerError, 'title' | 'about'> }[]
}

export function valueOf<Value>(answer: Read<Value> | undefined): Value | undefined {
  return answer && 'value' in answer ? answer.value : undefined
}

export function errorOf(answer: Read<unknown> | undefined): RelayerError | undefined {
  return answer && 'error' in answer ? answer.error : undefined
}

export function headsOf(nodes: readonly NodeFacts[]): NodeHead[] {
  return nodes.flatMap(({ head }) => valueOf(head) ?? [])
}

/** One node may lie, so each figure is a median. A figure that at most half of the heads have is absent. */
export function majorityHead(chain: ChainFacts | undefined): NodeHead | undefined {
  const heads = headsOf(votersOf(chain?.nodes ?? []))
  const of = <T extends number | bigint>(figure: (head: NodeHead) => T | undefined) => {
    const shown = heads.flatMap((head) => figure(head) ?? [])
    return shown.length * 2 > heads.length ? medianOf(shown) : undefined
  }
  const [height, at, finalized] = [of((head) => head.height), of((head) => head.at), of((head) => head.finalized)]
  if (height === undefined || at === undefined || finalized === undefined) return undefined
  const finalAt = of((head) => head.finalAt)
  const baseFee = of((head) => (head.baseFee === undefined ? undefined : BigInt(head.baseFee)))
  return { height, at, finalized, ...(finalAt !== undefined && { finalAt }), ...(baseFee !== undefined && { baseFee: String(baseFee) }) }
}
