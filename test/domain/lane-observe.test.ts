import { inFlight } from '../../domain/lane/entries.ts'
import { blocksWaited, view } from '../../domain/lane/view.ts'
import { Bench, bump, nonceOf } from './lane-bench.ts'
import { describe, expect, test } from 'vitest'

describe('observe', () => {
  test('entries end at finality, not at inclusion', () => {
    const lane = new Bench()
    for (const name of ['a', 'b']) lane.grant(name)
    lane.observe({ latest: 7, finalized: 6, height: 101 })
    expect(Object.keys(lane.state.entries)).toEqual(['6'])
    expect(inFlight(lane.state)).toBe(0)
  })

  test('a process that lags only claims nonces', () => {
    const lane = new Bench()
    lane.grant('a')
    lane.grant('b')
    lane.observe({ height: 103, latest: 6 })
    lane.observe({ height: 102, latest: 5, claims: [5, 6] })
    expect(lane.state.observed).toMatchObject({ height: 103, latest: 6 })
    expect(lane.state.entries[6]?.claimedBlock).toBe(102)
    // An entry in a block does not age.
    expect(lane.state.entries[5]?.claimedBlock).toBe(0)
    lane.observe({ height: 101, claims: [5, 6] })
    expect(lane.state.entries[6]?.claimedBlock).toBe(102)
  })

  test('the count of blocks that the lowest nonce was driven begins anew after a raise or a rollback', () => {
    const lane = new Bench()
    lane.grant('a')
    lane.grant('b')
    const waited = () => Object.values(lane.state.entries).map((entry) => blocksWaited(entry, view(lane.state)))
    lane.observe({ height: 102, claims: [5, 6] })
    lane.observe({ height: 103, claims: [6] })
    expect(waited()).toEqual([2, 0])
    lane.observe({ height: 104, claims: [5, 6] })
    lane.attempt(5, 1, bump)
    lane.observe({ height: 106, claims: [5, 6] })
    expect(waited()).toEqual([2, 0])
    lane.observe({ height: 107, latest: 6, claims: [6] })
    lane.observe({ height: 109, latest: 6, claims: [6] })
    expect(waited()).toEqual([0, 2])
    lane.observe({ height: 110, latest: 5, claims: [5, 6] })
    lane.observe({ height: 111, latest: 5, claims: [5, 6] })
    expect(waited()).toEqual([1, 0])
  })

  test('a height that nobody else reaches is forgotten after a minute, and the lane works on', () => {
    const lane = new Bench()
    lane.now = 1_000
    lane.grant('a')
    lane.observe({ height: 1_000_000_000, claims: [5] })
    lane.grant('b')
    lane.now += 60_000
    lane.observe({ height: 101, latest: 6, claims: [] })
    expect(lane.state.observed).toMatchObject({ height: 1_000_000_000, latest: 5 })
    lane.now += 1
    lane.observe({ height: 102 })
    expect(lane.state.observed).toMatchObject({ height: 102, latest: 6 })
    expect(lane.state.next).toBe(7)
    for (const height of [104, 106]) lane.observe({ height })
    expect(lane.orders).toEqual([[6, 'orphaned']])
  })

  test('a node that forgot what was final is not believed', () => {
    const lane = new Bench()
    lane.grant('a')
    lane.observe({ latest: 6, finalized: 6, height: 101 })
    lane.observe({ latest: 5, finalized: 5, height: 102 })
    expect(lane.state).toMatchObject({ next: 6, entries: {}, observed: { latest: 6, finalized: 6 } })
  })

  test('a false report of a node leaves a ledger that works, step by step', () => {
    const lane = new Bench()
    lane.observe({ latest: 1_000_000_000, height: 101 })
    lane.observe({ latest: 5, height: 102 })
    expect(Object.keys(lane.state.entries)).toHaveLength(1_000)
    lane.observe({ latest: 1_005, finalized: 1_005, height: 103 })
    expect(Object.keys(lane.state.entries)).toEqual(Array.from({ length: 1_000 }, (_, index) => String(1_005 + index)))
  })

  test('the lowest nonce is an orphan once no process drove it for K observed blocks', () => {
    const lane = new Bench()
    for (const name of ['a', 'b']) lane.grant(name)
    lane.observe({ height: 103 })
    lane.observe({ height: 104, since: 101 })
    lane.observe({ height: 104, since: 0, claims: [5] })
    lane.observe({ height: 106, claims: [] })
    lane.observe({ height: 107 })
    expect(lane.orders).toEqual([])
    lane.observe({ height: 108 })
    expect(lane.orders).toEqual([[5, 'orphaned']])
    lane.observe({ latest: 6, height: 109 })
    expect(lane.orders).toEqual([[6, 'orphaned']])
  })

  test('external use raises next and is counted', () => {
    const lane = new Bench()
    lane.observe({ latest: 8, height: 101 })
    expect(nonceOf(lane.grant('a'))).toBe(8)
    expect(lane.state.counts.external).toBe(3)
  })

  test('owners whose block was removed are notified, except those that the reporter drives', () => {
    const lane = new Bench()
    for (const name of ['a', 'b', 'c']) lane.grant(name)
    lane.do({ kind: 'forbid', id: 'f', reason: 'a leak' })
    lane.withdraw('c', 'abandon')
    lane.observe({ latest: 8, height: 101 })
    lane.observe({ latest: 5, height: 102, claims: [6] })
    expect(lane.rolledBack).toEqual([{ intentId: 'transfer-a/1', nonce: 5 }])
    lane.observe({ latest: 5, height: 103 })
    expect(lane.rolledBack).toEqual([])
    expect(lane.state.next).toBe(8)
  })

  // Regression: after a late reorg, the ledger immediately ordered a fill of a nonce that had been in a block.
  test('an owner whose block was removed gets K blocks to send again', () => {
    const lane = new Bench()
    lane.grant('a')
    lane.observe({ latest: 6, height: 150 })
    lane.observe({ latest: 5, height: 151 })
    expect([lane.rolledBack.length, lane.orders]).toEqual([1, []])
    lane.observe({ height: 153 })
    lane.observe({ height: 154 })
    expect(lane.orders).toEqual([])
    lane.observe({ height: 155 })
    expect(lane.orders).toEqual([[5, 'orphaned']])
  })
})

