import type { Order, GivenOrder } from '../order.ts'
import type { IntervalSet, PackedIntervals } from './intervals.ts'

/**
 * One numbered source of transfers (a route of a native bridge, a Wormhole emitter). MIP-61: docs/concepts/streams.md.
 * Numbers are u64 as decimal strings, heights are blocks, times are ms since the epoch.
 * Plain JSON below 104 KiB: only unresolved numbers are listed, and every list has a limit (gaps.ts).
 */
export interface StreamState {
  readonly config: StreamConfig
  /** All lower numbers are resolved, according to the config, a checkpoint or an operator. */
  readonly first: string
  /** One above the highest known number. Each number from `first` to here is open, in a gap, or resolved. */
  readonly next: string
  readonly cursor?: ScannedBlock
  /** Numbers that were started and are not resolved, ascending. */
  readonly open: readonly OpenNumber[]
  /** Started numbers that are parked, or wait for a reason that concerns only them. `maxOpen` does not count them. */
  readonly outside: readonly OutsideNumbers[]
  /** Numbers that were not seen, or are to be started again, ascending. */
  readonly gaps: readonly Gap[]
  /** Numbers completed on the target but not seen at the source. They stay unresolved: their ids cannot be compared. */
  readonly unknownCompletions: IntervalSet
  /** The latest numbers that were resolved without a delivery. `counts` has all. */
  readonly exceptions: readonly StreamException[]
  /** Heights of some numbers; of older numbers fewer are listed. A higher number never has a lower height. */
  readonly marks: readonly (readonly [number: string, height: number])[]
  /** First block to read. A checkpoint or an operator vouches for earlier ones. Absent: no blocks are read. */
  readonly start?: number
  /** Block of the checkpoint that the stream started from. The first scan must reach it, and then unsets this field. */
  readonly base?: number
  readonly backfill: Backfill
  /** Completions have been read up to this block of the target. */
  readonly target?: number
  readonly fork?: ForkAlarm
  /** The source's own count was below a number that its logs had shown. */
  readonly vanished?: { readonly upTo: string; readonly height: number; readonly at: number }
  /** A refused watermark: above the known numbers or the cursor. It stays until an acceptable one comes. */
  readonly distrusted?: Distrusted
  readonly paused?: Order & { readonly at: number }
  readonly maxOpen: number
  /** Author and time of the order that set `maxOpen`. Absent: the config sets it. */
  readonly ordered?: { readonly by: string; readonly at: number }
  readonly counts: Readonly<Record<StreamCount, number>>
  readonly orders?: readonly GivenOrder[]
  /** Messages that other servers had but the spy has not sent, since the spy's last message. Absent: none. */
  readonly missedBySpy?: { readonly from: string; readonly to: string; readonly since: number }
  readonly updatedAt?: number
}

export interface StreamConfig {
  /** `native-bridge:{source}:{target}`, `wormhole-token-bridge:{source}:{emitter}`, with names of the config. */
  readonly stream: string
  /** Owner of the numbers, `{network id}/{contract}`. Checkpoints of other origins are refused. */
  readonly origin: string
  /** Lowest possible number: 1 for a native bridge, 0 for an emitter. */
  readonly first: string
  /** First block to read. Absent: no blocks of the source are read, only a spy and the source's count. */
  readonly start?: number
  /** Maximum transfers that are neither resolved nor parked. */
  readonly maxOpen: number
}

/** A block that the scan of the source has read. */
export interface ScannedBlock {
  readonly height: number
  readonly hash: string
}

export interface OpenNumber {
  readonly number: string
  readonly height?: number
  /** The number was in `unknownCompletions` when it was seen. An agent must check by id whether it is delivered. */
  readonly early?: true
  /** Error code of a parked transfer that finds no room outside the window. It does not count towards `maxOpen`. */
  readonly parked?: string
}

/** Numbers outside the window that share a code. */
export interface OutsideNumbers {
  readonly code: string
  /** The transfers are not parked: they retry by themselves. */
  readonly waits?: true
  readonly packed: PackedIntervals
}

