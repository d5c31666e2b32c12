import { describe, expect, test } from 'vitest'
import { chooseLane, noLane } from '../../activities/transfer/choose-lane.ts'
import type { Gate } from '../../bridges/port.ts'
import { waitsForItself } from '../../domain/catalogue/errors.ts'
import type { PauseKind } from '../../domain/lane/lane.ts'
import type { LaneStatus } from '../../domain/lane/messages.ts'
import type { Terms } from '../../domain/transfer/transfer.ts'
import { transferId } from '../../temporal/contracts/names.ts'
import { nativeTransfer } from '../helpers/native-transfer.ts'
import { fakeEndpoint } from './fake-bridge.ts'

const lanes = ['evm-1:0xa', 'evm-1:0xb', 'evm-1:0xc'] as const
const transfer = nativeTransfer()
const opened = { kind: 'open' } as const
const unauthorized = { kind: 'lane', code: 'BRIDGE_ROLE_MISSING', reason: 'grant it' } as const
const paused = { kind: 'route', code: 'BRIDGE_PAUSED', reason: 'paused' } as const
const pausedLane = (lane: string, detail: string, pause: PauseKind = 'operator'): LaneStatus => ({
  lane,
  open: false,
  why: 'paused',
  detail,
  pause,
})

function setting(gates: Record<string, Gate>, closed: readonly LaneStatus[] = [], gated = true) {
  const statuses = lanes.map((lane): LaneStatus => closed.find((one) => one.lane === lane) ?? { lane, open: true })
  const asked: string[] = []
  const passedOver: string[] = []
  const noted: string[] = []
  const reserve = async (_: unknown, account: string) => (asked.push(account), gates[`evm-1:${account}`] ?? opened)
  const endpoint = fakeEndpoint(gated ? { reserve } : {})
  const deps = {
    gates: { wait: () => {}, unauthorized: (lane: string) => void passedOver.push(lane) },
    openLanes: { watchFor: (id: string) => void noted.push(id) },
  }
  const open = async () => statuses.filter((one) => one.open).map(({ lane }) => lane)
  const target = { endpoint, lanes: { statuses: async () => statuses, open } }
  return {
    none: (terms?: Terms) => noLane(deps, { ...transfer, ...(terms && { terms }) }, target.lanes),
    noted,
    choose: (avoid: string[] = [], terms?: Terms) =>
      chooseLane(deps, { transfer: { ...transfer, ...(terms && { terms }) }, avoid }, target),
    asked,
    passedOver,
  }
}

describe('The lane of a transfer', () => {
  test('a transfer gets the lane that its id hashes to; a lane that may not deliver is skipped and reported', async () => {
    const all = setting({})
    const first = await all.choose()
    expect([first.kind, all.asked]).toEqual(['lane', [expect.any(String)]])
    if (first.kind !== 'lane') return
    expect(await setting({}, [], false).choose()).toEqual(first)
    const without = setting({ [first.lane]: unauthorized })
    const second = await without.choose()
    expect(second).toMatchObject({ kind: 'lane', lane: expect.not.stringMatching(first.lane) })
    expect(without.passedOver).toEqual([first.lane])
    expect(second).toEqual(await setting({}, [pausedLane(first.lane, 'by hand')]).choose())
  })

  test('a transfer whose terms name a lane gets that lane or none', async () => {
    for (const lane of lanes) {
      expect(await setting({}).choose([], { lane })).toEqual({ kind: 'lane', lane })
      expect(await setting({}, [pausedLane(lane, 'by hand')]).choose([], { lane })).toEqual({ kind: 'none' })
      expect(await setting({}).choose([lane], { lane })).toEqual({ kind: 'none' })
    }
    expect(await setting({}).choose([], { lane: 'evm-1:0xd' })).toEqual({ kind: 'none' })
  })

  test('a transfer whose terms name a lane without work waits for itself, so that it leaves the window', async () => {
    const [lane] = lanes
    for (const chosen of [lane, 'evm-1:0xd']) {
      const none = await setting({}, [pausedLane(lane, 'by hand')]).none({ lane: chosen })
      expect(none).toMatchObject({ kind: 'waiting', code: 'LANE_CHOSEN', reason: expect.stringContaining(`only ${chosen} may deliver it`) })
      if (chosen !== lane) expect(none).not.toMatchObject({ reason: expect.stringContaining(lane) })
      expect(none.kind === 'waiting' && waitsForItself(none.code)).toBe(true)
    }
    expect(waitsForItself('LANE_NONE')).toBe(false)
  })

  test.each([
    ['lacks its role', false],
    ['is paused for its role', true],
  ])('a transfer does not wait for the route if only the lane of its terms %s', async (_, isPaused) => {
    const [lane] = lanes
    const all = setting({ [lane]: unauthorized }, isPaused ? [pausedLane(lane, 'grant it', 'unauthorized')] : [])
    expect(await all.choose([], { lane })).toEqual({ kind: 'none' })
    expect(all.passedOver).toEqual([lane])
  })

  test('a transfer before a closed gate gets no lane: one answer is enough', async () => {
    const everywhere = Object.fromEntries(lanes.map((lane) => [lane, paused]))
    const { choose, asked } = setting(everywhere)
    expect(await choose()).toEqual({ kind: 'closed', gate: paused })
    expect(asked).toHaveLength(1)
    expect(await setting(everywhere).choose([...lanes])).toEqual({ kind: 'closed', gate: paused })
    expect(await setting({}).choose([...lanes])).toEqual({ kind: 'none' })
  })

  test('a transfer waits for the grant if every lane lacks its role, or is paused for that', async () => {
    const everywhere = Object.fromEntries(lanes.map((lane) => [lane, unauthorized]))
    const { choose, passedOver } = setting(everywhere)
    expect(await choose()).toEqual({ kind: 'closed', gate: unauthorized })
    expect(passedOver.toSorted()).toEqual(lanes)
    const all = lanes.map((lane) => pausedLane(lane, 'grant it', 'unauthorized'))
    expect(await setting({}, all).choose()).toMatchObject({ kind: 'closed', gate: { kind: 'lane', code: 'BRIDGE_ROLE_MISSING' } })
    expect(await setting(everywhere, all.slice(1)).choose()).toEqual({ kind: 'closed', gate: unauthorized })
    expect(await setting({}, all, false).choose()).toEqual({ kind: 'none' })
  })

  test('a transfer does not wait for a grant if another lane may open at any time', async () => {
    const [first, ...rest] = lanes
    const byHand = pausedLane(first, 'key ceremony')
    expect(await setting(Object.fromEntries(rest.map((lane) => [lane, unauthorized])), [byHand]).choose()).toEqual({ kind: 'none' })
  })

  test('a transfer is woken by the first open lane, but not if it only left an open lane', async () => {
    const all = setting(
      {},
      lanes.map((lane) => pausedLane(lane, 'by hand')),
    )
    expect(await all.none()).toMatchObject({ kind: 'waiting', code: 'LANE_NONE' })
    expect(all.noted).toEqual([transferId(transfer)])
    const some = setting(
      {},
      lanes.slice(1).map((lane) => pausedLane(lane, 'by hand')),
    )
    await some.none()
    expect(some.noted).toEqual([])
  })
})
