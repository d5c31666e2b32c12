import type { Order, GivenOrder } from '../order.ts'
import type { IntervalSet, PackedIntervals } from './intervals.ts'

/**
 * The state of one numbered source of transfers: a route of a native bridge, or a Wormhole emitter
 * (docs/concepts/streams.md). Numbers are u64 as decimal strings, heights are blocks, times are ms since the epoch. The
 * state is plain JSON below 104 KiB, because it lists only unresolved numbers and every list has a limit (gaps.ts).
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
  /** Started numbers that are parked, or wait for a reason of their own. `maxOpen` does not count them. */
  readonly outside: readonly OutsideNumbers[]
  /** Numbers that were not seen, or are to be started again, ascending. */
  readonly gaps: readonly Gap[]
  /** Numbers completed before the source showed them. They stay unresolved, because no ids can be compared. */
  readonly unknownCompletions: IntervalSet
  /** The latest numbers that were resolved without a delivery. `counts` counts all of them. */
  readonly exceptions: readonly StreamException[]
  /** Heights of some numbers, fewer of the older ones. A higher number never has a lower height. */
  readonly marks: readonly (readonly [number: string, height: number])[]
  /** First block to read. A checkpoint or an operator vouches for earlier blocks. Absent: no blocks are read. */
  readonly start?: number
  /** Height of the checkpoint that the stream began with. The first scan must reach it, which removes the field. */
  readonly base?: number
  readonly backfill: Backfill
  /** Completions have been read up to this block of the target. */
  readonly target?: number
  readonly fork?: ForkAlarm
  /** The source's own count was below a number that its logs had shown. */
  readonly vanished?: { readonly upTo: string; readonly height: number; readonly at: number }
  /** A refused watermark: above the known numbers or the cursor. It is kept until a watermark is accepted. */
  readonly distrusted?: Distrusted
  readonly paused?: Order & { readonly at: number }
  readonly maxOpen: number
  /** Author and time of the order that set `maxOpen`. Absent: the config sets it. */
  readonly ordered?: { readonly by: string; readonly at: number }
  readonly counts: Readonly<Record<StreamCount, number>>
  readonly orders?: readonly GivenOrder[]
  /** Messages that the spy has not sent since its last message, although other servers had them. Absent: none. */
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
  /** First block to read. Absent: the stream reads a spy and the source's count, but no blocks. */
  readonly start?: number
  /** Maximum transfers that are neither resolved nor parked. */
  readonly maxOpen: number
}

export interface ScannedBlock {
  readonly height: number
  readonly hash: string
}

export interface OpenNumber {
  readonly number: string
  readonly height?: number
  /** The number was completed before it was seen (`unknownCompletions`). An agent must check its delivery by id. */
  readonly early?: true
  /** Error code of a parked transfer. Its number is `early`, so it stays in `open`, and `maxOpen` does not count it. */
  readonly parked?: string
}

export interface OutsideNumbers {
  readonly code: string
  /** The transfers are not parked, but retry by themselves. */
  readonly waits?: true
  /** Some of the numbers are resolved, because there was no room for more intervals (`boundedOutside`). */
  readonly condensed?: true
  readonly packed: PackedIntervals
}

/**
 * `unasked`: no server was asked yet. `unstarted`: a process has the message but cannot start the transfer.
 * `not-final`: the message is in no final block yet. `held`: Wormhole's Governor holds the message. `unobserved`: the
 * message is final, but no server has it. `hidden`: the number is in the source's table, but in no log. `undone`: the
 * completion was reorganised away, or an operator wants the transfer again.
 */
export const gapStates = ['unasked', 'unstarted', 'not-final', 'held', 'unobserved', 'hidden', 'undone'] as const
export type GapState = (typeof gapStates)[number]

export interface Gap {
  readonly from: string
  readonly to: string
  readonly state: GapState
  /** Only in `unstarted` gaps: the code of the reason, and the chain if the reason concerns one chain. */
  readonly code?: string
  readonly chain?: string
  /** None of the gap's numbers is in a block below this height. */
  readonly height?: number
  readonly at: number
}

/** How a number ends without a delivery: `skipped` and `cancelled` by an order, others by the message's check. */
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

/** A node's next block names another parent than the last scanned block, although that block was final. */
export interface ForkAlarm {
  readonly height: number
  readonly known: string
  readonly shown: string
  readonly at: number
}

/** Numbers in final blocks of the source. All but those in `delivered` or `ignored` were started by the agent. */
export interface Finding {
  /** The height is absent if the block is unknown, for example if a spy sent the message. */
  readonly numbers: readonly (readonly [number: string, height?: number])[]
  /** Numbers that the target's finalized state shows as delivered. */
  readonly delivered?: IntervalSet
  /** Numbers that are not transfers, or go to a chain without a route. */
  readonly ignored?: IntervalSet
}

/** All numbers in the logs of a range of blocks. Each number is in `numbers` or in `passed`. */
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
  /** Numbers found by a spy (`received`), an audit or the source's table. The spy did not send `missedBySpy`. */
  | (Finding & { readonly kind: 'seen'; readonly received?: true; readonly missedBySpy?: IntervalSet })
  | (Reading & { readonly kind: 'backfilled'; readonly from: number; readonly to: number })
  /** Orders that all blocks above `block` are read again after a fork. A quorum of nodes still has `block`. */
  | (Named & { readonly kind: 'reread'; readonly block: ScannedBlock })
  /** The source's highest number is `upTo` at the final block `height`. `present`: numbers in its table. */
  | { readonly kind: 'audited'; readonly upTo: string; readonly height: number; readonly present: IntervalSet }
  /** Why the numbers `from` … `to` are in gaps. `code` and `chain` only with `unstarted`. */
  | (Pick<Gap, 'from' | 'to' | 'code' | 'chain'> & {
      readonly kind: 'classified'
      readonly state: 'not-final' | 'held' | 'unobserved' | 'unstarted'
    })
  /** Numbers that any account completed in these final blocks of the target. Ids of known numbers were compared. */
  | { readonly kind: 'completed'; readonly numbers: IntervalSet; readonly from: number; readonly to: number }
  /** The target's finalized state no longer shows these numbers as delivered. */
  | { readonly kind: 'undone'; readonly numbers: IntervalSet }
  | (Omit<StreamException, 'outcome' | 'at'> & { readonly kind: 'closed'; readonly outcome: Exclude<Closing, 'skipped'> })
  /** `waits`: not parked, but waiting long for a reason of its own. Another transfer gets its room. */
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
  /** First block of the next `scanned` request. Absent: the scan begins at the head (BOOTSTRAP). */
  readonly nextHeight?: number
  readonly parentHash?: string
  /** MIP-61's completed_nonce_height and completed_block_height. Absent: none yet. */
  readonly completedNumber?: string
  readonly completedHeight?: number
  /** Started and not resolved, including the numbers outside the window. */
  readonly open: number
  readonly parked: number
  readonly outside?: Readonly<Record<string, number>>
  /** How many open numbers are `early` (`OpenNumber`). */
  readonly toVerify: number
  readonly room: number
  /** `ordered`: an operator has set `most`, which outranks the config. */
  readonly maxOpen: { readonly most: number; readonly configured: number } & Pick<StreamState, 'ordered'>
  /** The cursor waits, because there is no room or the stream is paused. */
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
