import { type Check, fields, listOf, object, oneOf, optional, rule, text, whole } from '../field-checks.ts'
import { defined } from '../defined.ts'
import type { BlockRef } from '../finality.ts'
import { trusted } from './source.ts'
import { hash, u64, words } from './request.ts'
import { clip, limits } from './gaps.ts'
import { initialStream, completedHeight, completedNumber } from './reducer.ts'
import type { StreamConfig, StreamException, StreamState } from './stream.ts'

/** A copy outside Temporal, which shortens the backfill after Temporal was wiped. */
export interface StreamCheckpoint {
  readonly version: 1
  readonly stream: string
  readonly origin: string
  readonly completedNumber?: string
  readonly completedHeight?: number
  /** The last block that the live scan has read. If a fork has removed this block, the checkpoint is worthless. */
  readonly cursor?: BlockRef
  readonly exceptions: readonly StreamException[]
}

export function checkpointOf(state: StreamState): StreamCheckpoint {
  const number = completedNumber(state)
  return {
    version: 1,
    stream: state.config.stream,
    origin: state.config.origin,
    ...defined({ completedNumber: number, completedHeight: completedHeight(state), cursor: state.cursor }),
    exceptions: state.exceptions.filter((one) => number === undefined || BigInt(one.number) > BigInt(number)),
  }
}

/**
 * State of a stream that begins with a checkpoint (MIP-61's BOOTSTRAP). Throws an Error that names the malformed field.
 */
export function fromCheckpoint(config: StreamConfig, value: unknown): StreamState {
  assertCheckpoint(value, config.stream)
  // In another contract or network, the same numbers belong to other transfers.
  if (value.origin !== config.origin) throw new Error(`origin: must be ${config.origin}`)
  const { completedNumber: number, completedHeight: height, cursor, exceptions } = value
  const base = cursor && { base: cursor.height }
  const state = { ...initialStream(config), ...base, exceptions: exceptions.slice(-limits.exceptions).map(clipped) }
  if (number !== undefined) return trusted(state, { number, by: 'checkpoint', ...defined({ height }) }).state
  return height === undefined || state.start === undefined ? state : { ...state, start: Math.max(state.start, height + 1) }
}

function clipped({ number, outcome, by, reason, at }: StreamException): StreamException {
  return { number, outcome, ...(by !== undefined && { by: clip(by) }), reason: clip(reason), at }
}

const exception = fields({
  number: u64,
  outcome: oneOf('rejected', 'declined', 'cancelled', 'skipped'),
  by: optional(words),
  reason: words,
  at: whole,
})

export function assertCheckpoint(value: unknown, stream: string): asserts value is StreamCheckpoint {
  object({
    version: rule((version) => version === 1, '1'),
    stream: oneOf(stream),
    origin: text(256),
    completedNumber: optional(u64),
    completedHeight: optional(whole),
    cursor: optional(fields({ height: whole, hash })),
    exceptions: listOf(exception, 1_000),
  } satisfies Record<keyof StreamCheckpoint, Check>)(value, '')
}
