import { describe, expect, test } from 'vitest'
import type { Endpoint } from '../../bridges/port.ts'
import type { Chain } from '../../chains/port.ts'
import { promiseSlot } from '../../activities/transfer/admit.ts'
import type { AdmittedCall, LocalLanes } from '../../activities/deps.ts'
import { createBroadcastLocally } from '../../activities/transfer/broadcast.ts'
import { laneId } from '../../domain/lane/lane.ts'
import { StepSlots } from '../../lanes/step-slots.ts'
import type { BroadcastInput, BroadcastResult, Ready } from '../../temporal/contracts/transfer-steps.ts'
import { nativeTransfer } from '../helpers/native-transfer.ts'
import { fakeEndpoint, fakeParties } from './fake-bridge.ts'
import { scriptedChain } from './scripted-chain.ts'

const lane = laneId('evm', 1, `0x${'11'.repeat(20)}`)
const other = laneId('evm', 1, `0x${'12'.repeat(20)}`)
const transfer = nativeTransfer()
const offer = { callHash: '0x01', gasLimit: '1', maxFee: '1', tip: '1' }
const pending: BroadcastResult = { kind: 'pending', nonce: 7, attempts: 1, reason: 'in no block', tried: [] }

function setting(result: BroadcastResult = pending, slots = new StepSlots<AdmittedCall>(1)) {
  const asked: BroadcastInput[] = []
  const kept: (AdmittedCall | undefined)[] = []
  const broadcast = async (input: BroadcastInput, _: unknown, __: unknown, admitted?: AdmittedCall) => (
    asked.push(input),
    kept.push(admitted),
    result
  )
  return { asked, kept, slots, lanes: new Map([[lane, { slots, broadcast }]]) }
}

const input = (own: Partial<BroadcastInput> = {}): BroadcastInput => ({
  ...offer,
  ...{ lane, intentId: 'transfer-1/1', transfer, mode: 'new', priority: 3 },
  ...own,
})

const broadcastLocally = (lanes: LocalLanes, asking: BroadcastInput) => createBroadcastLocally(lanes)(asking, undefined as never, () => {})

describe('A local broadcast', () => {
  test('a local broadcast is the step of the lane', async () => {
    const { lanes, asked } = setting()
    expect(await broadcastLocally(lanes, input())).toEqual(pending)
    expect(asked).toEqual([input()])
  })

  test.each([
    ['the process does not hold the key, or its config wants the queue', input({ lane: other })],
    ['something may have been sent before', input({ mode: 'requeued' })],
    ['it follows what it sent', input({ mode: 'follow' })],
  ])('a broadcast is left to the queue of the lane if %s', async (_, asking) => {
    const { lanes, asked } = setting()
    expect(await broadcastLocally(lanes, asking)).toEqual({ kind: 'elsewhere' })
    expect(asked).toEqual([])
  })

  test('a broadcast is left to the queue of the lane without a slot, or without a nonce after seconds', async () => {
    const full = setting(pending, new StepSlots<AdmittedCall>(0))
    expect(await broadcastLocally(full.lanes, input())).toEqual({ kind: 'elsewhere' })
    expect(full.asked).toEqual([])
    const slow = setting({ kind: 'no-slot', code: 'LANE_FULL', reason: 'window' })
    expect(await broadcastLocally(slow.lanes, input())).toEqual({ kind: 'elsewhere' })
  })
})

describe('The promise of an admission', () => {
  const ready: Ready = { kind: 'ready', lane, ...offer }
  const intent = { to: '0x22', data: '0x', value: '0' }
  const call = {
    ...{ endpoint: fakeEndpoint({}), parties: fakeParties, intent, isWrapped: false },
    message: transfer.message,
    callHash: '0x01',
  }
  const chain = (msToFinality: number): Chain => ({ ...scriptedChain(() => '0xaa'), blockTimeMs: 1_000, msToFinality: () => msToFinality })
  const promised = (lanes: ReturnType<typeof setting>['lanes'], msToFinality: number, own: Partial<Endpoint> = {}) =>
    promiseSlot(lanes, { chain: chain(msToFinality), endpoint: fakeEndpoint(own) }, transfer, { ready, call })

  test('a slot is promised if the process holds the key, finality is fast and a slot is free', async () => {
    expect(await promised(setting().lanes, 2_000)).toEqual({ ...ready, local: true })
  })

  test('the promise keeps the call for the local broadcast of its transfer, but not the call of a stage', async () => {
    const { lanes, kept } = setting(pending, new StepSlots(2))
    await promised(lanes, 2_000)
    for (const _ of [1, 2]) await broadcastLocally(lanes, input())
    expect(kept).toEqual([call, undefined])
    const staged = setting(pending, new StepSlots(1))
    const target = { chain: chain(2_000), endpoint: fakeEndpoint({}) }
    expect(await promiseSlot(staged.lanes, target, transfer, { ready: { ...ready, stage: 'complete' }, call })).toMatchObject({
      local: true,
    })
    await broadcastLocally(staged.lanes, input())
    expect(staged.kept).toEqual([undefined])
  })

  test.each<[string, ReturnType<typeof setting>['lanes'], number, Partial<Endpoint>]>([
    ['another process holds the key', new Map(), 2_000, {}],
    ['finality is slow', setting().lanes, 10_000, {}],
    ['no slot comes free', setting(pending, new StepSlots<AdmittedCall>(0)).lanes, 2_000, {}],
    ['it waits for others to share a call', setting().lanes, 2_000, { batches: { groupOf: () => ({ key: 'a', most: 20 }) } as never }],
  ])('no slot is promised if %s', async (_, lanes, msToFinality, own) => {
    expect(await promised(lanes, msToFinality, own)).toEqual(ready)
  })
})
