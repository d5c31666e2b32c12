import type { Fees } from '../fees/fees.ts'
import type { GivenOrder } from '../order.ts'

export function intentIdOf(workflowId: string, round: number): string {
  return `${workflowId}/${round}`
}

export function workflowOf(intentId: string): string {
  const end = intentId.lastIndexOf('/')
  return end < 0 ? intentId : intentId.slice(0, end)
}

export function roundOf(intentId: string): number {
  return Number(/[/]([0-9]+)$/.exec(intentId)?.[1] ?? 0)
}

/** `evm-1337:0x…`: family, network id, lower-case address. */
export type LaneId = string

export function laneId(family: string, networkId: string | number, address: string): LaneId {
  return `${family}-${networkId}:${address.toLowerCase()}`
}

export function laneAddress(lane: LaneId): string {
  return lane.slice(lane.indexOf(':') + 1)
}

export interface Intent {
  readonly to: string
  readonly data: string
  /** wei, decimal. */
  readonly value: string
}

export interface LaneConfig {
  readonly lane: LaneId
  readonly window: number
  /** If no process has driven the lowest unmined nonce for this number of blocks, a no-op fills it. */
  readonly fillAfterBlocks: number
  /** Decimal wei. Below this balance no nonce is granted. Absent: the balance must cover the nonces in flight. */
  readonly minimumBalance?: string
}

/**
 * One transaction for a nonce. It is recorded before it is signed, so that any process can make the same bytes again.
 */
export interface Attempt extends Fees {
  readonly kind: 'call' | 'noop'
  readonly gasLimit: string
  /** Estimate of an L2's charge for the calldata, wei, decimal. Absent: 0. */
  readonly dataFee?: string
}

/** The intent that a nonce belongs to. A nonce without an owner belongs to the lane. */
export interface Owner {
  readonly intentId: string
  readonly callHash: string
  /** Decimal wei. Absent: 0. */
  readonly value?: string
}

export type FillReason = 'cancelled' | 'abandoned' | 'orphaned' | 'released' | 'inherited' | 'operator' | 'refused'

export interface Entry {
  readonly nonce: number
  readonly owner?: Owner
  /**
   * The request that got this grant. If another request gets the nonce too, the call may have been sent (`maybeSent`).
   */
  readonly grantedTo: string
  readonly maybeSent: boolean
  /** Value of an abandoned call, decimal wei. The call may still be mined. */
  readonly value?: string
  readonly callHash?: string
  /** The intent that abandoned the nonce. Its call may still be mined. */
  readonly abandonedBy?: string
  /** Height at which the nonce was granted, or at which it fell out of its block. */
  readonly sinceBlock: number
  /** Height at which a process last reported that it drives this nonce. */
  readonly claimedBlock: number
  readonly fill?: FillReason
  readonly raise?: Raise
  readonly attempts: readonly Attempt[]
}

/** Minimum fees that an operator ordered. Attempts with an index below `after` do not fulfil the order. */
export interface Raise extends Partial<Fees> {
  readonly after: number
}

export interface Republish {
  /** ms since the epoch, by the ledger's clock. */
  readonly at: number
  readonly nonce?: number
}

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
  readonly final?: FinalBlock
}

export interface Remembered extends Observed {
  /** ms since the epoch, by the ledger's clock. The same holds for `leadAt`. */
  readonly at: number
  /** When this `height`, or a higher one, was last reported. Lagging nodes report lower heights. */
  readonly leadAt: number
  readonly finalizedAt: number
  /** Height since which the lowest unmined nonce has had its newest attempt. Absent in ledgers of release 1.0.0. */
  readonly lowestSince?: number
  /** Height since which reports have come without a long gap. Blocks in such a gap do not make a nonce idle. */
  readonly reportedSince?: number
}

/** `operator`: an operator ends the pause. `unauthorized`: Portage ends it when the key has the missing role. */
export type PauseKind = 'operator' | 'unauthorized'

export interface Pause {
  readonly kind: PauseKind
  readonly reason: string
  readonly by: string
}

export type PauseReason = Omit<Pause, 'by'>

/** Packed entries take 70 bytes each instead of 320. They keep all fields, because a deep reorg needs them. */
export interface PackedEntries {
  readonly words: readonly string[]
  /**
   * Each entry ends with `;`. Its fields, separated by `,`: nonce; start of the intent id; number in the intent id;
   * digest with call hash and round; request; attempts; other values. Usual values are omitted: a nonce one above the
   * previous one, the previous entry's start, and round 1.
   */
  readonly text: string
}

export interface Page extends PackedEntries {
  /** The lowest nonce of the page that is not final. `to` is one above the highest nonce. */
  readonly from: number
  readonly to: number
  readonly inBlock: boolean
  readonly bytes: number
}

export interface Closing {
  readonly mode: 'draining' | 'forbidden'
  readonly reason: string
  readonly by: string
}

/** `cost` is the gas cost of the cheapest grant that was refused for lack of funds, decimal wei. */
export interface Broke {
  readonly detail: string
  readonly cost: string
}

/**
 * The nonce ledger, plain JSON. Below 64 KiB if finality is fast. A large ledger keeps most of its entries in pages.
 */
export interface LaneState {
  /** The config that a process last sent (`configured`), as changed by operators. */
  readonly config: LaneConfig
  readonly configured: LaneConfig
  /** False until the account has been read. Until then, no nonce is granted. */
  readonly synced: boolean
  /** Never falls below a nonce that may have been broadcast. */
  readonly next: number
  readonly observed?: Remembered
  readonly entries: Readonly<Record<string, Entry>>
  readonly paused?: Pause
  readonly closing?: Closing
  readonly broke?: Broke
  /** A final block that the chain no longer has. Nothing is granted or sent until an operator resets the lane. */
  readonly replaced?: FinalBlock
  readonly republish?: Republish
  /** Number of resets. After a reset, processes must forget what they know of the ledger. */
  readonly era: number
  /** Hashes of the newest 1,024 withdrawn intents. A late request for one of these intents is refused. */
  readonly tombstones: readonly string[]
  readonly counts: LaneCounts
  /** Time of the last external use of the key that the ledger noticed, ms since the epoch, by the ledger's clock. */
  readonly externalAt?: number
  readonly pages?: readonly Page[]
  readonly orders?: readonly GivenOrder[]
  readonly forgotten?: readonly ForgottenNonces[]
}

/**
 * Nonces from `from` (included) to `to` (excluded). An earlier ledger granted them, or someone outside Portage used
 * them.
 */
export interface ForgottenNonces {
  readonly from: number
  readonly to: number
  readonly at: number
}

export interface LaneCounts {
  readonly granted: number
  readonly attempts: number
  readonly filled: number
  readonly released: number
  readonly external: number
  /** Number of owned nonces that fell out of their block, as reported by a process that did not drive them. */
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
