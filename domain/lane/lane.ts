import type { Fees } from '../fees/fees.ts'
import type { BlockRef } from '../finality.ts'
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

/** `evm-1337:0x…`: family, network id and lower-case address. */
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
  /** Decimal wei. */
  readonly value: string
}

/** Maximum of `window`. */
export const largestWindow = 128

export interface LaneConfig {
  readonly lane: LaneId
  readonly window: number
  /** Number of blocks after which a no-op fills the lowest unmined nonce, if no process drives this nonce. */
  readonly fillAfterBlocks: number
  /** Minimum balance, decimal wei. A lane with less grants nonces only to operator transactions. */
  readonly minimumBalance?: string
}

/** The ledger records an attempt before it is signed, so any process can sign it again. */
export interface Attempt extends Fees {
  readonly kind: 'call' | 'noop'
  readonly gasLimit: string
  /** Estimate of an L2's charge for the calldata, decimal wei. Absent: 0. */
  readonly dataFee?: string
}

/** A nonce without an owner belongs to the lane. */
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
  /** Id of the request that got this nonce. If another request got the nonce too, `maybeSent` is true. */
  readonly grantedTo: string
  readonly maybeSent: boolean
  /** Value of an abandoned call, decimal wei. A block may still include the call. */
  readonly value?: string
  readonly callHash?: string
  readonly abandonedBy?: string
  /**
   * Height at which the nonce was granted or given back, or at which a reorg removed its block. 0 while the nonce is in
   * a block.
   */
  readonly sinceBlock: number
  /** Height of the last report in which a process drives this nonce. 0: no such report, or the nonce is in a block. */
  readonly claimedBlock: number
  readonly fill?: FillReason
  /** Why the nodes refused the call, in their words. */
  readonly refusal?: string
  readonly raise?: Raise
  readonly attempts: readonly Attempt[]
}

/** Minimum fees that an operator ordered. Only attempts with index `after` or higher fulfil the order. */
export interface Raise extends Partial<Fees> {
  readonly after: number
}

export interface Republish {
  /** ms since the epoch, by the ledger's clock. */
  readonly at: number
  readonly nonce?: number
}

/** `latest`: the account's nonce at block `height`. `finalized`: its nonce at the newest final block. */
export interface Observed {
  readonly latest: number
  readonly finalized: number
  readonly height: number
  readonly hash: string
  /** Decimal wei. */
  readonly balance: string
  readonly final?: BlockRef
}

export interface Remembered extends Observed {
  /** ms since the epoch, by the ledger's clock, like `leadAt`. */
  readonly at: number
  /** Time of the last report whose height was `height` or higher. Lagging nodes report lower heights. */
  readonly leadAt: number
  /** Height at which `finalized` was first reported. If a later block has a lower nonce, final blocks were lost. */
  readonly finalizedAt: number
  /** Height since which the lowest unmined nonce waits with its newest attempt. Absent in ledgers of release 1.0.0. */
  readonly lowestSince?: number
  /** Height at which reports resumed after a long gap. Blocks in the gap do not make a nonce idle. */
  readonly reportedSince?: number
}

/** Only an operator ends an `operator` pause. Portage ends an `unauthorized` pause when the key gets its role. */
export type PauseKind = 'operator' | 'unauthorized'

export interface Pause {
  readonly kind: PauseKind
  readonly reason: string
  readonly by: string
}

export type PauseReason = Omit<Pause, 'by'>

/** Entries in packed form: 70 bytes per entry instead of 320. All fields are kept, because a deep reorg needs them. */
export interface PackedEntries {
  readonly words: readonly string[]
  /**
   * Each entry ends with `;`. Commas separate its fields: nonce; start of the intent id; number in the intent id;
   * digest with call hash and round; request; attempts; other values. Three usual values are omitted: a nonce one above
   * the previous entry's, the previous entry's start, and round 1.
   */
  readonly text: string
}

export interface Page extends PackedEntries {
  /** Lowest nonce in the page that is not final yet. `to` is one above the highest nonce. */
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

/** `cost`: gas cost of the cheapest grant that was refused for lack of funds, decimal wei. `0`: none was refused. */
export interface Broke {
  readonly detail: string
  readonly cost: string
  /** Time of the refusal, ms since the epoch, by the ledger's clock. Absent in ledgers of release 1.0.0. */
  readonly at?: number
}

/** Plain JSON: less than 64 KiB with fast finality. Pages hold most entries of a large ledger. */
export interface LaneState {
  /** The config in force: the config that a process sent last (`configured`), with the changes of operators. */
  readonly config: LaneConfig
  readonly configured: LaneConfig
  /** False until a process has reported the account. Until then, the ledger grants no nonce. */
  readonly synced: boolean
  /**
   * The nonce of the next grant, unless a returned nonce is free. Never falls to a nonce that may have been broadcast.
   */
  readonly next: number
  readonly observed?: Remembered
  readonly entries: Readonly<Record<string, Entry>>
  readonly paused?: Pause
  readonly closing?: Closing
  readonly broke?: Broke
  /** A final block that the chain lost. The lane grants and sends nothing until an operator resets the lane. */
  readonly replaced?: BlockRef
  readonly republish?: Republish
  /** Number of resets. When it changes, processes forget what they know about the ledger. */
  readonly era: number
  /** Hashes of the newest 1,024 withdrawn intents. The ledger refuses a late request for such an intent. */
  readonly tombstones: readonly string[]
  readonly counts: LaneCounts
  /** Time when the ledger last noticed a use of the key outside Portage, ms since the epoch, by the ledger's clock. */
  readonly externalAt?: number
  readonly pages?: readonly Page[]
  readonly orders?: readonly GivenOrder[]
  readonly forgotten?: readonly ForgottenNonces[]
}

/** The nonces from `from` to `to` - 1. An earlier ledger granted them, or someone outside Portage used them. */
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
  /** Number of owned nonces whose block a reorg removed while the reporting process did not drive them. */
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
