import { expect, test } from 'vitest'
import { knowsAllNonces, withoutWorkerMs } from '../../domain/lane/entries.ts'
import { newLane } from '../../domain/lane/lane.ts'
import type { LaneRequest, Observation } from '../../domain/lane/messages.ts'
import { apply } from '../../domain/lane/reducer/reducer.ts'

const config = { lane: 'evm-1:0xa', window: 4, fillAfterBlocks: 10 }
const seen: Observation = { latest: 5, finalized: 5, pending: 5, height: 10, hash: '0x', balance: '1000000', claims: [], since: 0 }
const ask: LaneRequest = {
  ...{ id: 'a', owner: { intentId: 'w/1', callHash: '0x1' } },
  kind: 'grant',
  attempt: { kind: 'call', gasLimit: '1', maxFee: '1', tip: '1' },
}
const after = (observe: Observation, ...requests: LaneRequest[]) => apply(newLane(config), { observe, requests }, 0).state

test('a ledger knows all nonces only if it granted each one that is not final', () => {
  expect(knowsAllNonces(newLane(config), 0)).toBe(false)
  expect(knowsAllNonces(after(seen), 0)).toBe(true)
  expect(knowsAllNonces(after(seen, ask), 0)).toBe(true)
  expect(knowsAllNonces(after({ ...seen, pending: 6 }), 0), 'a nonce of an earlier ledger in the pool').toBe(false)
  expect(knowsAllNonces(after({ ...seen, finalized: 4 }), 0), 'a nonce of an earlier ledger in a block that is not final').toBe(false)
})

test('a process whose clock is hours behind cannot rely on an old report', () => {
  const reported = apply(after(seen), { observe: { ...seen, height: 12 }, requests: [] }, 8 * 3_600_000).state
  expect(knowsAllNonces(reported, 8 * 3_600_000)).toBe(true)
  expect(knowsAllNonces(reported, 6 * 3_600_000)).toBe(false)
})

test('a ledger that was restored from a copy lacks later nonces until a process reports', () => {
  const restored = after(seen, ask)
  const later = withoutWorkerMs + 1
  expect(knowsAllNonces(restored, withoutWorkerMs)).toBe(true)
  expect(knowsAllNonces(restored, later)).toBe(false)
  const observe = { ...seen, pending: 7, height: 11 }
  expect(knowsAllNonces(apply(restored, { observe, requests: [] }, later).state, later)).toBe(false)
  const settled = { ...seen, latest: 7, finalized: 7, pending: 7, height: 12 }
  expect(knowsAllNonces(apply(restored, { observe: settled, requests: [] }, later).state, later)).toBe(true)
})
