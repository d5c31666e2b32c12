import { addInterval, type IntervalSet } from '../../domain/stream/intervals.ts'
import type { StreamConfig } from '../../domain/stream/stream.ts'

export interface SourceBlock {
  readonly hash: string
  /** Numbers in the block, with the ids of their transfers. A fork may give a number to another transfer. */
  readonly numbers: readonly (readonly [number: number, id: string])[]
}

export const config: StreamConfig = { stream: 'native-bridge:a:b', origin: '1/0xaa', first: '1', start: 0, maxOpen: 4 }

export const setOf = (numbers: Iterable<number>): IntervalSet =>
  [...numbers].reduce<IntervalSet>((set, number) => addInterval(set, String(number)), [])