/**
 * unasked: no server was asked yet. unstarted: a process cannot start it. not-final: in no final block yet. held: by
 * Wormhole's Governor. unobserved: final, but no server has it. hidden: in the source's table, but in no log. undone:
 * its completion was reorganised away, or an operator wants it again.
 */
export const gapStates = ['unasked', 'unstarted', 'not-final', 'held', 'unobserved', 'hidden', 'undone'] as const
export type GapState = (typeof gapStates)[number]

export interface Gap {
  readonly from: string
  readonly to: string
  readonly state: GapState
  /** Only in `unstarted` gaps: the code of the reason, and the chain that causes it, if a chain does. */
  readonly code?: string
  readonly chain?: string
  /** None of the gap's numbers is in a block below this height. */
  readonly height?: number
  readonly at: number
}

/** How a number ends without a delivery: `skipped` and `cancelled` by an order, others by the check of a message. */
export type Closing = 'rejected' | 'declined' | 'cancelled' | 'skipped'

export interface StreamException {
  readonly number: string
  readonly outcome: Closing
  readonly by?: string
  readonly reason: string
  readonly at: number
}

export type StreamCount = Closing | 'completed' | 'ignored' | 'undone' | 'forks' | 'unknown'

/** Blocks below the live scan that have yet to be read. */
export interface Backfill {
  /** Block heights. */
  readonly left: IntervalSet
  /** Number of blocks ordered since the list was last empty. Progress is measured against this number. */
  readonly ordered: number
  readonly by?: string
}

export interface Distrusted {
  readonly number: string
  readonly height?: number
  readonly by: string
  readonly at: number
}

/** A node's next block does not have the last scanned block as its parent, although that block was final. */
export interface ForkAlarm {
  readonly height: number
  readonly known: string
  readonly shown: string
  readonly at: number
}

/** Numbers in final blocks of the source. All but those in `delivered` or `ignored` were started by the agent. */
export interface Finding {
  /** The height is absent if it is unknown, as from a spy. */
  readonly numbers: readonly (readonly [number: string, height?: number])[]
  /** Numbers that the target's finalized state shows as delivered. */
  readonly delivered?: IntervalSet
  /** Numbers that are not transfers, or go to a chain without a route. */
  readonly ignored?: IntervalSet
}

/** All numbers in the logs of a range of blocks: each is in `numbers` or in `passed`. */
export interface Reading extends Finding {
  /**
   * Numbers that the agent did not start, since its view wants none of them (`isWanted`). The stream rejects the
   * reading if it wants one of them.
   */
  readonly passed: IntervalSet
}

export type StreamRequest =
  /** Final blocks `from` … `to` of the live scan. Only this request raises the cursor. */
  | (Reading & { readonly kind: 'scanned'; readonly from: number; readonly to: number; readonly parentHash: string; readonly hash: string })
  /** Numbers found by a spy (`received`), in the source's table, or by an audit. The spy did not send `missedBySpy`. */
  | (Finding & { readonly kind: 'seen'; readonly received?: true; readonly missedBySpy?: IntervalSet })
  | (Reading & { readonly kind: 'backfilled'; readonly from: number; readonly to: number })
  /** Reads all blocks above `block` again, after a fork. A quorum of nodes still has `block`. */
  | (Named & { readonly kind: 'reread'; readonly block: ScannedBlock })
  /** The source's highest number is `upTo` at the final block `height`. `present`: numbers in its table. */
  | { readonly kind: 'audited'; readonly upTo: string; readonly height: number; readonly present: IntervalSet }
  /** Why the numbers `from` … `to` are in gaps. `code` and `chain` only with `unstarted`. */
  | (Pick<Gap, 'from' | 'to' | 'code' | 'chain'> & {
      readonly kind: 'classified'
      readonly state: 'not-final' | 'held' | 'unobserved' | 'unstarted'
    })
  /** Numbers that any account completed in the target's final blocks `from` … `to`. Known ones were compared by id. */
  | { readonly kind: 'completed'; readonly numbers: IntervalSet; readonly from: number; readonly to: number }
  /** The target's finalized state no longer shows these numbers as delivered. */
  | { readonly kind: 'undone'; readonly numbers: IntervalSet }
  | (Omit<StreamException, 'outcome' | 'at'> & { readonly kind: 'closed'; readonly outcome: Exclude<Closing, 'skipped'> })
  /** `waits`: not parked, but waits long for a reason that concerns only it. Another transfer gets its room. */
  | { readonly kind: 'parked'; readonly number: string; readonly code: string; readonly waits?: true }
  | { readonly kind: 'unparked'; readonly number: string }
  | (Named & { readonly kind: 'skip' | 'unskip'; readonly number: string })
  | (Named & { readonly kind: 'backfill'; readonly from: number; readonly to: number })
  /** A given watermark: numbers up to `number` are resolved, blocks up to `height` need no reading. */
  | (Named & { readonly kind: 'trust'; readonly number: string; readonly height?: number })
  /** Without `maxOpen` the config's value applies again. */
  | (Named & { readonly kind: 'setMaxOpen'; readonly maxOpen?: number })
  /** The fields that may change while the stream runs, from the config of a process that has just started. */
  | { readonly kind: 'configured'; readonly stream: string; readonly origin: string; readonly maxOpen: number }
  | (Named & { readonly kind: 'pause' })
  | (Named & { readonly kind: 'resume' })

