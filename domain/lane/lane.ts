import type { Fees } from '../fees/fees.ts'
import type { LaneId } from './lane-id.ts'

/** What a lane is told at its start and may be told again at any time. */
export interface LaneConfig {
  readonly lane: LaneId
  /** Most nonces in flight (granted, not in a block). */
  readonly window: number
  /** The lowest unmined nonce that nobody has driven for so many blocks is filled with a no-op. */
  readonly fillAfterBlocks: number
  /** Below this balance nothing is granted, wei, decimal. Absent: only what is in flight must be payable. */
  readonly minimumBalance?: string
}

/** One transaction signed, or about to be, for a nonce. Recorded before its bytes exist, so that they can always be made again. */
export interface Attempt extends Fees {
  readonly kind: 'call' | 'noop'
  /** Gas units, decimal. */
  readonly gasLimit: string
  /** What the chain charges beside the gas for the data of the call (L2s), wei, decimal, estimated; absent: 0. Counts in the worst cost. */
  readonly dataFee?: string
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
  /** What an abandoned call may still move, wei, decimal; the owner's value as long as there is one. And which call it is. */
  readonly value?: string
  readonly callHash?: string
  /** Height at which the nonce was given or fell out of its block, and height at which a process last said that it drives it. */
  readonly sinceBlock: number
  readonly claimedBlock: number
  readonly fill?: FillReason
  /** An operator wants one more attempt than `after`, of at least these fees. */
  readonly raise?: Raise
  readonly attempts: readonly Attempt[]
}

/** Fees an operator asks for, wei, decimal; what is absent is left to the market. `after`: how many attempts there were. */
export interface Raise {
  readonly after: number
  readonly maxFee?: string
  readonly tip?: string
}

/** A block that is final: what a replaced chain is known by. */
export interface FinalBlock {
  readonly height: number
  readonly hash: string
}

/** The account as the chain last told it. */
export interface Observed {
  readonly latest: number
  readonly finalized: number
  readonly height: number
  readonly hash: string
  /** wei, decimal. */
  readonly balance: string
  /** The highest final block that was told with its hash. */
  readonly final?: FinalBlock
}

/** What the ledger keeps of it. */
export interface Remembered extends Observed {
  /** When it was told, ms since the epoch by the ledger's clock; absent in states of older versions. */
  readonly at?: number
  /** When the height was last told or passed, ms by the ledger's clock: who tells less is behind, for a while. */
  readonly leadAt?: number
  /** Height at which `finalized` was told first; absent in states of older versions. */
  readonly finalizedAt?: number
  /** Height since which the ledger was told without a long gap: what nobody claimed in a gap was not idle. */
  readonly heardSince?: number
}

/** Why a lane takes no new work until an operator activates it: it drains, or its key must not be used any more. */
export interface Closing {
  readonly mode: 'draining' | 'forbidden'
  readonly reason: string
}

/** The account cannot pay. `cost`: of the cheapest grant that was refused for it, value not counted, wei, decimal. */
export interface Broke {
  readonly detail: string
  readonly cost: string
}

/** The nonce ledger: plain JSON, under 64 KiB, carried from run to run. */
export interface LaneState {
  readonly config: LaneConfig
  /** False until the account was read; nothing is granted before. */
  readonly synced: boolean
  /** The next nonce to hand out. Never lowered below a nonce that may have been broadcast. */
  readonly next: number
  readonly observed?: Remembered
  /** By nonce, decimal. */
  readonly entries: Readonly<Record<string, Entry>>
  readonly paused?: { readonly reason: string }
  readonly closing?: Closing
  readonly broke?: Broke
  /** The chain denies this block, which was final: nothing is granted or sent until an operator resets the lane. */
  readonly replaced?: FinalBlock
  /** Counts resets; absent: 0. What a process knows of an earlier era is void. */
  readonly era?: number
  /** The config as a process last told it; `config` may differ by what operators set. Absent: as `config`. */
  readonly configured?: LaneConfig
  /** Intents that were withdrawn, as hashes of their ids: a late ask for one is refused. The newest 1,024. */
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
  /** Transaction count with the pool, by a quorum of nodes: given when the ledger is not synced, and at the first look of a process. */
  readonly pending?: number
  /**
   * A reorganisation deeper than finality: the chain is final beyond all that the ledger was told, and more than half of the nodes have fewer
   * final nonces than it knows. `latest` and `finalized` are taken as they are; `next` is not lowered.
   */
  readonly undone?: boolean
}

