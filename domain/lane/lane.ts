import type { Fees } from '../fees/fees.ts'
import type { GivenOrder } from '../order.ts'

/** `{workflow id}/{round}`. A round ends when its nonce was used without the effect, or its intent left the lane. */
export function intentIdOf(workflowId: string, round: number): string {
  return `${workflowId}/${round}`
}

export function workflowOf(intentId: string): string {
  const end = intentId.lastIndexOf('/')
  return end < 0 ? intentId : intentId.slice(0, end)
}

/** 0 if the id has no round. */
export function roundOf(intentId: string): number {
  return Number(/[/]([0-9]+)$/.exec(intentId)?.[1] ?? 0)
}

/** One key on one network: `evm-1337:0x…` (family, network id, lower-case address). */
export type LaneId = string

export function laneId(family: string, networkId: string | number, address: string): LaneId {
  return `${family}-${networkId}:${address.toLowerCase()}`
}

export function laneAddress(lane: LaneId): string {
  return lane.slice(lane.indexOf(':') + 1)
}

/** The call to make, without nonce and fee. */
export interface Intent {
  /** 0x address, lower case. */
  readonly to: string
  /** 0x hex. */
  readonly data: string
  /** wei, decimal. */
  readonly value: string
}

/** Settings of a lane. A process may send them again at any time. */
export interface LaneConfig {
  readonly lane: LaneId
  /** Maximum number of nonces in flight (granted, not in a block). */
  readonly window: number
  /** The lowest unmined nonce is filled with a no-op if no process has driven it for this many blocks. */
  readonly fillAfterBlocks: number
  /** No nonce is granted below this balance, decimal wei. Absent: the balance must only cover the nonces in flight. */
  readonly minimumBalance?: string
}

/** A transaction for a nonce. Recorded before it is signed, so that any process can make the same bytes again. */
export interface Attempt extends Fees {
  readonly kind: 'call' | 'noop'
  /** Gas units, decimal. */
  readonly gasLimit: string
  /** The chain's charge for the call data (L2s), estimated, wei, decimal. Part of the worst cost. Absent: 0. */
  readonly dataFee?: string
}

/** The intent of a nonce. An entry without an owner belongs to the lane. */
export interface Owner {
  /** As `intentIdOf` makes it. */
  readonly intentId: string
  readonly callHash: string
  /** wei, decimal; absent: 0. */
  readonly value?: string
}

export type FillReason = 'cancelled' | 'abandoned' | 'orphaned' | 'released' | 'inherited' | 'operator' | 'refused'

/** A granted nonce that is not final. */
export interface Entry {
  readonly nonce: number
  readonly owner?: Owner
  /** Id of the request that got this grant. If another request gets it too, the first caller may have sent its call. */
  readonly grantedTo: string
  readonly maybeSent: boolean
  /** Value of an abandoned call, which may still be mined, decimal wei. */
  readonly value?: string
  /** Hash of an abandoned call. */
  readonly callHash?: string
  /** The intent that abandoned the nonce. Its call may still be mined. */
  readonly abandonedBy?: string
  /** Height at which the nonce was granted or fell out of its block. */
  readonly sinceBlock: number
  /** Height at which a process last reported that it drives this nonce. */
  readonly claimedBlock: number
  readonly fill?: FillReason
  readonly raise?: Raise
  readonly attempts: readonly Attempt[]
}

/**
 * Minimum fees that an operator ordered. An absent field follows the market. The attempts before the index `after` do
 * not fulfil the order.
 */
export interface Raise extends Partial<Fees> {
  readonly after: number
}

/** An operator's order to send signed bytes again. Each process obeys the order once. */
export interface Republish {
  /** When the order was given, ms by the ledger's clock. */
  readonly at: number
  /** Absent: all nonces that are not in a block. */
  readonly nonce?: number
}

/** A final block. Its hash shows whether the chain was replaced. */
export interface FinalBlock {
  readonly height: number
  readonly hash: string
}

export interface Observed {
  readonly latest: number
  readonly finalized: number
  readonly height: number
  readonly hash: string
  /** wei, decimal. */
  readonly balance: string
  /** The highest final block whose hash was reported. */
  readonly final?: FinalBlock
}

