import type {
  Attempt,
  Entry,
  FillReason,
  FinalBlock,
  ForgottenNonces,
  LaneConfig,
  Observed,
  Owner,
  PauseKind,
  PauseReason,
  Raise,
  Republish,
} from './lane.ts'
import type { Order } from '../order.ts'
import type { LaneId } from './lane-id.ts'

/** What a process of the lane saw, once per block when it matters. */
export interface Observation extends Observed {
  /** Nonces that this process drives now. */
  readonly claims: readonly number[]
  /** Height since which this process observes without a break: blocks before it say nothing about claims. */
  readonly since: number
  /** Transaction count with the pool, by a quorum of nodes: given when the ledger is not synced, and at the first look of a process. */
  readonly pending?: number
  /** A reorganisation deeper than finality, by most nodes: `latest` and `finalized` are taken as they are; `next` is not lowered. */
  readonly undone?: boolean
}

export type LaneRequest = { readonly id: string } & Ask

/** A request without its id. */
export type Ask =
  /** A nonce for an intent, the same at each request. A draining lane, and one below its minimum balance, still take `operatorTransaction`s. */
  | { readonly kind: 'grant'; readonly owner: Owner; readonly attempt: Attempt; readonly operatorTransaction?: boolean }
  /** The nonce that an intent holds. With `callHash` the asker is about to drive it: it is maybe sent from now on, and another call is a conflict. */
  | { readonly kind: 'find'; readonly intentId: string; readonly callHash?: string }
  /** One more attempt, the `index`-th; if that exists already, the answer has it and nothing is added. */
  | { readonly kind: 'attempt'; readonly nonce: number; readonly index: number; readonly attempt: Attempt }
  /** The try that was granted gives its nonce back: it has signed nothing. */
  | { readonly kind: 'release'; readonly intentId: string; readonly grantedTo: string }
  /**
   * The intent is let go. `leave`: only if it holds no nonce. `cancel`: its nonce gets the lane's no-op. `abandon`: its unmined nonce becomes the
   * lane's orphan and the intent is free, if the lane is forbidden, or no process has told it anything for `withoutWorkerMs`.
   */
  | { readonly kind: 'withdraw'; readonly intentId: string; readonly how: 'leave' | 'cancel' | 'abandon' }
  /** The lane is to mine this nonce with a no-op. By an `operator`: only a nonce without an owner, see `cancelNonce`. */
  | ({ readonly kind: 'fill'; readonly nonce: number; readonly reason: FillReason } & Named)
  | OperatorAsk
  /** What a process's config says now. What an operator set stays until the config's own value changes. */
  | { readonly kind: 'configure'; readonly config: LaneConfig }
  /** The chain does not have this block, which the ledger knows as final. */
  | { readonly kind: 'replaced'; readonly block: FinalBlock }

/** What operators order, and what processes tell that is no observation. */
export type LaneOrder = { readonly id: string } & Extract<Ask, { kind: OperatorAsk['kind'] | 'configure' | 'replaced' }>

/** Who orders it, and why. Those of recorded histories have no name, and a hand may forget it: `orderOf` says what is kept then. */
interface Named {
  readonly order?: Order
}

/** What operators order, and Portage itself in the same way. Each is kept with its name and reason (`LaneState.orders`). */
export type OperatorAsk = Named & OperatorOrder

type OperatorOrder =
  /** The call of this nonce's owner is replaced by a no-op; the owner plans again when that is mined. */
  | { readonly kind: 'cancelNonce'; readonly nonce: number }
  /** One more attempt for this nonce now, of at least these fees. */
  | { readonly kind: 'replace'; readonly nonce: number; readonly maxFee?: string; readonly tip?: string }
  /** The same bytes once more, of this nonce or of all that are in no block. */
  | { readonly kind: 'republish'; readonly nonce?: number | undefined }
  | { readonly kind: 'pause'; readonly pause: PauseReason }
  /** `only`: a pause of this kind, and no other: Portage must not end an operator's. */
  | { readonly kind: 'resume'; readonly only?: PauseKind }
  /** Nothing new; done when nothing is in flight. */
  | { readonly kind: 'drain'; readonly reason: string }
  /** As drained; and intents whose nonce is not mined may abandon it and go elsewhere. */
  | { readonly kind: 'forbid'; readonly reason: string }
  /** Ends pause, drain and forbid. */
  | { readonly kind: 'activate' }
  | { readonly kind: 'setWindow'; readonly window: number }
  | { readonly kind: 'resync' }
  /** The chain was replaced: forget every nonce and read the account anew. Refused while the chain still shows what the ledger saw. */
  | { readonly kind: 'reset' }

