import assert from 'node:assert/strict'
import { hasGap } from '../../domain/stream/gaps.ts'
import { outsideReason } from '../../domain/stream/outside-window.ts'
import { viewStream } from '../../domain/stream/reducer.ts'
import type { StreamState } from '../../domain/stream/stream.ts'
import type { LogChain } from './placed-blocks.ts'

/**
 * Throws if a gap is large, because only requests that name numbers make gaps, or if an open number is also in another
 * list.
 */
export function demandNothingTwice(stream: StreamState): void {
  const { gaps, open, exceptions } = stream
  for (const { from, to, state } of gaps) {
    assert(state === 'hidden' || state === 'undone', `a gap is ${state}`)
    assert(BigInt(to) - BigInt(from) < 16n, `a gap from ${from} to ${to}`)
  }
  for (const { number } of open) {
    assert(!hasGap(gaps, BigInt(number)) && outsideReason(stream, number) === undefined, `${number} is open and more`)
    assert(!exceptions.some((one) => one.number === number), `${number} is open and an exception`)
  }
  assert.equal(new Set(open.map(({ number }) => number)).size, open.length)
}

/** Throws if the watermark is not below every unresolved log. Logs that nodes once hid do not count. */
export function demandTrue(stream: StreamState, chain: LogChain, isOver: (id: string) => boolean): void {
  const { completedNumber = '0', completedHeight } = viewStream(stream)
  const { cursor } = stream
  if (cursor && chain.hashAt(cursor.height) !== cursor.hash) return
  const isSure = (id: string) => isOver(id) || chain.missed.has(id)
  for (const [number, id] of chain.all(chain.final))
    if (BigInt(number) <= BigInt(completedNumber)) assert(isSure(id), `watermark ${completedNumber} above ${number}, which is not resolved`)
  for (const [number, id] of completedHeight === undefined ? [] : chain.all(completedHeight))
    assert(isSure(id), `block height ${completedHeight} above open ${number}`)
}

/** Requests that may lower the watermark. Numbers above a lowered watermark may be counted again. */
export const reopening = new Set<string>(['undone', 'unskip', 'reread', 'audited', 'backfill'])
