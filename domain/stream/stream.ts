import type { Order, GivenOrder } from '../order.ts'
import type { IntervalSet } from './interval-set.ts'

/**
 * A stream: one numbered source of transfers (a direction of a native bridge, a Wormhole emitter) and the proof that none of its numbers was
 * missed. Numbers are u64 as decimal strings, heights are blocks, times are ms since the epoch. The state is plain JSON below 104 KiB however
 * long the stream is: only what is not resolved is listed, and every list has an end (`limits` in gaps.ts, `mostAsideBytes` in aside.ts).
 *
 * | MIP-61 | here |
 * | --- | --- |
 * | INIT_EVENT_PROCESSING, TIMEOUT | the transfer workflow; here a `Finding` brings its number, which is open from then on |
 * | CONTINUOUS_BLOCK_PROCESSING | `scanned`, source.ts |
 * | COMPLETE_EVENT_PROCESSING | `completed`, target.ts |
 * | PROCESS_FINISHED_NONCE_HEIGHT | `completedNumber` and `completedHeight`, watermark.ts |
 * | BOOTSTRAP | `backfill`, `backfilled` and `trust`, backfill.ts; `fromCheckpoint`, checkpoint.ts |
 */
export interface StreamState {
  readonly config: StreamConfig
  /** All below is resolved by somebody's word: the config's, a checkpoint's, an operator's. */
  readonly first: string
  /** One above the highest number that is known to exist. From `first` up to here a number is open, in a gap, or resolved. */
  readonly next: string
  /** Last block of the live scan. */
  readonly cursor?: ScannedBlock
  /** Ascending. Seen, which means started, and not resolved. */
  readonly open: readonly OpenNumber[]
  /** Started, not resolved, and in nobody's way: parked, or waiting for long for what is their own. They take none of the room, and few bytes. */
  readonly aside: readonly AsideNumbers[]
  /** Ascending. Not seen, or to be started again. */
  readonly gaps: readonly Gap[]
  /** Completed on the target and not seen at the source yet: that resolves no number, since its id could not be compared. */
  readonly unknownCompletions: IntervalSet
  /** The latest that were resolved without a delivery; `counts` has all. */
  readonly exceptions: readonly StreamException[]
  /** Numbers at their heights, thinned out with age: a higher number is at the same height or above. */
  readonly marks: readonly (readonly [number: string, height: number])[]
  /** First block whose transfers nobody vouches for. Absent: the source has no blocks that we read. */
  readonly start?: number
  /** Block of the checkpoint that it began with, until the live scan has begun, there or above: from then on hashes bind what was trusted. */
  readonly base?: number
  readonly backfill: Backfill
  /** Completions were followed up to this block of the target. */
  readonly target?: number
  readonly fork?: ForkAlarm
  /** The source's own count was below what its logs had shown. */
  readonly vanished?: { readonly upTo: string; readonly height: number; readonly at: number }
  /** A watermark from elsewhere that claims more than is known to exist, and was not taken. Until one is given that can be. */
  readonly distrusted?: Distrusted
  readonly paused?: { readonly by: string; readonly reason: string; readonly at: number }
  readonly maxOpen: number
  /** Who ordered `maxOpen`, and when; absent: it is the config's. */
  readonly ordered?: { readonly by: string; readonly at: number }
  readonly counts: Readonly<Record<StreamCount, number>>
  /** What was ordered of it, the newest. Absent: nothing yet. */
  readonly orders?: readonly GivenOrder[]
  /** Messages that were expected from the guardian spy and came otherwise, since it told its last one or was subscribed to anew. Absent: none. */
  readonly unheard?: {
    /** The lowest and the highest of these numbers. */
    readonly from: string
    readonly to: string
    /** When the first of them was found. */
    readonly since: number
  }
  /** When it was last told anything by a process or by an operator. Absent: not by a release that notes it. */
  readonly toldAt?: number
}

export interface StreamConfig {
  /** `native-bridge:{source}:{target}`, `wormhole-token-bridge:{source}:{emitter}`, with the chains' names in the config. `configured` changes it. */
  readonly stream: string
  /** Whose numbers they are, `{network id}/{contract}`: the stream's id has only names. A checkpoint of another origin is worth nothing. */
  readonly origin: string
  /** Lowest number there can be: 1 for a native bridge, 0 for an emitter. */
  readonly first: string
  /** Block to begin with. Absent: no blocks of the source are read (a spy and the source's count alone). */
  readonly start?: number
  /** Most transfers at a time that are neither parked nor resolved. */
  readonly maxOpen: number
}

/** A block of the source, as the scan knows it. */
export interface ScannedBlock {
  readonly height: number
  readonly hash: string
}

