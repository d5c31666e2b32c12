import type { ErrorCode } from '../catalogue/errors.ts'
import type * as ledger from './lane.ts'
import type { Order } from '../order.ts'

/** A process's view of the account. Sent at most once per block, and only if there is something to report. */
export interface Observation extends ledger.Observed {
  /** Nonces that this process drives. */
  readonly claims: readonly number[]
  /** This process has observed without a gap since this height. `claims` says nothing about earlier blocks. */
  readonly since: number
  /** Transaction count including the pool, by a quorum of nodes. Sent in the first observation, and until `synced`. */
  readonly pending?: number
  /** A majority of nodes shows a reorganisation deeper than finality. Then `finalized` may fall; `next` does not. */
  readonly undone?: boolean
}

export type LaneRequest = { readonly id: string } & Ask

export type Ask =
  /** Asks for a nonce. A draining lane, or one below its minimum balance, grants one only to `operatorTransaction`s. */
  | { readonly kind: 'grant'; readonly owner: ledger.Owner; readonly attempt: ledger.Attempt; readonly operatorTransaction?: boolean }
  /**
   * Asks for the nonce that an intent holds. With `callHash` the caller may send the call afterwards. If the nonce is
   * for another call, the answer is `conflict`.
   */
  | { readonly kind: 'find'; readonly intentId: string; readonly callHash?: string }
  /** Records the attempt with this `index`. If that attempt exists, nothing is added. The answer lists all attempts. */
  | { readonly kind: 'attempt'; readonly nonce: number; readonly index: number; readonly attempt: ledger.Attempt }
  /** Returns a nonce for which nothing was signed. */
  | { readonly kind: 'release'; readonly intentId: string; readonly grantedTo: string }
  /**
   * Withdraws the intent. `leave`: only if it holds no nonce. `cancel`: its nonce gets a no-op. `abandon`: the lane
   * takes over its unmined nonce, but only if the lane is forbidden or had no report for `withoutWorkerMs`.
   */
  | { readonly kind: 'withdraw'; readonly intentId: string; readonly how: 'leave' | 'cancel' | 'abandon' }
  /** Fills this nonce with a no-op. An `operator` must use `cancelNonce` for a nonce that has an owner. */
  | ({ readonly kind: 'fill'; readonly nonce: number; readonly reason: ledger.FillReason } & Named)
  | OperatorAsk
  /** The config of a process. A window that an operator set stays until the config's own window changes. */
  | { readonly kind: 'configure'; readonly config: ledger.LaneConfig }
  /** Reports that the chain no longer has this block, which the ledger knows as final. */
  | { readonly kind: 'replaced'; readonly block: ledger.FinalBlock }

/** Orders of operators, and reports of processes other than observations. */
export type LaneOrder = { readonly id: string } & Extract<Ask, { kind: OperatorAsk['kind'] | 'configure' | 'replaced' }>

/** Author and reason. `orderOf` fills in what is missing. */
interface Named {
  readonly order?: Order
}

/** Orders of operators, and of Portage itself. The ledger keeps each with author and reason (`LaneState.orders`). */
export type OperatorAsk = Named & OperatorOrder

type OperatorOrder =
  /** Replaces the call of this nonce's owner with a no-op. The owner tries again once the no-op is mined. */
  | { readonly kind: 'cancelNonce'; readonly nonce: number }
  /** Makes one more attempt for this nonce now, with at least these fees. */
  | { readonly kind: 'replace'; readonly nonce: number; readonly maxFee?: string; readonly tip?: string }
  /** Sends the signed bytes again, for this nonce or for all that are not in a block. */
  | { readonly kind: 'republish'; readonly nonce?: number | undefined }
  | { readonly kind: 'pause'; readonly pause: ledger.PauseReason }
  /** `only`: end a pause of this kind and no other, so that Portage never ends an operator's pause. */
  | { readonly kind: 'resume'; readonly only?: ledger.PauseKind }
  /** Grants nonces only to operator transactions. Transactions in flight go on. */
  | { readonly kind: 'drain'; readonly reason: string }
  /** Grants no nonces. Intents may abandon an unmined nonce and go to another lane. Transactions in flight go on. */
  | { readonly kind: 'forbid'; readonly reason: string }
  /** Ends pause, drain and forbid. */
  | { readonly kind: 'activate' }
  | { readonly kind: 'setWindow'; readonly window: number }
  | { readonly kind: 'resync' }
  /** Forgets all nonces and reads the account again. Refused while the chain has the ledger's final block. */
  | { readonly kind: 'reset' }

