import { expect, test } from 'vitest'
import { type LaneState, newLane } from '../../domain/lane/lane.ts'
import { carried } from '../../domain/lane/storage/pages.ts'
import { createLaneStatusCache } from '../../lanes/ledger/open-lanes.ts'
import type { TemporalClient } from '../../temporal/client/connection/client.ts'

const [lane, other] = ['evm-1:0xa', 'evm-1:0xb']

/** A lane with a balance of 900 wei that refused a call for 1,000 wei `secondsAgo`. */
function poor(secondsAgo: number, change: Partial<LaneState> = {}): LaneState {
  const at = Date.now()
  const observed = { latest: 5, finalized: 5, height: 100, hash: '0x1', balance: '900', at, leadAt: at, finalizedAt: 100 }
  const broke = { detail: 'balance 900 wei, needed 1000 wei', cost: '1000', at: at - secondsAgo * 1_000 }
  return { ...newLane({ lane, window: 3, fillAfterBlocks: 4 }), synced: true, next: 5, observed, broke, ...change }
}

function cacheOf(...states: readonly LaneState[]) {
  const handles = states.map((state) => ({ query: async () => state }))
  const getHandle = (id: string) => handles[id.endsWith(other) ? 1 : 0]
  return createLaneStatusCache({ workflow: { getHandle } } as unknown as TemporalClient, [lane, other].slice(0, states.length))
}

test('a minute after a lane could not pay for a call, it gets work on trial', async () => {
  const early = cacheOf(poor(55))
  expect([await early.status(lane), await early.open(), await early.onTrial()]).toEqual([
    { lane, open: false, why: 'funds', detail: 'balance 900 wei, needed 1000 wei' },
    [],
    false,
  ])
  const late = cacheOf(poor(60))
  expect([await late.status(lane), await late.open(), await late.onTrial()]).toEqual([{ lane, open: true, onTrial: true }, [lane], true])
})

test('a lane that an operator paused is not tried', async () => {
  const paused = poor(60, { paused: { kind: 'operator', reason: 'a look', by: 'ops' } })
  expect(await cacheOf(paused).status(lane)).toMatchObject({ open: false, why: 'paused' })
})

test('the lowest nonce counts although the answer of the ledger has it in a page', async () => {
  const attempt = { kind: 'call', gasLimit: '100', maxFee: '10', tip: '1' } as const
  const nonces = Array.from({ length: 200 }, (_, index) => index + 5)
  const entryOf = (nonce: number) => ({ nonce, grantedTo: '', maybeSent: true, sinceBlock: 0, claimedBlock: 0, attempts: [attempt] })
  const entries = Object.fromEntries(nonces.map((nonce) => [nonce, { ...entryOf(nonce), fill: 'operator' as const }]))
  const state = carried(poor(60, { next: 205, entries }))
  expect(state.entries).toEqual({})
  expect(await cacheOf(state).status(lane)).toMatchObject({ open: false, why: 'funds' })
})

test('if one lane can surely pay, the lanes together are not on trial', async () => {
  const { broke: _, ...rich } = poor(0)
  const both = cacheOf(poor(60), rich)
  expect([await both.open(), await both.onTrial()]).toEqual([[lane, other], false])
})