/** Author and reason: in `order`, or next to the other fields as in some signals (`orderOf`). */
interface Named {
  readonly order?: Order
  readonly by?: string
  readonly reason?: string
}

export type RequestOf<Kind extends StreamRequest['kind']> = StreamRequest & { readonly kind: Kind }

/**
 * present: the request has an old view or nothing new, so use the view of the answer. full: there is no room, and
 * nothing changed. refused: the request is impossible.
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

/** A summary in a few hundred bytes, sent with every answer. For the lists, query the state. */
export interface StreamView extends Pick<StreamState, 'next' | 'paused' | 'counts' | 'updatedAt'> {
  readonly stream: string
  /** First block of the next `scanned` request. Absent: any block (BOOTSTRAP takes the head and backfills the rest). */
  readonly nextHeight?: number
  readonly parentHash?: string
  /** MIP-61's completed_nonce_height and completed_block_height. Absent: none yet. */
  readonly completedNumber?: string
  readonly completedHeight?: number
  /** Started and not resolved, including the numbers outside the window. */
  readonly open: number
  readonly parked: number
  /** Numbers outside the window, by code. Absent: none. */
  readonly outside?: Readonly<Record<string, number>>
  /** How many open numbers are `early`. */
  readonly toVerify: number
  readonly room: number
  /** `ordered`: an operator has set `most`, which outranks the config. */
  readonly maxOpen: { readonly most: number; readonly configured: number } & Pick<StreamState, 'ordered'>
  /** There is no room, or the stream is paused, so the cursor waits. */
  readonly full: boolean
  /** How many numbers are in gaps, by state. `oldestGapAt`: since when the oldest gap is known. */
  readonly gaps: Readonly<Partial<Record<GapState, string>>>
  readonly oldestGapAt?: number
  readonly blockedBy?: { readonly number: string; readonly why: 'open' | 'waiting' | 'parked' | GapState; readonly code?: string }
  readonly backfill: { readonly left: number; readonly ordered: number }
  readonly targetHeight?: number
  readonly alarms: readonly StreamAlarm[]
}

/** distrusted: a watermark was refused as too high. crowded: the space outside the window is half full. */
export type StreamAlarm = 'forked' | 'vanished' | 'hidden' | 'unknown-completion' | 'distrusted' | 'crowded'

/** A stream of the config. Its id has the chains' numbers, which never change; its name has the chains' names. */
export interface StreamName {
  readonly id: string
  readonly name: string
}

/** Translates between names and ids of streams. Both methods accept either. An unknown text is returned unchanged. */
export interface StreamNames {
  idOf(nameOrId: string): string
  nameOf(nameOrId: string): string
}

export function createStreamNames(streams: readonly StreamName[]): StreamNames {
  const ids = new Map(streams.map(({ id, name }) => [name, id]))
  const names = new Map(streams.map(({ id, name }) => [id, name]))
  return { idOf: (text) => ids.get(text) ?? text, nameOf: (text) => names.get(text) ?? text }
}
