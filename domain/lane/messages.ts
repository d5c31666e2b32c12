import type { ErrorCode } from '../catalogue/errors.ts'
import type { BlockRef } from '../finality.ts'
import type * as ledger from './lane.ts'
import type { Order } from '../order.ts'

/** A process's report on the account, at most one per block. */
export interface Observation extends ledger.Observed {
  readonly claims: readonly number[]
  /** The process has seen every block since this height. `claims` says nothing about earlier blocks. */
  readonly since: number
  /**
   * The nonce after the account's last transaction in a pool, as most nodes and the key's record of signed nonces show.
   * Absent if the ledger is already `synced`.
   */
  readonly pending?: number
  /** True if most nodes show a reorg of final blocks. Only then may `finalized` fall. */
  readonly undone?: boolean
}

export type LaneRequest = { readonly id: string } & Ask

export type Ask =
  /**
   * Requests a nonce. A lane that drains or is below its minimum balance grants nonces only to operator transactions.
   */
  | { readonly kind: 'grant'; readonly owner: ledger.Owner; readonly attempt: ledger.Attempt; readonly operatorTransaction?: boolean }
  /**
   * Asks for the intent's nonce. A caller that wants to sign sends `callHash`, and gets `conflict` if the nonce has
   * another call.
   */
  | { readonly kind: 'find'; readonly intentId: string; readonly callHash?: string }
  /**
   * Records an attempt, unless the nonce already has an attempt with this `index`, or needs the other kind of attempt.
   */
  | { readonly kind: 'attempt'; readonly nonce: number; readonly index: number; readonly attempt: ledger.Attempt }
  | { readonly kind: 'release'; readonly intentId: string; readonly grantedTo: string }
  /**
   * Withdraws an intent without a nonce. If the intent has a nonce, `leave` changes nothing, and `cancel` fills the
   * nonce with a no-op. `abandon` gives an unmined nonce to the lane, if the lane is forbidden or has had no report for
   * `withoutWorkerMs`. On a replaced chain, `leave` and `abandon` withdraw every intent.
   */
  | { readonly kind: 'withdraw'; readonly intentId: string; readonly how: 'leave' | 'cancel' | 'abandon' }
  /** Fills a nonce with a no-op. Refused if an operator requests it for a nonce with an owner: see `cancelNonce`. */
  | ({ readonly kind: 'fill'; readonly nonce: number; readonly reason: ledger.FillReason; readonly refusal?: string } & Named)
  | OperatorAsk
  /**
   * A process sends its config. A window that `setWindow` set stays in force until the window in the config changes.
   */
  | { readonly kind: 'configure'; readonly config: ledger.LaneConfig }
  | { readonly kind: 'replaced'; readonly block: BlockRef }

export type LaneOrder = { readonly id: string } & Extract<Ask, { kind: OperatorAsk['kind'] | 'configure' | 'replaced' }>

interface Named {
  readonly order?: Order
}

export type OperatorAsk = Named & OperatorOrder

type OperatorOrder =
  /** Replaces the call of the nonce's owner with a no-op. When the no-op is mined, the owner tries again. */
  | { readonly kind: 'cancelNonce'; readonly nonce: number }
  | { readonly kind: 'replace'; readonly nonce: number; readonly maxFee?: string; readonly tip?: string }
  | { readonly kind: 'republish'; readonly nonce?: number | undefined }
  | { readonly kind: 'pause'; readonly pause: ledger.PauseReason }
  /**
   * With `only`, ends the pause only if it has this kind. Portage always sets `only`, so it never ends an operator's
   * pause.
   */
  | { readonly kind: 'resume'; readonly only?: ledger.PauseKind }
  | { readonly kind: 'drain'; readonly reason: string }
  | { readonly kind: 'forbid'; readonly reason: string }
  | { readonly kind: 'activate' }
  | { readonly kind: 'setWindow'; readonly window: number }
  | { readonly kind: 'resync' }
  /** Forgets all nonces and reads the account again. Refused if the chain still has the ledger's final block. */
  | { readonly kind: 'reset' }

export type Refusal = 'window' | 'funds' | 'paused' | 'draining' | 'forbidden' | 'replaced' | 'unsynced' | 'withdrawn' | 'conflict' | 'none'

export type LaneAnswer =
  | { readonly kind: 'granted'; readonly entry: ledger.Entry }
  | { readonly kind: 'refused'; readonly why: Refusal; readonly detail: string; readonly later?: string }
  | { readonly kind: 'attempts'; readonly attempts: readonly ledger.Attempt[] }
  | { readonly kind: 'free' }
  | { readonly kind: 'held'; readonly nonce: number }
  | { readonly kind: 'done' }

/** A process's last view of the ledger. A reset or restored ledger learns from this view which grants it lost. */
export type KnownLedger = Pick<LaneView, 'era' | 'granted' | 'next' | 'finalized'>

export interface ApplyRequest {
  readonly observe?: Observation
  readonly known?: KnownLedger
  /** Run id in the ledger's last answer, empty before the first answer. Absent if no request asks for a nonce. */
  readonly run?: string
  readonly requests: readonly LaneRequest[]
}

/** Order to fill a nonce with a no-op. Every answer repeats the order until the nonce is in a block. */
export interface FillOrder extends Pick<ledger.Entry, 'nonce' | 'attempts' | 'refusal'> {
  readonly reason: ledger.FillReason
  /**
   * Hash of the call that the no-op replaces, if known. If this call is mined, the nonce was not used outside Portage.
   */
  readonly callHash?: string
}

/** Order to raise the fees of a nonce. Every answer repeats the order until the new attempt is recorded. */
export interface RaiseOrder extends ledger.Raise {
  readonly nonce: number
}

export interface ApplyResponse {
  readonly answers: readonly LaneAnswer[]
  readonly orders: readonly FillOrder[]
  readonly raises: readonly RaiseOrder[]
  readonly view: LaneView
}

export interface LaneView
  extends
    Pick<ledger.LaneState, 'synced' | 'next' | 'era' | 'republish' | 'forgotten'>,
    Pick<ledger.Observed, 'latest' | 'finalized' | 'final'>,
    Partial<Pick<ledger.Remembered, 'height' | 'finalizedAt' | 'lowestSince'>>,
    Pick<ledger.LaneCounts, 'external'> {
  readonly window: number
  readonly inFlight: number
  readonly closed?: Closed
  readonly kept: number
  readonly keptLimit: number
  /** Number of grants, which never falls. (`next` falls when nonces are returned.) */
  readonly granted: number
  /** Run id of the ledger that answers. After a reset, requests with an older id get no nonce. Absent in queries. */
  readonly run?: string
}

export type ClosedFor = 'paused' | 'draining' | 'forbidden' | 'funds' | 'replaced'

export interface Closed {
  readonly why: ClosedFor
  readonly detail: string
  readonly pause?: ledger.PauseKind
  readonly by?: string
}

/** A nonce whose block a reorg removed. Its owner gets a signal, unless the reporting process drives the nonce. */
export interface RolledBack {
  readonly intentId: string
  readonly nonce: number
}

export interface LaneStatus extends Partial<Omit<Closed, 'why'>> {
  readonly lane: ledger.LaneId
  readonly open: boolean
  /** `unserved`: no worker polls the lane's queue, and the ledger has no recent report. */
  readonly why?: ClosedFor | 'unserved'
  /** A refused call had closed the lane. The next call shows whether the lane can pay now. */
  readonly onTrial?: true
}

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
