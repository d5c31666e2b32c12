import type { BlockRef } from '../finality.ts'
import type { Order, GivenOrder } from '../order.ts'
import type { IntervalSet, PackedIntervals } from './intervals.ts'

/**
 * The source is a route of a native bridge, a Wormhole emitter, or a contract's logs (docs/concepts/streams.md).
 * Numbers are u64 as decimal strings, heights are blocks, times are ms since the epoch. The state stays below 104 KiB.
 */
export interface StreamState {
  readonly config: StreamConfig
  /** First number of the stream: the config, a checkpoint or an operator says that all lower numbers are resolved. */
  readonly first: string
  /** One above the highest known number. In a placed stream, at least the first number above the cursor's block. */
  readonly next: string
  readonly cursor?: BlockRef
  readonly open: readonly OpenNumber[]
  /** Numbers of transfers that are parked, or that wait for a reason of their own. `maxOpen` does not count them. */
  readonly outside: readonly OutsideNumbers[]
  readonly gaps: readonly Gap[]
  /** Numbers that the target has completed but the source does not show yet, so that their ids cannot be compared. */
  readonly unknownCompletions: IntervalSet
  /** Numbers that were resolved without a delivery. Cancelled and skipped numbers are dropped last. */
  readonly exceptions: readonly StreamException[]
  /** Heights of some numbers, fewer among old numbers. A higher number never has a lower height. */
  readonly marks: readonly (readonly [number: string, height: number])[]
  /** First block to read. A checkpoint or an operator vouches for earlier blocks. Absent: no blocks are read. */
  readonly start?: number
  /** Height of the checkpoint with which the stream began. The first scan must reach this height. */
  readonly base?: number
  readonly backfill: Backfill
  readonly target?: number
  readonly fork?: ForkAlarm
  readonly vanished?: { readonly upTo: string; readonly height: number; readonly at: number }
  readonly distrusted?: Distrusted
  readonly paused?: Order & { readonly at: number }
  readonly maxOpen: number
  readonly ordered?: { readonly by: string; readonly at: number }
  readonly counts: Readonly<Record<StreamCount, number>>
  readonly orders?: readonly GivenOrder[]
  /**
   * Lowest and highest number that other servers had and the spy did not send. The spy's next message, or a new
   * subscription, clears this field.
   */
  readonly missedBySpy?: { readonly from: string; readonly to: string; readonly since: number }
  readonly updatedAt?: number
}

export interface StreamConfig {
  /** `native-bridge:{source}:{target}` or `{bridge}:{source}:{emitter or contract}`. Contains the config's names. */
  readonly stream: string
  /** `{network id}/{contract}`: the contract that gives the numbers. Checkpoints of other origins are refused. */
  readonly origin: string
  readonly first: string
  readonly start?: number
  readonly maxOpen: number
  /** Numbers are places of logs (places.ts). In a read block, only numbers that an agent reports are transfers. */
  readonly placed?: true
}

export interface OpenNumber {
  readonly number: string
  readonly height?: number
  /**
   * The target completed the number before the source showed it. An agent must check the delivery by the transfer's id.
   */
  readonly early?: true
  /** Error code of a parked transfer that stays in `open` because it is `early`. `maxOpen` does not count it. */
  readonly parked?: string
  /** 1: `counts` may include this number (see `OutsideNumbers`). 0: `counts` may include it, but not as `completed`. */
  readonly counted?: 0 | 1
}

export interface OutsideNumbers {
  readonly code: string
  readonly waits?: true
  /**
   * Intervals close to each other were joined to save bytes, so some of the numbers are resolved, or belong to no log.
   */
  readonly condensed?: true
  /**
   * `counts.completed` may already include this many of the numbers. When they complete again, `counted` falls instead.
   * Absent: `counts` includes none of the numbers. 0: it may include some of them under other outcomes.
   */
  readonly counted?: number
  readonly packed: PackedIntervals
}

/**
 * `unasked`: no server has been asked yet. `unstarted`: a process has the message but cannot start the transfer.
 * `not-final`: the message is in no final block. `held`: Wormhole's Governor holds the message. `unobserved`: the
 * message is final, but no server has it. `hidden`: the number is in the source's table but in no log. `undone`: a
 * reorg removed the completion, or an operator wants the transfer again.
 */
export const gapStates = ['unasked', 'unstarted', 'not-final', 'held', 'unobserved', 'hidden', 'undone'] as const
export type GapState = (typeof gapStates)[number]

export interface Gap {
  readonly from: string
  readonly to: string
  readonly state: GapState
  /** Error code of an `unstarted` gap. `chain` is set if the error concerns one chain. */
  readonly code?: string
  readonly chain?: string
  /** The lowest block that can have a number of the gap. */
  readonly height?: number
  /** Numbers of this gap that `counts.completed` may include already. Set only after gaps were merged. */
  readonly counted?: number
  readonly at: number
}

export type Closing = 'rejected' | 'declined' | 'cancelled' | 'skipped'

export interface StreamException {
  readonly number: string
  readonly outcome: Closing
  readonly by?: string
  readonly reason: string
  readonly at: number
}

export type StreamCount = Closing | 'completed' | 'ignored' | 'undone' | 'forks' | 'unknown'

export interface Backfill {
  readonly left: IntervalSet
  /** Number of blocks that were ordered since the list was last empty, to measure the progress. */
  readonly ordered: number
  readonly by?: string
}

export interface Distrusted {
  readonly number: string
  readonly height?: number
  readonly by: string
  readonly at: number
}

