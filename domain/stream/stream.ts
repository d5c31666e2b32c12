import type { Order, GivenOrder } from '../order.ts'
import type { IntervalSet, PackedIntervals } from './intervals.ts'

/**
 * State of one numbered source: a route of a native bridge, a Wormhole emitter, or the logs of a contract
 * (docs/concepts/streams.md). Numbers are u64 as decimal strings, heights are blocks, times are ms since the epoch. The
 * state stays below 104 KiB.
 */
export interface StreamState {
  readonly config: StreamConfig
  /** All lower numbers are resolved: the config, a checkpoint or an operator says so. */
  readonly first: string
  /**
   * One above the highest known number. Each number from `first` to below `next` is open, in a gap, or resolved. In a
   * placed stream, `next` is the first number above the cursor's block, or one above a later known number. Lower
   * numbers may then be unread.
   */
  readonly next: string
  readonly cursor?: ScannedBlock
  readonly open: readonly OpenNumber[]
  /**
   * Numbers whose transfers have started and are parked, or wait for a reason of their own. `maxOpen` does not count
   * them.
   */
  readonly outside: readonly OutsideNumbers[]
  readonly gaps: readonly Gap[]
  /**
   * Numbers that were completed before the source showed them. They stay unresolved until their ids can be compared.
   */
  readonly unknownCompletions: IntervalSet
  /**
   * The latest numbers that were resolved without a delivery. Cancelled and skipped numbers stay longest. `counts` has
   * all.
   */
  readonly exceptions: readonly StreamException[]
  /** Heights of some numbers. Older numbers have fewer marks. A higher number never has a lower height. */
  readonly marks: readonly (readonly [number: string, height: number])[]
  /** First block to read. A checkpoint or an operator vouches for earlier blocks. Absent: no blocks are read. */
  readonly start?: number
  /** Height of the checkpoint that the stream began with. The first scan must reach it. */
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
  /** Messages that other servers had, and that the spy did not send. Cleared by the spy's next message. */
  readonly missedBySpy?: { readonly from: string; readonly to: string; readonly since: number }
  readonly updatedAt?: number
}

export interface StreamConfig {
  /** `native-bridge:{source}:{target}` or `{bridge}:{source}:{emitter or contract}`, with the names of the config. */
  readonly stream: string
  /** `{network id}/{contract}`, the owner of the numbers. Checkpoints of other origins are refused. */
  readonly origin: string
  readonly first: string
  readonly start?: number
  readonly maxOpen: number
  /** Numbers are places of logs (places.ts). In a read block, only the numbers that an agent reports are transfers. */
  readonly placed?: true
}

export interface ScannedBlock {
  readonly height: number
  readonly hash: string
}

export interface OpenNumber {
  readonly number: string
  readonly height?: number
  /** The number was completed before it was seen (`unknownCompletions`). An agent must check the delivery by its id. */
  readonly early?: true
  /** Error code of a parked transfer that stays in `open` because it is `early`. `maxOpen` does not count it. */
  readonly parked?: string
  /**
   * `counts` may already include this number (`OutsideNumbers`). 0: not as `completed`, but maybe as another outcome.
   */
  readonly counted?: 0 | 1
}

export interface OutsideNumbers {
  readonly code: string
  /** The transfers are not parked. They retry by themselves. */
  readonly waits?: true
  /** Some of the numbers are resolved, because there was no room for more intervals (`boundedOutside`). */
  readonly condensed?: true
  /**
   * At most this many of the numbers are resolved, and `counts` had them before the intervals were joined. The state
   * does not show which numbers these are. Completing any number therefore lowers `counted` first, so that no number is
   * counted twice. At 0, each number that is left may still be counted as an exception. Absent: `counts` has none of
   * the numbers.
   */
  readonly counted?: number
  readonly packed: PackedIntervals
}

/**
 * `unasked`: no server was asked yet. `unstarted`: a process has the message but cannot start the transfer.
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
  /** Only for `unstarted`: the error code of the reason. `chain` is set if the reason concerns one chain. */
  readonly code?: string
  readonly chain?: string
  /** No number of the gap is in a lower block. */
  readonly height?: number
  /** As in `OutsideNumbers`. Set after two gaps were merged. */
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