describe('after an outage that all processes had', () => {
  // Regression: the first process that came back filled the nonces of processes that had not come back yet.
  test('a nonce is not idle for the time of an outage of all processes', () => {
    const lane = new Bench()
    for (const name of ['a', 'b']) lane.grant(name)
    lane.observe({ height: 101, claims: [5, 6] })
    // The process of nonce 5 reports last.
    lane.observe({ height: 120, claims: [6] })
    lane.observe({ height: 122, claims: [6] })
    expect(lane.orders).toEqual([])
    lane.observe({ height: 123, claims: [5] })
    lane.observe({ height: 125, claims: [6] })
    expect(lane.orders).toEqual([])
    lane.observe({ height: 127, claims: [6] })
    expect(lane.orders).toEqual([[5, 'orphaned']])
  })
})

describe('a reorganisation deeper than finality', () => {
  test('a reorganisation deeper than finality opens final nonces again, and keeps next', () => {
    const lane = new Bench()
    lane.grant('a')
    lane.observe({ latest: 6, finalized: 6, height: 101 })
    lane.observe({ latest: 4, finalized: 4, height: 120, undone: true, claims: [] })
    expect(lane.state).toMatchObject({ next: 6, observed: { latest: 4, finalized: 4 } })
    expect(Object.values(lane.state.entries).map(({ nonce, fill }) => [nonce, fill])).toEqual([
      [4, 'inherited'],
      [5, 'inherited'],
    ])
    expect(nonceOf(lane.grant('b'))).toBe('unsynced')
    lane.observe({ latest: 5, finalized: 4, height: 121 })
    expect(lane.state.observed).toMatchObject({ latest: 5, finalized: 4 })
    lane.observe({ latest: 5, finalized: 5, height: 120 + lane.state.config.fillAfterBlocks })
    expect(lane.orders).toEqual([[5, 'inherited']])
  })
})

