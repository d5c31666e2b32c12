import { describe, expect, test } from 'vitest'
import { type LaneState, newLane } from '../../domain/lane/lane.ts'
import type { ApplyRequest, Observation } from '../../domain/lane/messages.ts'
import { apply } from '../../domain/lane/reducer/reducer.ts'
import { view } from '../../domain/lane/view.ts'
import { owner } from './lane-bench.ts'

const config = { lane: 'evm-1:0xa', window: 8, fillAfterBlocks: 10 }
const at = (latest: number, height: number, more: Partial<Observation> = {}): ApplyRequest => ({
  observe: { latest, finalized: latest, height, hash: '0x', balance: String(10n ** 18n), claims: [], since: 1, ...more },
  requests: [],
})
const granted = (state: LaneState, name: string): LaneState => {
  const attempt = { kind: 'call', gasLimit: '1000', maxFee: '100', tip: '1' } as const
  return apply(state, { requests: [{ kind: 'grant', id: name, owner: owner(name), attempt }] }, 0).state
}
const synced = apply(newLane(config), at(0, 1, { pending: 0 }), 0).state

describe('nonces that a ledger did not give', () => {
  test('nonces that the ledger granted or took back are not forgotten ones', () => {
    const busy = granted(granted(synced, 'a'), 'b')
    expect(busy.next).toBe(2)
    expect(view(apply(busy, at(1, 2, { pending: 2 }), 5).state)).not.toHaveProperty('forgotten')
  })

  test("nonces above the ledger's own, in blocks and in the pool, are forgotten ones, with a time", () => {
    const restored = apply(granted(synced, 'a'), at(3, 2, { pending: 5 }), 7).state
    expect(view(restored).forgotten).toEqual([{ from: 1, to: 5, at: 7 }])
    // The ledger's own nonces come first, then nonces that a stranger used.
    const later = granted(apply(restored, at(5, 3), 8).state, 'b')
    expect(view(apply(later, at(7, 4), 9).state).forgotten).toEqual([
      { from: 1, to: 5, at: 7 },
      { from: 6, to: 7, at: 9 },
    ])
  })

  test('nonces that were returned and used since are forgotten ones: a newer ledger had granted them', () => {
    const busy = granted(granted(granted(synced, 'a'), 'b'), 'c')
    const { grantedTo } = busy.entries[1]!
    const release = { kind: 'release', id: 'r', intentId: owner('b').intentId, grantedTo } as const
    const before = apply(busy, { requests: [release] }, 1).state
    expect(before.entries[1]).toMatchObject({ fill: 'released', attempts: [] })
    const mined = apply(before, at(3, 2, { pending: 3 }), 7).state
    expect(view(mined).forgotten).toEqual([{ from: 1, to: 2, at: 7 }])
    expect(view(apply(mined, at(3, 3), 8).state).forgotten).toEqual([{ from: 1, to: 2, at: 7 }])
    const { era, granted: count, next, finalized } = view(granted(before, 'd'))
    expect(view(apply(before, { requests: [], known: { era, granted: count, next, finalized } }, 4).state).forgotten).toEqual([
      { from: 1, to: 2, at: 4 },
    ])
  })

  test('nonces that a process knows from a newer ledger are forgotten ones', () => {
    const before = granted(synced, 'a')
    const { era, granted: count, next, finalized } = view(granted(granted(before, 'b'), 'c'))
    const { state } = apply(before, { requests: [], known: { era, granted: count, next, finalized } }, 4)
    expect(view(state).forgotten).toEqual([{ from: 1, to: 3, at: 4 }])
  })

  test('adjacent forgotten nonces make one range with the latest time, and take bounded room', () => {
    expect(view(apply(apply(synced, at(2, 2), 5).state, at(3, 3), 6).state).forgotten).toEqual([{ from: 0, to: 3, at: 6 }])
    let state = synced
    for (let count = 1; count <= 40; count++) state = granted(apply(state, at(2 * count, 1 + count), count).state, `a${count}`)
    const { forgotten = [] } = view(state)
    expect([forgotten.length, forgotten.at(-1)]).toEqual([32, { from: 79, to: 80, at: 40 }])
  })

  test('all earlier nonces of a key in use are forgotten ones of a new ledger', () => {
    expect(view(apply(newLane(config), at(9, 1, { pending: 9 }), 3).state).forgotten).toEqual([{ from: 0, to: 9, at: 3 }])
  })
})