export interface OpenNumber {
  readonly number: string
  readonly height?: number
  /** It was among `unknownCompletions` until it was seen: an agent has to read by its id whether it is delivered. */
  readonly early?: true
  /** The code it is parked with where it could not be put aside: it blocks the watermark and takes none of `maxOpen`. */
  readonly parked?: string
}

/** Numbers that wait with one code. */
export interface AsideNumbers {
  readonly code: string
  /** Not parked: the transfers look again by themselves. */
  readonly waits?: true
  /** As runs.ts packs them. */
  readonly runs: string
}

/**
 * unasked: known to exist, and nobody was asked for it yet, or nobody could be. unstarted: a process of ours has its message, and cannot start its transfer.
 * not-final: later numbers were seen earlier (several consistency levels). held: by the Governor. unobserved: it is final, and no server that was asked has it.
 * hidden: the source's table has it, the logs did not show it. undone: its completion was reorganised away, or an operator wants it again.
 */
export const gapStates = ['unasked', 'unstarted', 'not-final', 'held', 'unobserved', 'hidden', 'undone'] as const
export type GapState = (typeof gapStates)[number]

export interface Gap {
  readonly from: string
  readonly to: string
  readonly state: GapState
  /** Of an `unstarted` one: why, and the chain that is in the way, if one is. */
  readonly code?: string
  readonly chain?: string
  /** Not before this block. */
  readonly height?: number
  /** Known since. */
  readonly at: number
}

/** How a number ends without a delivery. `skipped` and `cancelled` by somebody's order; `unnamed` if it came without a name. */
export type Closing = 'rejected' | 'declined' | 'cancelled' | 'skipped'

export interface StreamException {
  readonly number: string
  readonly outcome: Closing
  readonly by?: string
  readonly reason: string
  readonly at: number
}

export type StreamCount = Closing | 'completed' | 'ignored' | 'undone' | 'forks' | 'unknown'

/** Blocks below the live scan that have to be read yet. Heights are decimal strings, so that ranges which overlap merge. */
export interface Backfill {
  readonly left: IntervalSet
  /** Blocks ordered since nothing was left the last time: the progress is against this. */
  readonly ordered: number
  readonly by?: string
}

export interface Distrusted {
  readonly number: string
  readonly height?: number
  readonly by: string
  readonly at: number
}

/** The parent of the next block, by the node, is not the block that was scanned, which was final. */
export interface ForkAlarm {
  readonly height: number
  readonly known: string
  readonly told: string
  readonly at: number
}

/** Numbers found at the source, in final blocks. The agent has started a transfer for each that is neither `delivered` nor `ignored` before this request. */
export interface Finding {
  /** The height is absent where it is not known (a spy). */
  readonly numbers: readonly (readonly [number: string, height?: number])[]
  /** Which of them the target's finalized state shows delivered, by batched reads. */
  readonly delivered?: IntervalSet
  /** Which of them are no transfers, or go where we have no route. */
  readonly ignored?: IntervalSet
}

/** All that the logs of a range of blocks show: each number is in one of the two lists. */
export interface Reading extends Finding {
  /**
   * Shown and not started, since by the agent's view none is wanted (`isWanted`). If that view was from before a fork, or from a state that was lost, the stream
   * may want one of them: it then takes nothing of the reading.
   */
  readonly passed: IntervalSet
}

