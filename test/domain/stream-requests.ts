import { intervalsOutside } from '../../domain/stream/outside-window.ts'
import { takeNumbers } from '../../domain/stream/intervals.ts'
import { pick } from './pick.ts'
import { applyToStream } from '../../domain/stream/reducer.ts'
import type { StreamAnswer, StreamConfig, StreamRequest, StreamState } from '../../domain/stream/stream.ts'

export const config: StreamConfig = { stream: 'native-bridge:a:b', origin: '1/0xaa', first: '1', start: 0, maxOpen: 10 }

export function tell(state: StreamState, ...requests: StreamRequest[]): StreamState {
  return applyToStream(state, { requests }, 1_000).state
}

export function answered(state: StreamState, request: StreamRequest): StreamAnswer | undefined {
  return applyToStream(state, { requests: [request] }, 1_000).response.answers[0]
}

/** The scan of one block, whose hash follows from the height. */
export function block(height: number, ...numbers: number[]): StreamRequest {
  const found = numbers.map((number) => [String(number), height] as const)
  return { kind: 'scanned', from: height, to: height, parentHash: `h${height - 1}`, hash: `h${height}`, numbers: found, passed: [] }
}

export function completed(from: number, to = from): StreamRequest {
  return { kind: 'completed', numbers: [[String(from), String(to)]], from: 1, to: 1 }
}

export function audited(upTo: number, height: number, ...present: [from: number, to: number][]): StreamRequest {
  return { kind: 'audited', upTo: String(upTo), height, present: present.map(([from, to]) => [String(from), String(to)]) }
}

export function skip(number: number): StreamRequest {
  return { kind: 'skip', number: String(number), by: 'ops', reason: 'x' }
}

/** Parks an open number or releases a parked one. Undefined if there are no such numbers. */
export function parkOrRelease(state: StreamState, which: number): StreamRequest | undefined {
  const outside = intervalsOutside(state).flatMap((intervals) => takeNumbers(intervals, 0n, 1_000))
  const all = [...state.open, ...outside.map((number) => ({ number: String(number), why: true }))]
  const one = pick(all, which)
  if (!one) return undefined
  const isParked = 'why' in one || one.parked !== undefined
  if (isParked && which % 2 === 1) return { kind: 'unparked', number: one.number }
  const waits = which % 5 > 2 && { waits: true as const }
  return { kind: 'parked', number: one.number, code: which % 3 === 0 ? 'BRIDGE_CAP' : 'WRAPPER_MISSING', ...waits }
}
