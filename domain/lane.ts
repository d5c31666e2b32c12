import type { Fees } from './fees.ts'
import type { LaneId } from './lane-id.ts'

/** What a lane is told at its start and may be told again at any time. */
export interface LaneConfig {
  readonly lane: LaneId
  /** Most nonces in flight (granted, not in a block). */
  readonly window: number
  /** The lowest unmined nonce that nobody has driven for so many blocks is filled with a no-op. */
  readonly fillAfterBlocks: number
}

/** One transaction signed, or about to be, for a nonce. Recorded before its bytes exist, so that they can always be made again. */
export interface Attempt extends Fees {
  readonly kind: 'call' | 'noop'
  /** Gas units, decimal. */
  readonly gasLimit: string
}

/** Whose nonce it is. Absent on an entry: the lane's own. */
export interface Owner {
  readonly workflowId: string
  readonly intentId: string
  readonly callHash: string
  /** wei, decimal; absent: 0. */
  readonly value?: string
}

/** Why the lane wants a nonce mined without its call. */
export type FillReason = 'cancelled' | 'abandoned' | 'orphaned' | 'released' | 'inherited' | 'operator' | 'refused'

/** A nonce that was handed out and is not final yet. */
export interface Entry {
  readonly nonce: number
  readonly owner?: Owner
  /** The request that was answered with this grant. Another request for the same intent means that its bytes may have been sent. */
  readonly grantedTo: string
  readonly maybeSent: boolean
  /** What an abandoned call may still move, wei, decimal; the owner's value as long as there is one. */
  readonly value?: string
  /** Height at which the nonce was given or fell out of its block, and height at which a process last said that it drives it. */
  readonly sinceBlock: number
  readonly claimedBlock: number
  readonly fill?: FillReason
  readonly attempts: readonly Attempt[]
}

/** The account as the chain last told it. */
export interface Observed {
  readonly latest: number
  readonly finalized: number
  readonly height: number
  readonly hash: string
  /** wei, decimal. */
  readonly balance: string
}

/** The nonce ledger: plain JSON, under 64 KiB, carried from run to run. */
export interface LaneState {
  readonly config: LaneConfig
  /** False until the account was read; nothing is granted before. */
  readonly synced: boolean
  /** The next nonce to hand out. Never lowered below a nonce that may have been broadcast. */
  readonly next: number
  readonly observed?: Observed
  /** By nonce, decimal. */
  readonly entries: Readonly<Record<string, Entry>>
  readonly paused?: { readonly reason: string }
  /** Intents that were withdrawn, by the last 32 characters of their ids: a late ask for one is refused. The newest 256. */
  readonly tombstones: readonly string[]
  readonly counts: LaneCounts
}

export interface LaneCounts {
  readonly granted: number
  readonly attempts: number
  readonly filled: number
  readonly released: number
  /** Nonces that the account used without us. */
  readonly foreign: number
  /** Owned entries that fell out of their block and were not driven by who saw it. */
  readonly rolledBack: number
}

/** What a process of the lane saw, once per block when it matters. */
export interface Observation extends Observed {
  /** Nonces that this process drives now. */
  readonly claims: readonly number[]
  /** Height since which this process watches without a break: blocks before it say nothing about claims. */
  readonly since: number
  /** Transaction count with the pool, by a quorum of nodes: given when the ledger is not synced. */
  readonly pending?: number
}

export type LaneRequest =
  /** A nonce for an intent. Idempotent per intent. `onlyExisting`: answer with what the intent has, give nothing new. */
  | {
      readonly kind: 'grant'
      readonly id: string
      readonly owner: Owner
      readonly attempt: Attempt
      readonly onlyExisting?: boolean
    }
  /** One more attempt, the `index`-th; if that exists already, the answer has it and nothing is added. */
  | { readonly kind: 'attempt'; readonly id: string; readonly nonce: number; readonly index: number; readonly attempt: Attempt }
  /** The try that was granted gives its nonce back: it has signed nothing. */
  | { readonly kind: 'release'; readonly id: string; readonly intentId: string; readonly grantedTo: string }
  | { readonly kind: 'withdraw'; readonly id: string; readonly intentId: string; readonly how: 'leave' | 'cancel' | 'abandon' }
  /** The lane is to mine this nonce with a no-op. */
  | { readonly kind: 'fill'; readonly id: string; readonly nonce: number; readonly reason: FillReason }
  | { readonly kind: 'pause'; readonly id: string; readonly reason: string }
  | { readonly kind: 'resume'; readonly id: string }
  | { readonly kind: 'setWindow'; readonly id: string; readonly window: number }
  | { readonly kind: 'resync'; readonly id: string }

/** Why no nonce was given. `none`: asked with `onlyExisting`, and there is none. */
export type Refusal = 'window' | 'funds' | 'paused' | 'unsynced' | 'withdrawn' | 'conflict' | 'none'

export type LaneAnswer =
  | { readonly kind: 'granted'; readonly entry: Entry }
  | { readonly kind: 'refused'; readonly why: Refusal; readonly detail: string }
  | { readonly kind: 'attempts'; readonly attempts: readonly Attempt[] }
  | { readonly kind: 'free' }
  | { readonly kind: 'held'; readonly nonce: number }
  | { readonly kind: 'done' }

export interface ApplyRequest {
  readonly observe?: Observation
  readonly requests: readonly LaneRequest[]
}

/** A nonce that some process of the lane has to mine with a no-op. Repeated until it is in a block. */
export interface FillOrder {
  readonly nonce: number
  readonly reason: FillReason
  readonly attempts: readonly Attempt[]
}

export interface ApplyResponse {
  /** One per request, in order. */
  readonly answers: readonly LaneAnswer[]
  readonly orders: readonly FillOrder[]
  readonly view: LaneView
}

/** What a process needs to know to ask wisely. */
export interface LaneView {
  readonly synced: boolean
  readonly next: number
  readonly latest: number
  readonly finalized: number
  readonly window: number
  /** Unmined nonces. */
  readonly inFlight: number
  readonly paused?: { readonly reason: string }
}

/** To be told to an owner: its nonce is no longer in a block, and no process drives it. */
export interface RolledBack {
  readonly workflowId: string
  readonly intentId: string
  readonly nonce: number
}

export function newLane(config: LaneConfig): LaneState {
  return {
    config,
    synced: false,
    next: 0,
    entries: {},
    tombstones: [],
    counts: { granted: 0, attempts: 0, filled: 0, released: 0, foreign: 0, rolledBack: 0 },
  }
}

/** How a lane stands towards transfers that hold no nonce of it (`open`) and those that do. */
export interface LaneStanding {
  readonly lane: LaneId
  /** True if it takes new work. */
  readonly open: boolean
  /** Why not. `unserved`: no worker polls its queue, and nothing of it was observed lately. */
  readonly why?: 'paused' | 'draining' | 'forbidden' | 'funds' | 'unserved'
  readonly detail?: string
}
