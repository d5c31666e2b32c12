import { addInterval, type IntervalSet } from '../../domain/stream/intervals.ts'
import type { Reading, StreamConfig } from '../../domain/stream/stream.ts'

/** A block of the source of a StreamModel. */
export interface SourceBlock {
  readonly hash: string
  /** Number and the id of its transfer: a fork may give a number to another transfer. */
  readonly numbers: readonly (readonly [number: number, id: string])[]
}

/** An agent's reading of a range of them. */
export type Read = Pick<Reading, 'passed'> & { readonly numbers: (readonly [string, number])[] }

export const config: StreamConfig = { stream: 'native-bridge:a:b', origin: '1/0xaa', first: '1', start: 0, maxOpen: 4 }

/** Intervals of single numbers. */
export const setOf = (numbers: Iterable<number>): IntervalSet =>
  [...numbers].reduce<IntervalSet>((set, number) => addInterval(set, String(number)), [])
