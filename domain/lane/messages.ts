import type { ErrorCode } from '../catalogue/errors.ts'
import type * as ledger from './lane.ts'
import type { Order } from '../order.ts'

/**
 * A process's report on the account. A process reports at most once per block, and only if there is something to
 * report.
 */
export interface Observation extends ledger.Observed {
  readonly claims: readonly number[]
  /** The process has observed every block since this height. `claims` says nothing about earlier blocks. */
  readonly since: number
  /** Transaction count including the pool, from a quorum of nodes. If the ledger is `synced`, later reports lack it. */
  readonly pending?: number
  /** Most nodes show a reorg of final blocks. `finalized` may then fall, but `next` does not. */
  readonly undone?: boolean
}

export type LaneRequest = { readonly id: string } & Ask

export type Ask =
  /** A draining lane, and a lane below its minimum balance, grant nonces only to operator transactions. */
  | { readonly kind: 'grant'; readonly owner: ledger.Owner; readonly attempt: ledger.Attempt; readonly operatorTransaction?: boolean }
  /** With `callHash`, the caller may send this call. The answer is `conflict` if the nonce belongs to another call. */
  | { readonly kind: 'find'; readonly intentId: string; readonly callHash?: string }
  /** Records the attempt, unless one with this `index` exists. The answer lists all attempts. */
  | { readonly kind: 'attempt'; readonly nonce: number; readonly index: number; readonly attempt: ledger.Attempt }
  | { readonly kind: 'release'; readonly intentId: string; readonly grantedTo: string }
  /**
   * `leave` withdraws the intent only if it has no nonce. `cancel` fills its nonce with a no-op. `abandon` gives its
   * nonce to the lane, if the nonce is unmined and the lane is forbidden or had no report for `withoutWorkerMs`.
   */
  | { readonly kind: 'withdraw'; readonly intentId: string; readonly how: 'leave' | 'cancel' | 'abandon' }
  /** Fills this nonce with a no-op. If the nonce has an owner, operators must use `cancelNonce`. */
  | ({ readonly kind: 'fill'; readonly nonce: number; readonly reason: ledger.FillReason } & Named)
  | OperatorAsk
  /** Sent by a process with its config. A window that `setWindow` set stays until the config's window changes. */
  | { readonly kind: 'configure'; readonly config: ledger.LaneConfig }
  | { readonly kind: 'replaced'; readonly block: ledger.FinalBlock }

export type LaneOrder = { readonly id: string } & Extract<Ask, { kind: OperatorAsk['kind'] | 'configure' | 'replaced' }>

interface Named {
  readonly order?: Order
}

export type OperatorAsk = Named & OperatorOrder

type OperatorOrder =
  /** Replaces the call of the nonce's owner with a no-op. The owner tries again when the no-op is mined. */
  | { readonly kind: 'cancelNonce'; readonly nonce: number }
  | { readonly kind: 'replace'; readonly nonce: number; readonly maxFee?: string; readonly tip?: string }
  | { readonly kind: 'republish'; readonly nonce?: number | undefined }
  | { readonly kind: 'pause'; readonly pause: ledger.PauseReason }
  /** `only` is the kind of pause to end. With it, Portage never ends an operator's pause. */
  | { readonly kind: 'resume'; readonly only?: ledger.PauseKind }
  | { readonly kind: 'drain'; readonly reason: string }
  | { readonly kind: 'forbid'; readonly reason: string }
  | { readonly kind: 'activate' }
  | { readonly kind: 'setWindow'; readonly window: number }
  | { readonly kind: 'resync' }
  /** Forgets all nonces. The account is then read again. Refused if the chain still has the ledger's final block. */
  | { readonly kind: 'reset' }

export type Refusal = 'window' | 'funds' | 'paused' | 'draining' | 'forbidden' | 'replaced' | 'unsynced' | 'withdrawn' | 'conflict' | 'none'

export type LaneAnswer =
  | { readonly kind: 'granted'; readonly entry: ledger.Entry }
  | { readonly kind: 'refused'; readonly why: Refusal; readonly detail: string; readonly later?: string }
  | { readonly kind: 'attempts'; readonly attempts: readonly ledger.Attempt[] }
  | { readonly kind: 'free' }
  | { readonly kind: 'held'; readonly nonce: number }
  | { readonly kind: 'done' }

/** The ledger as a process last knew it. A reset or restored ledger learns from it which grants it lost. */
export type KnownLedger = Pick<LaneView, 'era' | 'granted' | 'next' | 'finalized'>

export interface ApplyRequest {
  readonly observe?: Observation
  readonly known?: KnownLedger
  /** Run id of the ledger's last answer. Empty before the first answer. Absent if no request asks for a nonce. */
  readonly run?: string
  readonly requests: readonly LaneRequest[]
}

/** An order to fill a nonce with a no-op. Every answer repeats it until the nonce is in a block. */
export interface FillOrder extends Pick<ledger.Entry, 'nonce' | 'attempts'> {
  readonly reason: ledger.FillReason
  /** The replaced call, if known. If this call is mined, Portage itself used the nonce. */
  readonly callHash?: string
}

/** An order to raise the fees of a nonce. Every answer repeats it until the new attempt is recorded. */
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
    Pick<ledger.LaneCounts, 'external'> {
  readonly height?: number
  readonly window: number
  readonly inFlight: number
  readonly closed?: Closed
  readonly kept: number
  readonly keptLimit: number
  /** Number of grants. It never falls. `next` does fall when nonces are returned. */
  readonly granted: number
  /**
   * The run that answered. After a reset, a request that names an earlier run gets no nonce. Absent in answers to
   * queries.
   */
  readonly run?: string
  /**
   * Height at which `finalized` was first reported. If the account's nonce is below `finalized` at a later height,
   * final blocks were lost.
   */
  readonly finalizedAt?: number
  readonly lowestSince?: number
}

export type ClosedFor = 'paused' | 'draining' | 'forbidden' | 'funds' | 'replaced'

export interface Closed {
  readonly why: ClosedFor
  readonly detail: string
  readonly pause?: ledger.PauseKind
  readonly by?: string
}

/** A nonce fell out of its block. Its owner is notified, unless the reporting process drives the nonce. */
export interface RolledBack {
  readonly intentId: string
  readonly nonce: number
}

export interface LaneStatus extends Partial<Omit<Closed, 'why'>> {
  readonly lane: ledger.LaneId
  readonly open: boolean
  /** `unserved`: no worker polls the lane's queue, and the ledger has had no recent observation. */
  readonly why?: ClosedFor | 'unserved'
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
