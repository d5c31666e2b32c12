import { describe, expect, test } from 'vitest'
import { type LaneState, newLane } from '../../domain/lane/lane.ts'
import type { ApplyRequest, LaneRequest, Observation } from '../../domain/lane/messages.ts'
import { apply as applyAt } from '../../domain/lane/reducer/reducer.ts'
import { view } from '../../domain/lane/view.ts'
import { nonceOf, owner } from './lane-bench.ts'

const attempt = { kind: 'call', gasLimit: '1000', maxFee: '100', tip: '1' } as const
const config = { lane: 'evm-1:0xa', window: 8, fillAfterBlocks: 10 }
const seen: Observation = {
  latest: 5,
  finalized: 5,
  height: 100,
  hash: '0x',
  balance: String(10n ** 18n),
  claims: [],
  since: 1,
  pending: 5,
}

/** Applies a request at time 0: no rule that this file tests depends on the clock. */
const apply = (state: LaneState, request: ApplyRequest, fromEarlierRun = false) => applyAt(state, request, 0, fromEarlierRun)

function grant(name: string, round = 1): LaneRequest {
  return { kind: 'grant', id: `${name}${round}`, owner: { ...owner(name), intentId: `transfer-${name}/${round}` }, attempt }
}

function granted(state: LaneState, ...names: string[]): LaneState {
  return apply(state, { requests: names.map((name) => grant(name)) }).state
}

const synced = apply(newLane(config), { observe: seen, requests: [] }).state
const known = (state: LaneState) => {
  const { era, granted: count, next, finalized } = view(state)
  return { era, granted: count, next, finalized }
}

describe('a ledger that was set back', () => {
  test('a ledger that was set back grants no nonce twice that a process knows', () => {
    const before = granted(synced, 'a')
    const after = granted(before, 'b', 'c')
    const { state, response } = apply(before, { requests: [grant('d')], known: known(after) })
    expect(response.answers.map(nonceOf)).toEqual(['unsynced'])
    expect(state).toMatchObject({ next: 8, counts: { granted: 3 }, entries: { 5: { owner: owner('a') }, 6: { fill: 'inherited' } } })
    expect(state.entries['7']).toMatchObject({ fill: 'inherited', attempts: [] })
  })

  test('a ledger that was set back fills forgotten nonces only when no process drives them', () => {
    const { state } = apply(synced, { requests: [], known: known(granted(synced, 'a')) })
    const later = (from: LaneState, height: number, claims: number[]) => apply(from, { observe: { ...seen, height, claims }, requests: [] })
    const driven = later(later(state, 108, [5]).state, 115, [5])
    expect(driven.response.orders).toEqual([])
    expect(later(driven.state, 125, []).response.orders).toMatchObject([{ nonce: 5, reason: 'inherited' }])
  })

  test('a process with equal knowledge, of another era or of another chain teaches the ledger nothing', () => {
    const state = granted(synced, 'a', 'b')
    // The returned nonce lowers `next`, but not the number of grants.
    const released = apply(state, { requests: [{ kind: 'release', id: 'r', intentId: owner('b').intentId, grantedTo: 'b1' }] }).state
    expect(released.next).toBe(6)
    for (const changes of [{}, { era: 1, granted: 9 }, { granted: 9, finalized: 6 }]) {
      expect(apply(released, { requests: [], known: { ...known(state), ...changes } }).state).toEqual(released)
    }
  })

  test('the first observation of a process raises next to what the pool holds, and never lowers it', () => {
    const state = granted(synced, 'a', 'b', 'c')
    expect(apply(state, { observe: { ...seen, pending: 5 }, requests: [] }).state.next).toBe(8)
    expect(apply(state, { observe: { ...seen, pending: 10 }, requests: [] }).state).toMatchObject({
      next: 10,
      entries: { 8: { fill: 'inherited' }, 9: { fill: 'inherited' } },
    })
  })
})

function asked(from: LaneState, ...requests: readonly LaneRequest[]): { state: LaneState; sent: ApplyRequest[] } {
  const sent: ApplyRequest[] = []
  let state = from
  for (const one of requests) {
    const request = { requests: [one], known: known(state) }
    sent.push(request)
    state = apply(state, request).state
  }
  return { state, sent }
}

function again(from: LaneState, sent: readonly ApplyRequest[]): LaneState {
  return sent.reduce((state, request) => apply(state, request, true).state, from)
}

const order = (kind: 'pause' | 'resume'): LaneRequest =>
  kind === 'pause' ? { kind, id: kind, pause: { kind: 'operator', reason: 'a test' } } : { kind, id: kind }
const release = (name: string): LaneRequest => ({ kind: 'release', id: 'r', intentId: owner(name).intentId, grantedTo: `${name}1` })

