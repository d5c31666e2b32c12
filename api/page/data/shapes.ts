import type { Cause } from '../../../domain/catalogue/cause.ts'

/** Answers of the API as the page shows them (docs/start/page.md). Any field may be absent in another version. */

export type { Cause }

export interface Causes {
  readonly asOf: string
  readonly causes: readonly Cause[]
}

export interface TransferRow {
  readonly id: string
  readonly state?: string
  readonly execution: string
  readonly bridge?: string
  readonly sourceChain?: string
  readonly targetChain?: string
  readonly lane?: string
  readonly txHash?: string
  readonly code?: string
  readonly reason?: string
  readonly startedAt: string
  readonly closedAt?: string
}

export interface TransferPage {
  readonly transfers: readonly TransferRow[]
  /** Absent: these are all. */
  readonly next?: string
}

export interface BulkAnswer {
  readonly matched: number
  /** More transfers match than were requested. */
  readonly more: boolean
  /** Absent in a dry run. */
  readonly results?: readonly { readonly id: string; readonly error?: { readonly code: string } }[]
}

export interface LaneSpending {
  readonly lanes: readonly {
    readonly lane: string
    /** wei. Empty: there is no limit. */
    readonly spending: readonly { readonly window: string; readonly spent: string; readonly limit: string }[]
  }[]
}

export interface LaneRow {
  readonly lane: string
  readonly chain?: string
  readonly status: string
  readonly next?: number
  readonly latest?: number
  readonly finalized?: number
  readonly inFlight?: number
  readonly window?: number
  /** wei. */
  readonly balance?: string
  /** ISO 8601. */
  readonly balanceAt?: string
  readonly reason?: string
  readonly by?: string
  /** ISO 8601 or ms since the epoch. */
  readonly observedAt?: string | number
}

export interface Lanes {
  readonly asOf?: string
  readonly lanes: readonly LaneRow[]
}

export interface StreamRow {
  readonly stream: string
  readonly workflowId?: string
  readonly problem?: string
  readonly cursor?: number
  readonly lag?: number
  readonly next?: string
  readonly completedNumber?: string
  readonly open?: number
  readonly parked?: number
  readonly full?: boolean
  readonly paused?: { readonly by: string; readonly reason: string }
  readonly gaps?: Readonly<Record<string, string>>
  readonly oldestGapAt?: number
  readonly blockedBy?: { readonly number: string; readonly why: string; readonly code?: string }
  readonly backfill?: { readonly left: number }
  readonly alarms?: readonly string[]
}

export interface Streams {
  readonly asOf?: string
  readonly streams: readonly StreamRow[]
}

export interface NodeRow {
  readonly chain: string
  readonly name: string
  readonly origin?: string
  readonly use?: string
  readonly state: string
  readonly lag?: number
  readonly latencyMs?: number
  readonly failures?: number
  /** ISO 8601. */
  readonly asOf?: string
  readonly added?: boolean
}

export interface Nodes {
  readonly asOf?: string
  readonly nodes: readonly NodeRow[]
}

export interface TransactionRow {
  readonly lane: string
  readonly nonce: number
  readonly round: number
  readonly kind: string
  readonly hash?: string
  /** wei per unit of gas, as `tip`. */
  readonly maxFee: string
  readonly tip: string
  readonly fate: string
  /** wei. */
  readonly gasPaid?: string
}

/** `partial`: only the fields of the server's list are known. */
export interface TransferReport extends Partial<TransferRow> {
  readonly id: string
  readonly state?: string
  readonly execution: string
  readonly partial?: string
  readonly mip61?: string
  readonly transfer?: {
    readonly bridge: string
    readonly sourceChain: string
    readonly targetChain: string
    readonly emitter: string
    readonly sequence: string
    readonly digest: string
  }
  readonly nonce?: number
  readonly batch?: string
  readonly rounds?: number
  readonly remedy?: string
  readonly delivery?: {
    readonly by?: string
    readonly ours: boolean
    readonly txHash?: string
    readonly blockHeight?: number
    readonly gasPaid?: string
  }
  readonly transactions?: readonly TransactionRow[]
  readonly timeline?: readonly { readonly at: number; readonly state: string; readonly note: string }[]
  readonly orders?: readonly {
    readonly kind: string
    readonly by: string
    readonly reason: string
    readonly at: number
    readonly times?: number
  }[]
}