export type LaneRequest =
  /**
   * A nonce for an intent. Idempotent per intent. `onlyExisting`: answer with what the intent has, give nothing new. `operatorTransaction`: an operator's own
   * intent, which a draining lane and one below its minimum balance still take (to be emptied, or to be closed).
   */
  | {
      readonly kind: 'grant'
      readonly id: string
      readonly owner: Owner
      readonly attempt: Attempt
      readonly onlyExisting?: boolean
      readonly operatorTransaction?: boolean
    }
  /** One more attempt, the `index`-th; if that exists already, the answer has it and nothing is added. */
  | { readonly kind: 'attempt'; readonly id: string; readonly nonce: number; readonly index: number; readonly attempt: Attempt }
  /** The try that was granted gives its nonce back: it has signed nothing. */
  | { readonly kind: 'release'; readonly id: string; readonly intentId: string; readonly grantedTo: string }
  /**
   * The intent is let go. `leave`: only if it holds no nonce. `cancel`: its nonce gets the lane's no-op. `abandon`: its unmined nonce becomes the
   * lane's orphan and the intent is free, if the lane is forbidden, or told of nothing any more (`unservedMs`).
   */
  | { readonly kind: 'withdraw'; readonly id: string; readonly intentId: string; readonly how: 'leave' | 'cancel' | 'abandon' }
  /** The lane is to mine this nonce with a no-op. By an `operator`: only a nonce that is nobody's, see `cancelNonce`. */
  | { readonly kind: 'fill'; readonly id: string; readonly nonce: number; readonly reason: FillReason }
  | LaneOrder

/** What operators order. */
export type LaneOrder =
  /** The call of this nonce's owner is replaced by a no-op; the owner plans again when that is mined. */
  | { readonly kind: 'cancelNonce'; readonly id: string; readonly nonce: number }
  /** One more attempt for this nonce now, of at least these fees. */
  | { readonly kind: 'replace'; readonly id: string; readonly nonce: number; readonly maxFee?: string; readonly tip?: string }
  | { readonly kind: 'pause'; readonly id: string; readonly reason: string }
  | { readonly kind: 'resume'; readonly id: string }
  /** Nothing new; done when nothing is in flight. */
  | { readonly kind: 'drain'; readonly id: string; readonly reason: string }
  /** As drained; and those whose nonce is not mined may abandon it and go elsewhere. */
  | { readonly kind: 'forbid'; readonly id: string; readonly reason: string }
  /** Ends pause, drain and forbid. */
  | { readonly kind: 'activate'; readonly id: string }
  | { readonly kind: 'setWindow'; readonly id: string; readonly window: number }
  | { readonly kind: 'resync'; readonly id: string }
  /** What a process's config says now. What an operator set stays until the config's own value changes. */
  | { readonly kind: 'configure'; readonly id: string; readonly config: LaneConfig }
  /** The chain denies this block, which the ledger knows as final. */
  | { readonly kind: 'replaced'; readonly id: string; readonly block: FinalBlock }
  /** The chain was replaced: forget every nonce and read the account anew. Refused while the chain still shows what the ledger saw. */
  | { readonly kind: 'reset'; readonly id: string }

/** Why no nonce was given. `none`: asked with `onlyExisting`, and there is none. */
export type Refusal = 'window' | 'funds' | 'paused' | 'draining' | 'forbidden' | 'replaced' | 'unsynced' | 'withdrawn' | 'conflict' | 'none'