export interface Remembered extends Observed {
  /** When the observation was reported, ms since the epoch by the ledger's clock. */
  readonly at: number
  /** When this height or a higher one was last reported, ms by the ledger's clock. Lagging nodes report lower ones. */
  readonly leadAt: number
  /** Height at which `finalized` was first reported. */
  readonly finalizedAt: number
  /** Height since which the lowest unmined nonce waits with its last attempt. Absent in ledgers of release 1.0.0. */
  readonly lowestSince?: number
  /** Height since which processes have reported without a long gap. During a gap a nonce does not count as idle. */
  readonly reportedSince?: number
}

/** `operator`: an operator ends the pause. `unauthorized`: Portage ends it once the key has the role that it lacked. */
export type PauseKind = 'operator' | 'unauthorized'

export interface Pause {
  readonly kind: PauseKind
  readonly reason: string
  readonly by: string
}

export type PauseReason = Omit<Pause, 'by'>

/** Packed entries take 70 bytes each instead of 320. They keep all fields, because a deep reorganisation needs them. */
export interface PackedEntries {
  readonly words: readonly string[]
  /**
   * Each entry ends with `;`, and `,` separates its fields: nonce; start of the intent id; number in the intent id;
   * digest with call hash and round; request of the grant; attempts; other values. A field is left out if it is usual:
   * a nonce one above the previous entry's, the previous entry's start, and round 1.
   */
  readonly text: string
}

export interface Page extends PackedEntries {
  /** Lowest nonce of the page that is not final. `to` is one above the page's highest nonce. */
  readonly from: number
  readonly to: number
  /** Whether all nonces of the page were in blocks when it was packed. */
  readonly inBlock: boolean
  /** Size as JSON in UTF-8. */
  readonly bytes: number
}

/** The lane takes no new work until an operator activates it: it drains, or its key must not be used. */
export interface Closing {
  readonly mode: 'draining' | 'forbidden'
  readonly reason: string
  readonly by: string
}

/** The account cannot pay. `cost`: gas cost of the cheapest grant that was refused for lack of funds, decimal wei. */
export interface Broke {
  readonly detail: string
  readonly cost: string
}

/** The nonce ledger, plain JSON. Under 64 KiB where finality is fast. A large ledger keeps most entries in pages. */
export interface LaneState {
  /** The config, with changes by operators. */
  readonly config: LaneConfig
  /** The config as a process last sent it. */
  readonly configured: LaneConfig
  /** False until the account has been read. Until then no nonce is granted. */
  readonly synced: boolean
  /** The next nonce. It never falls below a nonce that may have been broadcast. */
  readonly next: number
  readonly observed?: Remembered
  /** By nonce, decimal. */
  readonly entries: Readonly<Record<string, Entry>>
  readonly paused?: Pause
  readonly closing?: Closing
  readonly broke?: Broke
  /** A final block that the chain no longer has. Nothing is granted or sent until an operator resets the lane. */
  readonly replaced?: FinalBlock
  readonly republish?: Republish
  /** Number of resets. A process's knowledge from before the last reset is void. */
  readonly era: number
  /** Hashes of withdrawn intents, the newest 1,024. A late request for such an intent is refused. */
  readonly tombstones: readonly string[]
  readonly counts: LaneCounts
  /** Packed entries, sorted by nonce (pages.ts). Absent: none. */
  readonly pages?: readonly Page[]
  /** The newest 32 orders. Absent: none. */
  readonly orders?: readonly GivenOrder[]
  /** Nonces of the account that this ledger did not grant, the newest 32 ranges. Absent: none. */
  readonly forgotten?: readonly ForgottenNonces[]
}

/** Nonces from `from` to below `to`, used without a grant of this ledger: by an earlier ledger or from outside. */
export interface ForgottenNonces {
  readonly from: number
  readonly to: number
  /** When the ledger learned of these nonces, ms since the epoch by the ledger's clock. */
  readonly at: number
}

export interface LaneCounts {
  readonly granted: number
  readonly attempts: number
  readonly filled: number
  readonly released: number
  /** Nonces used by transactions from outside Portage. */
  readonly external: number
  /** Owned nonces that fell out of their block, as reported by a process that did not drive them. */
  readonly rolledBack: number
}

export function newLane(config: LaneConfig): LaneState {
  return {
    config,
    configured: config,
    synced: false,
    next: 0,
    entries: {},
    era: 0,
    tombstones: [],
    counts: { granted: 0, attempts: 0, filled: 0, released: 0, external: 0, rolledBack: 0 },
  }
}