/** The parent of the next block is not the last scanned block, which was final. */
export interface ForkAlarm {
  readonly height: number
  readonly known: string
  readonly shown: string
  readonly at: number
}

/**
 * Numbers in the source's final blocks. The agent has started their transfers, except those of `delivered` and
 * `ignored`.
 */
export interface Finding {
  readonly numbers: readonly (readonly [number: string, height?: number])[]
  readonly delivered?: IntervalSet
  /** Numbers that are not transfers, or whose target chain has no route. */
  readonly ignored?: IntervalSet
}

/** Each number in the logs of a range of blocks is in `numbers` or in `passed`. */
export interface Reading extends Finding {
  /**
   * Numbers that the agent passed over, because the stream did not want them (`isWanted`). If the stream now wants one
   * of them, it rejects the reading.
   */
  readonly passed: IntervalSet
}

export type StreamRequest =
  | (Reading & { readonly kind: 'scanned'; readonly from: number; readonly to: number; readonly parentHash: string; readonly hash: string })
  /** `missedBySpy`: numbers that the spy should have sent, but did not. */
  | (Finding & { readonly kind: 'seen'; readonly received?: true; readonly missedBySpy?: IntervalSet })
  | (Reading & { readonly kind: 'backfilled'; readonly from: number; readonly to: number })
  /** After a fork: reads all blocks above `block` again. Most nodes still have `block`. */
  | (Named & { readonly kind: 'reread'; readonly block: BlockRef })
  /**
   * `upTo`: the source's highest number at the final block `height`. `present`: numbers that the source's table has. In
   * a placed stream: numbers of logs whose transfers are neither under way nor over.
   */
  | { readonly kind: 'audited'; readonly upTo: string; readonly height: number; readonly present: IntervalSet }
  | (Pick<Gap, 'from' | 'to' | 'code' | 'chain'> & {
      readonly kind: 'classified'
      readonly state: 'not-final' | 'held' | 'unobserved' | 'unstarted'
    })
  /** Completions by any account in the target's final blocks. */
  | { readonly kind: 'completed'; readonly numbers: IntervalSet; readonly from: number; readonly to: number }
  | { readonly kind: 'undone'; readonly numbers: IntervalSet }
  | (Omit<StreamException, 'outcome' | 'at'> & { readonly kind: 'closed'; readonly outcome: Exclude<Closing, 'skipped'> })
  /** `waits`: the transfer waits for a reason of its own, so another transfer may take its place. */
  | { readonly kind: 'parked'; readonly number: string; readonly code: string; readonly waits?: true }
  | { readonly kind: 'unparked'; readonly number: string }
  | (Named & { readonly kind: 'skip' | 'unskip'; readonly number: string })
  | (Named & { readonly kind: 'backfill'; readonly from: number; readonly to: number })
  /** All numbers up to `number` count as resolved. No block up to `height` is read. */
  | (Named & { readonly kind: 'trust'; readonly number: string; readonly height?: number })
  | (Named & { readonly kind: 'setMaxOpen'; readonly maxOpen?: number })
  | { readonly kind: 'configured'; readonly stream: string; readonly origin: string; readonly maxOpen: number }
  | (Named & { readonly kind: 'pause' })
  | (Named & { readonly kind: 'resume' })

interface Named {
  readonly order?: Order
  readonly by?: string
  readonly reason?: string
}

export type RequestOf<Kind extends StreamRequest['kind']> = StreamRequest & { readonly kind: Kind }

/** `present`: the request has nothing new, or comes from an old view. `full`: there is no room, so nothing changed. */
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

export interface StreamView extends Pick<StreamState, 'next' | 'paused' | 'counts' | 'updatedAt'> {
  readonly stream: string
  /** First block of the next `scanned`. Absent: the scan begins at the chain's head (MIP-61's BOOTSTRAP). */
  readonly nextHeight?: number
  readonly parentHash?: string
  readonly completedNumber?: string
  readonly completedHeight?: number
  readonly open: number
  readonly parked: number
  readonly outside?: Readonly<Record<string, number>>
  readonly toVerify: number
  readonly room: number
  readonly maxOpen: { readonly most: number; readonly configured: number } & Pick<StreamState, 'ordered'>
  readonly full: boolean
  readonly gaps: Readonly<Partial<Record<GapState, string>>>
  readonly oldestGapAt?: number
  readonly blockedBy?: { readonly number: string; readonly why: 'open' | 'waiting' | 'parked' | GapState; readonly code?: string }
  readonly backfill: { readonly left: number; readonly ordered: number }
  readonly targetHeight?: number
  readonly alarms: readonly StreamAlarm[]
}

/**
 * `distrusted`: a watermark was too high. `crowded`: numbers outside the window take half of their space, or have been
 * condensed.
 */
export type StreamAlarm = 'forked' | 'vanished' | 'hidden' | 'unknown-completion' | 'distrusted' | 'crowded'

/** `id` has the chains' numbers, which never change. `name` has the config's names. */
export interface StreamName {
  readonly id: string
  readonly name: string
}

/** `all`: the names. Both methods accept a name or an id. They return any other text unchanged. */
export interface StreamNames {
  readonly all: readonly string[]
  idOf(nameOrId: string): string
  nameOf(nameOrId: string): string
}

export function createStreamNames(streams: readonly StreamName[]): StreamNames {
  const ids = new Map(streams.map(({ id, name }) => [name, id]))
  const names = new Map(streams.map(({ id, name }) => [id, name]))
  return { all: [...ids.keys()], idOf: (text) => ids.get(text) ?? text, nameOf: (text) => names.get(text) ?? text }
}