export type LaneAnswer =
  | { readonly kind: 'granted'; readonly entry: Entry }
  /** `later`: the intent of the same owner, of a later round, that holds a nonce; absent: it is refused for something else. */
  | { readonly kind: 'refused'; readonly why: Refusal; readonly detail: string; readonly later?: string }
  | { readonly kind: 'attempts'; readonly attempts: readonly Attempt[] }
  | { readonly kind: 'free' }
  | { readonly kind: 'held'; readonly nonce: number }
  | { readonly kind: 'done' }

/** The newest that a process was told of the ledger: what shows an older one (reset, restored) what it has forgotten. */
export interface KnownLedger {
  readonly era: number
  /** Grants so far: never fewer, unlike `next`, which falls when nonces are given back. */
  readonly granted: number
  readonly next: number
  readonly finalized: number
}

export interface ApplyRequest {
  readonly observe?: Observation
  /** Absent: nothing yet. */
  readonly known?: KnownLedger
  /** The ledger's run as its last answer named it; empty: none heard of. Absent in requests of older versions. */
  readonly run?: string
  readonly requests: readonly LaneRequest[]
}

/** A nonce that some process of the lane has to mine with a no-op. Repeated until it is in a block. */
export interface FillOrder {
  readonly nonce: number
  readonly reason: FillReason
  readonly attempts: readonly Attempt[]
  /** Of the call that it replaces: if that wins after all, nobody else used the key. Absent: unknown. */
  readonly callHash?: string
}

/** An attempt that an operator wants; repeated until it is recorded. */
export interface RaiseOrder extends Raise {
  readonly nonce: number
}

export interface ApplyResponse {
  /** One per request, in order. */
  readonly answers: readonly LaneAnswer[]
  readonly orders: readonly FillOrder[]
  /** Absent: none. */
  readonly raises?: readonly RaiseOrder[]
  readonly view: LaneView
}

/** What a process needs to know to ask wisely. */
export interface LaneView {
  readonly synced: boolean
  readonly next: number
  readonly latest: number
  readonly finalized: number
  /** Of the newest observation; absent before one, and in answers of older versions. */
  readonly height?: number
  readonly window: number
  /** Unmined nonces. */
  readonly inFlight: number
  /** Why nothing is granted, whatever the window. */
  readonly closed?: { readonly why: ClosedFor; readonly detail: string }
  /** Only what operators paused; older processes know no other closing. */
  readonly paused?: { readonly reason: string }
  /** Final block that the ledger knows. */
  readonly final?: FinalBlock
  /** Nonces that the account used without us. */
  readonly foreign?: number
  /** Counts resets. */
  readonly era?: number
  /** Counts grants; absent in answers of older versions. */
  readonly granted?: number
  /** The run that answers: what was asked of another, and is answered after a reset, gets no nonce. Absent in answers of older versions. */
  readonly run?: string
  /** A block at or above this that is final, and has fewer nonces of the account, is of a chain on which what was final is undone. */
  readonly finalizedAt?: number
}

/** What closes a lane until somebody acts, on its funds or on itself. */
export type ClosedFor = 'paused' | 'draining' | 'forbidden' | 'funds' | 'replaced'

/** To be told to an owner: its nonce is no longer in a block, and no process drives it. */
export interface RolledBack {
  readonly workflowId: string
  readonly intentId: string
  readonly nonce: number
}

export function newLane(config: LaneConfig): LaneState {
  return {
    config,
    configured: config,
    synced: false,
    next: 0,
    entries: {},
    tombstones: [],
    counts: { granted: 0, attempts: 0, filled: 0, released: 0, foreign: 0, rolledBack: 0 },
  }
}

/** How a lane stands towards transfers that hold no nonce of it (`open`) and those that do. */
export interface LaneStatus {
  readonly lane: LaneId
  /** True if it takes new work. */
  readonly open: boolean
  /** Why not. `unserved`: no worker polls its queue, and nothing of it was observed lately. */
  readonly why?: ClosedFor | 'unserved'
  readonly detail?: string
}