/** The next block of a node has another parent than the last scanned block, although the scanned block was final. */
export interface ForkAlarm {
  readonly height: number
  readonly known: string
  readonly shown: string
  readonly at: number
}

/**
 * Numbers in final blocks of the source. The agent has started the transfers of all except `delivered` and `ignored`.
 */
export interface Finding {
  readonly numbers: readonly (readonly [number: string, height?: number])[]
  readonly delivered?: IntervalSet
  /** Numbers that are not transfers, or whose target chain has no route. */
  readonly ignored?: IntervalSet
}

/** All numbers in the logs of a range of blocks, each in `numbers` or in `passed`. */
export interface Reading extends Finding {
  /**
   * Numbers that the agent does not want, according to its view (`isWanted`). If the stream wants one of them, it
   * rejects the reading.
   */
  readonly passed: IntervalSet
}

export type StreamRequest =
  | (Reading & { readonly kind: 'scanned'; readonly from: number; readonly to: number; readonly parentHash: string; readonly hash: string })
  /**
   * Numbers from a spy (`received`), from an audit or from the source's table. `missedBySpy`: the spy did not send
   * these.
   */
  | (Finding & { readonly kind: 'seen'; readonly received?: true; readonly missedBySpy?: IntervalSet })
  | (Reading & { readonly kind: 'backfilled'; readonly from: number; readonly to: number })
  /** Reads all blocks above `block` again after a fork. Most nodes still have `block`. */
  | (Named & { readonly kind: 'reread'; readonly block: ScannedBlock })
  /**
   * `upTo`: the source's highest number at the final block `height`. `present`: the numbers in the source's table. In a
   * placed stream, `present` are logs in read blocks whose transfers are neither under way nor over.
   */
  | { readonly kind: 'audited'; readonly upTo: string; readonly height: number; readonly present: IntervalSet }
  | (Pick<Gap, 'from' | 'to' | 'code' | 'chain'> & {
      readonly kind: 'classified'
      readonly state: 'not-final' | 'held' | 'unobserved' | 'unstarted'
    })
  /**
   * Numbers that any account completed in these final blocks of the target. If the stream knows a number's transfer,
   * the completion has the id of this transfer.
   */
  | { readonly kind: 'completed'; readonly numbers: IntervalSet; readonly from: number; readonly to: number }
  | { readonly kind: 'undone'; readonly numbers: IntervalSet }
  | (Omit<StreamException, 'outcome' | 'at'> & { readonly kind: 'closed'; readonly outcome: Exclude<Closing, 'skipped'> })
  /** `waits`: the transfer waits for a reason that concerns it alone, and leaves its place to another transfer. */
  | { readonly kind: 'parked'; readonly number: string; readonly code: string; readonly waits?: true }
  | { readonly kind: 'unparked'; readonly number: string }
  | (Named & { readonly kind: 'skip' | 'unskip'; readonly number: string })
  | (Named & { readonly kind: 'backfill'; readonly from: number; readonly to: number })
  /** Numbers up to `number` are resolved, and blocks up to `height` need no reading. */
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

/** `present`: the request came from an old view or had nothing new. `full`: there is no room, and nothing changed. */
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
  /** The first block of the next `scanned`. Absent: the scan begins at the chain's head (BOOTSTRAP). */
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

/** `distrusted`: a watermark was too high. `crowded`: the space for numbers outside the window is half full. */
export type StreamAlarm = 'forked' | 'vanished' | 'hidden' | 'unknown-completion' | 'distrusted' | 'crowded'

/** `id` has the chains' numbers, which never change. `name` has the chains' names in the config. */
export interface StreamName {
  readonly id: string
  readonly name: string
}

/** Both methods accept a name or an id, and return an unknown text unchanged. */
export interface StreamNames {
  idOf(nameOrId: string): string
  nameOf(nameOrId: string): string
}

export function createStreamNames(streams: readonly StreamName[]): StreamNames {
  const ids = new Map(streams.map(({ id, name }) => [name, id]))
  const names = new Map(streams.map(({ id, name }) => [id, name]))
  return { idOf: (text) => ids.get(text) ?? text, nameOf: (text) => names.get(text) ?? text }
}