export type StreamRequest =
  /** Blocks `from` … `to`, both included, of the live scan, all final. Moves the cursor: nothing else raises it. */
  | (Reading & { readonly kind: 'scanned'; readonly from: number; readonly to: number; readonly parentHash: string; readonly hash: string })
  /**
   * Numbers found otherwise: by a spy (`heard`; without a number: a new subscription to it stands), in the source's table, by an audit that looked at open ones. `unheard`: those of them whose messages were
   * published while a subscription to the spy stood, which has not told them.
   */
  | (Finding & { readonly kind: 'seen'; readonly heard?: true; readonly unheard?: IntervalSet })
  | (Reading & { readonly kind: 'backfilled'; readonly from: number; readonly to: number })
  /** After a fork: `block` is still in the chain, by quorum; what lies above is read again. */
  | (Named & { readonly kind: 'reread'; readonly block: ScannedBlock })
  /** The source's own count: at the final block `height` its highest number is `upTo`; `present` is what its table was seen to have. */
  | { readonly kind: 'audited'; readonly upTo: string; readonly height: number; readonly present: IntervalSet }
  /**
   * Why the gaps in `from` … `to` are there. With a code they are `unstarted`, whatever the state, which releases that knew no such gaps take. `chain`: the one
   * that is in the way.
   */
  | {
      readonly kind: 'classified'
      readonly from: string
      readonly to: string
      readonly state: 'not-final' | 'held' | 'unobserved'
      readonly code?: string
      readonly chain?: string
    }
  /** Completed on the target, by whomever, in its final blocks `from` … `to`; the agent has compared ids where it knows them. */
  | { readonly kind: 'completed'; readonly numbers: IntervalSet; readonly from: number; readonly to: number }
  /** The target's finalized state no longer shows them. */
  | { readonly kind: 'undone'; readonly numbers: IntervalSet }
  | {
      readonly kind: 'closed'
      readonly number: string
      readonly outcome: Exclude<Closing, 'skipped'>
      readonly by?: string
      readonly reason: string
    }
  /** `waits`: not parked, but it has waited for long for what is its own, and leaves its room to others. */
  | { readonly kind: 'parked'; readonly number: string; readonly code: string; readonly waits?: true }
  | { readonly kind: 'unparked'; readonly number: string }
  | (Named & { readonly kind: 'skip' | 'unskip'; readonly number: string })
  | (Named & { readonly kind: 'backfill'; readonly from: number; readonly to: number })
  /** A watermark from elsewhere (on-chain checkpoint, operator): all up to `number` is resolved, all blocks up to `height` are done with. */
  | (Named & { readonly kind: 'trust'; readonly number: string; readonly height?: number })
  /** `maxOpen` absent: as the config has it. */
  | (Named & { readonly kind: 'setMaxOpen'; readonly maxOpen?: number })
  /** What the config of a process that has just started says by now of what may change while the stream runs. */
  | { readonly kind: 'configured'; readonly stream: string; readonly origin: string; readonly maxOpen: number }
  | (Named & { readonly kind: 'pause' })
  | (Named & { readonly kind: 'resume' })

/** Who orders it, and why. Requests of recorded histories have the two beside the other fields, or lack the reason (`orderOf`). */
interface Named {
  readonly order?: Order
  readonly by?: string
  readonly reason?: string
}

/** The request of this kind. */
export type RequestOf<Kind extends StreamRequest['kind']> = StreamRequest & { readonly kind: Kind }

/**
 * done: it holds now. present: from an older view, or says nothing about this stream; go on from the view. full: more new transfers than there is room for,
 * nothing was changed: record some as `seen`, or wait. refused: an order that cannot be obeyed.
 */
export type StreamAnswer =
  | { readonly kind: 'done' | 'present' | 'paused' | 'forked' }
  | { readonly kind: 'full'; readonly room: number }
  | { readonly kind: 'refused'; readonly detail: string }

export interface StreamUpdate {
  readonly requests: readonly StreamRequest[]
}

export interface StreamResponse {
  readonly answers: readonly StreamAnswer[]
  readonly view: StreamView
}

/** What every answer carries: a few hundred bytes. The lists are in the state, for a query. */
export interface StreamView {
  readonly stream: string
  /** First block of the next `scanned`. Absent: begin where you like (BOOTSTRAP: at the head; from `start` on the rest is backfilled). */
  readonly nextHeight?: number
  readonly parentHash?: string
  readonly next: string
  /** MIP-61's completed_nonce_height and completed_block_height; absent: none yet. */
  readonly completedNumber?: string
  readonly completedHeight?: number
  /** Started and not resolved, those that are aside included. */
  readonly open: number
  readonly parked: number
  /** Those that are aside, by the code that they wait with; absent: none. */
  readonly aside?: Readonly<Record<string, number>>
  /** Open numbers with `early`. */
  readonly toVerify: number
  readonly room: number
  /** `ordered`: by an operator, which outranks what is configured. */
  readonly maxOpen: {
    readonly most: number
    readonly configured: number
    readonly ordered?: { readonly by: string; readonly at: number }
  }
  /** No room, or paused: the cursor waits. */
  readonly full: boolean
  readonly paused?: { readonly by: string; readonly reason: string; readonly at: number }
  /** Numbers in gaps, by state, and since when the oldest is known. */
  readonly gaps: Readonly<Partial<Record<GapState, string>>>
  readonly oldestGapAt?: number
  /** What the watermark waits for. */
  readonly blockedBy?: { readonly number: string; readonly why: 'open' | 'waiting' | 'parked' | GapState; readonly code?: string }
  readonly backfill: { readonly left: number; readonly ordered: number }
  readonly targetHeight?: number
  readonly alarms: readonly StreamAlarm[]
  readonly counts: Readonly<Record<StreamCount, number>>
  /** When it was last told anything, ms since the epoch: what it knows is not newer. Absent: not by a release that notes it. */
  readonly toldAt?: number
}

/** unknown-completion: `unknownCompletions` is not empty. distrusted: a watermark from elsewhere is above what is known. crowded: half of the room for numbers that are aside is taken. */
export type StreamAlarm = 'forked' | 'vanished' | 'hidden' | 'unknown-completion' | 'distrusted' | 'crowded'
