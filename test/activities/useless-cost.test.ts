import { MockActivityEnvironment } from '@temporalio/testing'
import { expect, test } from 'vitest'
import { createBroadcast } from '../../activities/transfer/broadcast.ts'
import { createConfirm } from '../../activities/transfer/confirm.ts'
import { withHeartbeats } from '../../activities/run-step.ts'
import { laneId } from '../../domain/lane/lane.ts'
import { noSettings } from '../../domain/settings/settings.ts'
import { callHash } from '../../lanes/deps.ts'
import { createMetrics } from '../../observability/metrics.ts'
import { createStepTimes } from '../../observability/step-times.ts'
import { nativeTransfer } from '../helpers/native-transfer.ts'
import { bridgesWith, fakeDelivery, fakeEndpoint } from './fake-bridge.ts'
import { scriptedChain } from './scripted-chain.ts'

const lane = laneId('evm', 1, `0x${'11'.repeat(20)}`)
const call = { to: `0x${'22'.repeat(20)}`, data: '0x12345678', value: '0' }
const transfer = nativeTransfer(1)
const receipt = {
  ...{ hash: '0x07', from: '0x11', status: 'reverted', gasUsed: '100', effectiveGasPrice: '2', logs: [] },
  block: { height: 0, hash: '0xaa' },
}
const landed = { nonce: 3, txHash: '0x07', blockHeight: 0, blockHash: '0xaa', gasPaid: '200', attempts: 1, tried: [] }

/**
 * The transaction of the transfer reverted in a final block. `isDelivered`: whether another account delivered the
 * transfer.
 */
function setting(isDelivered: boolean, state = { final: true, noop: false }) {
  const metrics = createMetrics()
  const endpoint = fakeEndpoint({
    delivery: fakeDelivery({ call: async () => call }),
    delivered: async () => isDelivered,
    hasEffect: () => false,
    findDelivery: async () => undefined,
  })
  const chain = { ...scriptedChain(() => '0xaa'), msToFinality: () => 0, blockTimeMs: 1, receipt: async () => receipt }
  const pending = {
    ...{ nonce: 3, unsigned: true, attempts: 1, tried: [], state: { kind: 'included', ...state, receipt } },
    ...{ signAndSend: async () => {}, until: async () => true },
  }
  const agent = { lane, find: async () => ({ kind: 'refused', why: 'none' }), acquire: async () => ({ kind: 'acquired', pending }) }
  const shared = { bridges: bridgesWith(endpoint), settings: () => noSettings, stepTimes: createStepTimes(metrics) }
  const chains = new Map([['bsc', chain]])
  return {
    confirm: createConfirm({ ...shared, chains, lanes: new Map([['bsc', { lanes: [] }]]) } as never),
    broadcast: createBroadcast({ ...shared, chain, agent } as never),
    lost: async () => (await metrics.render()).split('\n').filter((line) => line.startsWith('portage_useless_delivery_cost_wei_total{')),
  }
}

const lost = ['portage_useless_delivery_cost_wei_total{chain="bsc",bridge="native-bridge"} 200']

async function follow(broadcast: ReturnType<typeof setting>['broadcast']) {
  const input = {
    ...{ lane, intentId: 'transfer-1/1', transfer, callHash: callHash(call), mode: 'new' as const, priority: 3 },
    ...{ gasLimit: '100000', maxFee: '2', tip: '1' },
  }
  return { answer: await new MockActivityEnvironment({ heartbeatTimeoutMs: 10_000 }).run(withHeartbeats(broadcast), input) }
}

test('the gas of a final transaction that reverted counts as cost without a delivery', async () => {
  const { broadcast, lost: counted } = setting(false)
  expect((await follow(broadcast)).answer).toMatchObject({ kind: 'reverted', failedCall: 'reverted' })
  expect(await counted()).toEqual(lost)
})

test('a no-op that replaced a call is not a revert, and its nonce is pending until the no-op is final', async () => {
  const { broadcast, lost: counted } = setting(false, { final: false, noop: true })
  const { answer } = await follow(broadcast)
  expect(answer).toMatchObject({ kind: 'pending', nonce: 3, reason: expect.stringContaining('not final yet') as string })
  expect(await counted()).toEqual([])
})

test.each([
  [false, 'reverted'],
  [true, 'delivered'],
])('a transaction that reverted before it was final counts once it is final; delivered by another: %s', async (isDelivered, kind) => {
  const { confirm, lost: counted } = setting(isDelivered)
  expect(await confirm({ transfer, landed, waitMs: 0 })).toMatchObject({ kind })
  expect(await counted()).toEqual(lost)
  expect(await confirm({ transfer, waitMs: 0, landed: { ...landed, batch: 'batch:1' } })).toMatchObject({ kind })
  expect(await counted()).toEqual(lost)
})