describe('a replaced chain', () => {
  const final = { height: 90, hash: '0x90' }

  test('a replaced chain halts the lane until its reset, which reads the account again', () => {
    const lane = new Bench()
    lane.observe({ final, height: 101 })
    lane.grant('a')
    lane.do({ kind: 'forbid', id: 'f', reason: 'kept' })
    expect(nonceOf(lane.do({ kind: 'reset', id: 'r' }))).toBe('conflict')
    lane.do({ kind: 'replaced', id: 'x', block: { ...final, hash: '0x91' } })
    expect(lane.state.replaced).toBeUndefined()
    lane.do({ kind: 'replaced', id: 'x', block: final })
    expect([nonceOf(lane.grant('b')), nonceOf(lane.grant('a'))]).toEqual(['replaced', 'replaced'])
    lane.observe({ latest: 0, finalized: 0, height: 3 })
    expect(lane.state).toMatchObject({ next: 6, observed: { height: 101 } })
    expect(lane.withdraw('a', 'leave')).toEqual({ kind: 'free' })
    expect(lane.orders).toEqual([])
    expect(nonceOf(lane.do({ kind: 'reset', id: 'r' }))).toBe('done')
    expect(lane.state).toMatchObject({ synced: false, next: 0, entries: {}, era: 1, closing: { reason: 'kept' } })
    lane.do({ kind: 'activate', id: 'f' })
    lane.observe({ latest: 2, finalized: 2, height: 4, pending: 2 })
    expect([nonceOf(lane.grant('b')), nonceOf(lane.grant('a', 'zombie'))]).toEqual([2, 'withdrawn'])
  })

  test('a chain that lags is no replaced chain: next and what was final stay', () => {
    const lane = new Bench()
    lane.observe({ final, height: 101 })
    lane.grant('a')
    lane.observe({ height: 102, final: { height: 80, hash: '0x80' }, latest: 3, finalized: 3 })
    expect(lane.state).toMatchObject({ next: 6, observed: { final, latest: 5, finalized: 5 } })
  })
})

describe('sync', () => {
  test("a sync precedes any grant; the pool's transactions are inherited, and filled after K blocks", () => {
    const lane = new Bench('unsynced')
    expect(nonceOf(lane.grant('a'))).toBe('unsynced')
    lane.observe({})
    expect(nonceOf(lane.grant('a'))).toBe('unsynced')
    lane.observe({ pending: 7 })
    expect(lane.state).toMatchObject({ synced: true, next: 7 })
    expect(nonceOf(lane.grant('a'))).toBe('unsynced')
    lane.observe({ height: 103 })
    expect(lane.orders).toEqual([])
    lane.observe({ height: 104 })
    expect(lane.orders).toEqual([
      [5, 'inherited'],
      [6, 'inherited'],
    ])
    lane.observe({ latest: 7, height: 105 })
    expect(nonceOf(lane.grant('a'))).toBe(7)
  })

  test('a second sync never lowers next', () => {
    const lane = new Bench()
    for (const name of ['a', 'b']) lane.grant(name)
    lane.do({ kind: 'resync', id: 's' })
    lane.observe({ pending: 5 })
    expect(lane.state).toMatchObject({ synced: true, next: 7 })
    expect(Object.values(lane.state.entries).map((entry) => entry.fill)).toEqual([undefined, undefined])
  })

  // Regression: after a reorg, nonces of external transactions had no entry, and blocked the lane.
  test('a nonce without an entry that falls out of its block is filled too', () => {
    const lane = new Bench()
    lane.observe({ latest: 7, height: 101 })
    lane.grant('a')
    lane.observe({ latest: 5, height: 102 })
    expect(nonceOf(lane.grant('b'))).toBe('unsynced')
    lane.observe({ height: 106 })
    expect(lane.orders).toEqual([
      [5, 'inherited'],
      [6, 'inherited'],
    ])
  })
})
