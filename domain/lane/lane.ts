import type { Fees } from '../fees/fees.ts'
import type { GivenOrder } from '../order.ts'
import type { LaneId } from './lane-id.ts'

/** What a lane is told at its start and may be told again at any time. */
export interface LaneConfig {
  readonly lane: LaneId
  /** Most nonces in flight (granted, not in a block). */
  readonly window: number
  /** The lowest unmined nonce that no process has driven for so many blocks is filled with a no-op. */
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

/** The intent that a nonce belongs to. Absent on an entry: the nonce is the lane's own. */
export interface Owner {
  /** See intent-id.ts. */
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
  /** What an abandoned call may still move, wei, decimal; the owner's value as long as there is an owner. */
  readonly value?: string
  /** Of an abandoned call. */
  readonly callHash?: string
  /** The intent that abandoned it, whose call may still be mined. */
  readonly abandonedBy?: string
  /** Height at which the nonce was given or fell out of its block. */
  readonly sinceBlock: number
  /** Height at which a process last said that it drives the nonce. */
  readonly claimedBlock: number
  readonly fill?: FillReason
  /** An operator wants one more attempt than `after`, of at least these fees. */
  readonly raise?: Raise
  readonly attempts: readonly Attempt[]
}

/** Fees that an operator asks for; an absent field is left to the market. `after`: how many attempts there were. */
export interface Raise extends Partial<Fees> {
  readonly after: number
}

/** An operator wants what is signed and in no block to be sent again, the same bytes. Each process obeys it once. */
export interface Republish {
  /** When it was ordered, ms by the ledger's clock. */
  readonly at: number
  /** Absent: all nonces. */
  readonly nonce?: number
}

/** A block that is final: its hash shows whether the chain was replaced. */
export interface FinalBlock {
  readonly height: number
  readonly hash: string
}

/** The account as the chain last showed it. */
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

/** The newest observation as the ledger keeps it. */
export interface Remembered extends Observed {
  /** When it was told, ms since the epoch by the ledger's clock. */
  readonly at: number
  /** When this height or a higher one was last told, ms by the ledger's clock: a process that tells less is behind, for a while. */
  readonly leadAt: number
  /** Height at which `finalized` was told first. */
  readonly finalizedAt: number
  /** Height since which the ledger was told without a long gap: a nonce that no process claimed in a gap was not idle. */
  readonly reportedSince?: number
}

/** `operator`: ended by an operator. `unauthorized`: the key may deliver nothing; Portage ends the pause by itself when it may. */
export type PauseKind = 'operator' | 'unauthorized'

export interface Pause {
  readonly kind: PauseKind
  readonly reason: string
  /** Who ordered it. */
  readonly by: string
}

export type PauseReason = Omit<Pause, 'by'>

/**
 * Entries in a form that loses nothing, of about 70 bytes for one that is in a block and waits for finality, where JSON takes 320: 15 minutes of finality at
 * 20 transactions per second fit into what the server carries. All of an entry is needed: after a deep reorganisation the owner is told, and signs the
 * recorded attempts again (gas limit and fees of each), for the same call (its hash).
 */
export interface PackedEntries {
  readonly words: readonly string[]
  /**
   * Entries end with `;`, their fields with `,`: the nonce unless it follows the one before; the start of the intent's id unless it is as before; its number;
   * its digest, the hash of its call, and its round unless 1; the request that it was granted to; the attempts; and what is not as in an entry that is in a block.
   */
  readonly text: string
}

/** Many entries, packed. */
export interface Page extends PackedEntries {
  /** Its lowest nonce that is not final; one above its highest. */
  readonly from: number
  readonly to: number
  /** All of its nonces were in blocks when it was packed. */
  readonly inBlock: boolean
  /** Bytes of UTF-8 as JSON. */
  readonly bytes: number
}

/** Why a lane takes no new work until an operator activates it: it drains, or its key must not be used any more. */
export interface Closing {
  readonly mode: 'draining' | 'forbidden'
  readonly reason: string
  /** Who ordered it. */
  readonly by: string
}

/** The account cannot pay. `cost`: of the cheapest grant that was refused for it, value not counted, wei, decimal. */
export interface Broke {
  readonly detail: string
  readonly cost: string
}

/** The nonce ledger: plain JSON, under 64 KiB where finality is near. Where there are many entries, most are in pages. */
export interface LaneState {
  /** As configured, but for what operators set since. */
  readonly config: LaneConfig
  /** The config as a process last told it. */
  readonly configured: LaneConfig
  /** False until the account was read; nothing is granted before. */
  readonly synced: boolean
  /** The next nonce to hand out. Never lowered below a nonce that may have been broadcast. */
  readonly next: number
  readonly observed?: Remembered
  /** By nonce, decimal. */
  readonly entries: Readonly<Record<string, Entry>>
  readonly paused?: Pause
  readonly closing?: Closing
  readonly broke?: Broke
  /** The chain does not have this block, which was final: nothing is granted or sent until an operator resets the lane. */
  readonly replaced?: FinalBlock
  /** The newest order of its kind. Absent: none yet. */
  readonly republish?: Republish
  /** Counts resets. What a process knows of an earlier era is void. */
  readonly era: number
  /** Intents that were withdrawn, as hashes of their ids: a late request for one is refused. The newest 1,024. */
  readonly tombstones: readonly string[]
  readonly counts: LaneCounts
  /** Entries beside `entries`, packed, in order of nonce (pages.ts). Absent: none. */
  readonly pages?: readonly Page[]
  /** What was ordered of it, the newest 32. Absent: nothing yet. */
  readonly orders?: readonly GivenOrder[]
  /** Nonces of the account that others gave, the newest 32 ranges. Absent: none yet. */
  readonly forgotten?: readonly ForgottenNonces[]
}

/**
 * Nonces that this ledger did not give (or that went back to it unsigned) and heard of later as used: from the chain, or from a process that knows a newer ledger. `from` to one below `to`. A ledger
 * before this one may have given them (Temporal was wiped or restored), or somebody who used the key elsewhere.
 */
export interface ForgottenNonces {
  readonly from: number
  readonly to: number
  /** When it heard of them, ms since the epoch by the ledger's clock. */
  readonly at: number
}

export interface LaneCounts {
  readonly granted: number
  readonly attempts: number
  readonly filled: number
  readonly released: number
  /** Nonces of the account that a transaction from outside Portage used. */
  readonly external: number
  /** Owned entries that fell out of their block while the reporting process did not drive them. */
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