/** Why no nonce was granted. `none`: `find` found no nonce. */
export type Refusal = 'window' | 'funds' | 'paused' | 'draining' | 'forbidden' | 'replaced' | 'unsynced' | 'withdrawn' | 'conflict' | 'none'

export type LaneAnswer =
  | { readonly kind: 'granted'; readonly entry: ledger.Entry }
  /** `later`: an intent of a later round of the same workflow that holds a nonce. */
  | { readonly kind: 'refused'; readonly why: Refusal; readonly detail: string; readonly later?: string }
  | { readonly kind: 'attempts'; readonly attempts: readonly ledger.Attempt[] }
  | { readonly kind: 'free' }
  | { readonly kind: 'held'; readonly nonce: number }
  | { readonly kind: 'done' }

/** The ledger as a process last knew it. From this, a reset or restored ledger learns what it lost. */
export type KnownLedger = Pick<LaneView, 'era' | 'granted' | 'next' | 'finalized'>

export interface ApplyRequest {
  readonly observe?: Observation
  /** Absent: the process has no answer of the ledger yet. */
  readonly known?: KnownLedger
  /** Run id of the ledger's last answer; empty before the first answer. Absent in requests that ask for no nonce. */
  readonly run?: string
  readonly requests: readonly LaneRequest[]
}

/** A nonce that a process must fill with a no-op. Repeated until the nonce is in a block. */
export interface FillOrder extends Pick<ledger.Entry, 'nonce' | 'attempts'> {
  readonly reason: ledger.FillReason
  /** Hash of the call that the no-op replaces. If it is mined, the nonce was not used from outside. Absent: unknown. */
  readonly callHash?: string
}

/** An operator's order to raise the fees of a nonce. Repeated until the new attempt is recorded. */
export interface RaiseOrder extends ledger.Raise {
  readonly nonce: number
}

export interface ApplyResponse {
  /** One per request, in the order of the requests. */
  readonly answers: readonly LaneAnswer[]
  readonly orders: readonly FillOrder[]
  readonly raises: readonly RaiseOrder[]
  readonly view: LaneView
}

/** The state of the ledger, for processes. */
export interface LaneView
  extends
    Pick<ledger.LaneState, 'synced' | 'next' | 'era' | 'republish' | 'forgotten'>,
    Pick<ledger.Observed, 'latest' | 'finalized' | 'final'>,
    Pick<ledger.LaneCounts, 'external'> {
  readonly height?: number
  readonly window: number
  readonly inFlight: number
  readonly closed?: Closed
  readonly kept: number
  readonly keptLimit: number
  /** Number of grants. It never falls, unlike `next`, which falls when nonces are returned. */
  readonly granted: number
  /** Id of the run that answered. After a reset, a request meant for another run gets no nonce. Absent in queries. */
  readonly run?: string
  /** Height at which `finalized` was first reported. A lower nonce at this final height means that blocks were lost. */
  readonly finalizedAt?: number
}

/** Why a lane is closed until an operator acts, or its funds or roles change. */
export type ClosedFor = 'paused' | 'draining' | 'forbidden' | 'funds' | 'replaced'

export interface Closed {
  readonly why: ClosedFor
  readonly detail: string
  readonly pause?: ledger.PauseKind
  readonly by?: string
}

/** An owner to be notified: its nonce fell out of its block, and the process that reported this does not drive it. */
export interface RolledBack {
  readonly intentId: string
  readonly nonce: number
}

/** Whether a lane takes new transfers (`open`), and if not, why. Transfers that hold a nonce act on the reason. */
export interface LaneStatus extends Partial<Omit<Closed, 'why'>> {
  readonly lane: ledger.LaneId
  readonly open: boolean
  /** `unserved`: no worker polls the lane's queue, and the ledger had no observation lately. */
  readonly why?: ClosedFor | 'unserved'
}

/** Error code of each reason why a lane grants nothing now. The permanent `withdrawn` and `conflict` have none. */
export const refusalCodes = {
  paused: 'LANE_PAUSED',
  unsynced: 'LANE_UNSYNCED',
  window: 'LANE_FULL',
  funds: 'LANE_FUNDS',
  draining: 'LANE_DRAINING',
  forbidden: 'LANE_FORBIDDEN',
  replaced: 'LANE_CHAIN_REPLACED',
  unserved: 'LANE_UNREACHABLE',
  none: 'LANE_UNREACHABLE',
} as const satisfies Record<Exclude<Refusal, 'withdrawn' | 'conflict'> | NonNullable<LaneStatus['why']>, ErrorCode>