/** Why no nonce was given. `none`: a `find`, and the intent holds none. */
export type Refusal = 'window' | 'funds' | 'paused' | 'draining' | 'forbidden' | 'replaced' | 'unsynced' | 'withdrawn' | 'conflict' | 'none'

export type LaneAnswer =
  | { readonly kind: 'granted'; readonly entry: Entry }
  /** `later`: the intent of the same workflow, of a later round, that holds a nonce; absent: it is refused for something else. */
  | { readonly kind: 'refused'; readonly why: Refusal; readonly detail: string; readonly later?: string }
  | { readonly kind: 'attempts'; readonly attempts: readonly Attempt[] }
  | { readonly kind: 'free' }
  | { readonly kind: 'held'; readonly nonce: number }
  | { readonly kind: 'done' }

/** The newest that a process was told of the ledger: it shows an older ledger (reset, restored) what it has forgotten. */
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
  /** The ledger's run as its last answer named it; empty: no answer yet. Absent in requests that ask for no nonce. */
  readonly run?: string
  readonly requests: readonly LaneRequest[]
}

/** A nonce that some process of the lane has to mine with a no-op. Repeated until it is in a block. */
export interface FillOrder {
  readonly nonce: number
  readonly reason: FillReason
  readonly attempts: readonly Attempt[]
  /** Of the call that it replaces: if that wins after all, the nonce was not used externally. Absent: unknown. */
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
  readonly raises: readonly RaiseOrder[]
  readonly view: LaneView
}

/** What a process needs to know of the ledger between its requests. */
export interface LaneView {
  readonly synced: boolean
  readonly next: number
  readonly latest: number
  readonly finalized: number
  /** Of the newest observation; absent before one. */
  readonly height?: number
  readonly window: number
  /** Unmined nonces. */
  readonly inFlight: number
  /** See `LaneState`. */
  readonly republish?: Republish
  /** Why nothing is granted, whatever the window. */
  readonly closed?: Closed
  /** Final block that the ledger knows. */
  readonly final?: FinalBlock
  /** Nonces of the account that a transaction from outside Portage used. */
  readonly external: number
  /** Counts resets. */
  readonly era: number
  /** Nonces that are kept until they are final, and the most that are: then the lane waits for finality. */
  readonly kept: number
  readonly keptLimit: number
  /** Counts grants. */
  readonly granted: number
  /** The run that answers: a request that was meant for another run, and is answered after a reset, gets no nonce. Absent in a query's view. */
  readonly run?: string
  /** See `LaneState`. Absent: none. */
  readonly forgotten?: readonly ForgottenNonces[]
  /** A block at or above this that is final, and has fewer nonces of the account, is of a chain on which what was final is undone. */
  readonly finalizedAt?: number
}

/** What closes a lane until an operator acts, or its funds or permissions change. */
export type ClosedFor = 'paused' | 'draining' | 'forbidden' | 'funds' | 'replaced'

export interface Closed {
  readonly why: ClosedFor
  readonly detail: string
  /** Of a paused lane. */
  readonly pause?: PauseKind
  /** Who closed it, if somebody did. */
  readonly by?: string
}

/** To be told to an owner: its nonce is no longer in a block, and the reporting process does not drive it. */
export interface RolledBack {
  readonly intentId: string
  readonly nonce: number
}

/** How a lane stands towards transfers that hold no nonce of it (`open`) and those that do. */
export interface LaneStatus extends Partial<Omit<Closed, 'why'>> {
  readonly lane: LaneId
  /** True if it takes new work. */
  readonly open: boolean
  /** Why not. `unserved`: no worker polls its queue, and nothing of it was observed lately. */
  readonly why?: ClosedFor | 'unserved'
}