describe('a ledger that was reset, and is asked once more what it was asked since', () => {
  test('a reset ledger grants no nonce that it refused, though its signals come at another time', () => {
    const { state: before, sent } = asked(synced, order('pause'), grant('a'), order('resume'), grant('b'))
    expect(before).toMatchObject({ next: 6, entries: { 5: { owner: owner('b') } } })
    const [pause, , resume] = sent
    const after = again(synced, [pause!, resume!, ...sent.filter(({ requests }) => requests[0]?.kind === 'grant')])
    expect(after).toMatchObject({ synced: false, entries: {} })
    // Once the process has claimed nonce 5 and read the account, nothing blocks the lane.
    const reconciled = apply(after, { requests: [], known: known(before) }).state
    const { state } = apply(reconciled, { requests: [], observe: { ...seen, height: 101, claims: [5], pending: 6 } })
    expect(state).toMatchObject({ synced: true, next: 6, counts: { granted: 1, external: 0 } })
    expect(Object.entries(state.entries).map(([nonce, { fill, claimedBlock }]) => [nonce, fill, claimedBlock])).toEqual([
      ['5', 'inherited', 0],
    ])
    const mined = apply(state, { observe: { ...seen, height: 102, latest: 6 }, requests: [grant('a')] })
    expect(mined.response.answers.map(nonceOf)).toEqual([6])
  })

  test('a reset ledger still knows the owners of earlier nonces', () => {
    const base = granted(synced, 'a')
    const { state: before, sent } = asked(base, grant('a'), grant('b'))
    const state = again(base, sent)
    expect(state.entries['5']).toMatchObject({ owner: owner('a') })
    const { response } = apply(state, { requests: [grant('a')], known: known(before) })
    expect(response.answers.map(nonceOf)).toEqual([5])
  })

  test('a reset ledger does not grant a returned nonce that another may have got', () => {
    const base = granted(synced, 'a', 'b')
    const { state: before, sent } = asked(base, release('a'), grant('c'))
    expect(before.entries['5']).toMatchObject({ owner: owner('c') })
    for (const after of [again(base, sent), again(base, sent.slice(0, 1))]) {
      const { state } = apply(after, { observe: { ...seen, height: 101 }, requests: [grant('d')], known: known(before) })
      expect(state.entries['5']).toMatchObject({ fill: 'inherited', attempts: before.entries['5']?.attempts.slice(0, 0) })
    }
  })

  test('a reset ledger does not count a returned nonce as handed out', () => {
    const { state: before, sent } = asked(synced, grant('a'), release('a'), order('resume'))
    expect(before.next).toBe(5)
    const looked = apply(again(synced, sent), { requests: [], known: known(before), observe: { ...seen, height: 101 } }).state
    expect(looked).toMatchObject({ synced: true, next: 5, entries: {} })
  })

  test('a reset ledger grants no nonce to a withdrawn intent', () => {
    const { sent } = asked(synced, { kind: 'withdraw', id: 'w', intentId: owner('a').intentId, how: 'leave' })
    expect(nonceOf(apply(again(synced, sent), { requests: [grant('a')] }).response.answers[0])).toBe('withdrawn')
  })
})

describe('an owner that began anew', () => {
  const third = apply(synced, { requests: [grant('a', 3)] }).state

  test('an owner that began anew gets the round that holds a nonce, and no second nonce', () => {
    const answers = [1, 2, 3].map((round) => nonceOf(apply(third, { requests: [grant('a', round)] }).response.answers[0]))
    expect(answers).toEqual(['withdrawn', 'withdrawn', 5])
  })

  test('an owner that began anew gets a nonce once the old one is filled, mined or of another call', () => {
    const filled = apply(third, { requests: [{ kind: 'fill', id: 'f', nonce: 5, reason: 'cancelled' }] }).state
    const mined = apply(third, { observe: { ...seen, height: 101, latest: 6 }, requests: [] }).state
    for (const state of [filled, mined]) expect(nonceOf(apply(state, { requests: [grant('a')] }).response.answers[0])).toBe(6)
    const other = { ...grant('a'), owner: { ...owner('a'), callHash: '0xother' } } as LaneRequest
    expect(nonceOf(apply(third, { requests: [other] }).response.answers[0])).toBe(6)
    expect(nonceOf(apply(third, { requests: [grant('a', 4)] }).response.answers[0])).toBe(6)
  })
})

test('the process that fills an abandoned nonce knows the hash of its call', () => {
  const forbidden = apply(granted(synced, 'a'), { requests: [{ kind: 'forbid', id: 'f', reason: 'leaked' }] }).state
  const abandon: LaneRequest = { kind: 'withdraw', id: 'w', intentId: owner('a').intentId, how: 'abandon' }
  const { state, response } = apply(forbidden, { requests: [abandon] })
  expect(state.entries['5']?.owner).toBeUndefined()
  expect(response.orders).toMatchObject([{ nonce: 5, reason: 'abandoned', callHash: owner('a').callHash }])
})
