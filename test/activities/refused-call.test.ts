import { MockActivityEnvironment } from '@temporalio/testing'
import { expect, test } from 'vitest'
import { createLossReports, Losses } from '../../activities/checks/losses.ts'
import { withHeartbeats } from '../../activities/run-step.ts'
import { createBroadcast } from '../../activities/transfer/broadcast.ts'
import type { Endpoint, SharedCalls } from '../../bridges/port.ts'
import { laneId } from '../../domain/lane/lane.ts'
import { noSettings } from '../../domain/settings/settings.ts'
import { callHash } from '../../lanes/deps.ts'
import { createMetrics } from '../../observability/metrics.ts'
import { createStepTimes } from '../../observability/step-times.ts'
import { nativeTransfer } from '../helpers/native-transfer.ts'
import { recordingLogger } from '../helpers/recording-logger.ts'
import { bridgesWith, fakeDelivery, fakeEndpoint } from './fake-bridge.ts'
import { scriptedChain } from './scripted-chain.ts'

const lane = laneId('evm', 1, `0x${'11'.repeat(20)}`)
const call = { to: `0x${'22'.repeat(20)}`, data: '0x12345678', value: '0' }
const reason = 'every node refused the call: fatal: execution reverted'
const receipt = {
  ...{ hash: '0x07', from: '0x11', status: 'success', gasUsed: '100', effectiveGasPrice: '2', logs: [] },
  block: { height: 0, hash: '0xaa' },
}

/** A no-op has replaced the transfer's call, because every node had refused the call. */
function setting({
  delivered = async () => false,
  final = true,
  batched = false,
  refused = { reason, receipt },
  refusedByFew,
}: Partial<Pick<Endpoint, 'delivered'>> & { final?: boolean; batched?: boolean; refused?: object | null; refusedByFew?: string } = {}) {
  const metrics = createMetrics()
  const { logger } = recordingLogger()
  const endpoint = fakeEndpoint({
    batches: { largest: 20 } as SharedCalls,
    delivery: fakeDelivery({ call: async () => call }),
    delivered,
    findDelivery: async () => undefined,
  })
  const chain = { ...scriptedChain(() => '0xaa'), hasCode: async () => false, msToFinality: () => 900_000 }
  const state = final ? { kind: 'spent', by: 'noop' } : { kind: 'included', noop: true, final, receipt }
  const pending = {
    ...{ nonce: 7, unsigned: true, attempts: 2, tried: [], state, refusedCall: refused ?? undefined, refusedByFew },
    ...{ signAndSend: async () => {}, until: async () => true },
  }
  const batch = { id: 'batch:1', members: ['transfer-1/1', 'transfer-2/1'], pending }
  const broadcast = createBroadcast({
    ...{ bridges: bridgesWith(endpoint), settings: () => noSettings, stepTimes: createStepTimes(metrics), chain },
    losses: new Losses(60_000, 10_000n, createLossReports({ logger, metrics })),
    agent: {
      ...{ lane, find: async () => ({ kind: 'refused', why: 'none' }), acquire: async () => ({ kind: 'acquired', pending }) },
      release: async () => {},
    },
    batchRouting: { find: async () => undefined, enqueue: async () => (batched ? { kind: 'member', batch } : { kind: 'alone' }) },
  } as never)
  return {
    broadcast: (number: number) => {
      const input = {
        ...{ lane, intentId: `transfer-${number}/1`, transfer: nativeTransfer(number), callHash: callHash(call), mode: 'new' as const },
        ...{ priority: 3, gasLimit: '100000', maxFee: '2', tip: '1' },
      }
      return new MockActivityEnvironment({ heartbeatTimeoutMs: 10_000 }).run(withHeartbeats(broadcast), input)
    },
    counted: async () =>
      (await metrics.render())
        .split('\n')
        .filter((line) => /^portage_(quarantines_total|losses_wei_total|useless_delivery_cost_wei_total)\{/.test(line)),
  }
}

test("a call that every node refused counts as a revert, with the nodes' text and the gas of the no-op", async () => {
  const { broadcast, counted } = setting()
  const landed = { nonce: 7, txHash: '0x07', gasPaid: '200' }
  expect(await broadcast(1)).toMatchObject({ kind: 'reverted', reason, landed, failedCall: 'refused' })
  expect(await broadcast(2)).toMatchObject({ kind: 'no-slot', code: 'QUARANTINED' })
  expect(await counted()).toEqual([
    'portage_quarantines_total{chain="bsc",kind="recipient"} 1',
    'portage_losses_wei_total{chain="bsc",kind="reverted"} 200',
    'portage_useless_delivery_cost_wei_total{chain="bsc",bridge="native-bridge"} 200',
  ])
})

test('the no-op of a refused call is a loss once a block has it; its nonce is pending until it is final', async () => {
  const { broadcast, counted } = setting({ final: false })
  expect(await broadcast(1)).toMatchObject({ kind: 'pending', nonce: 7 })
  expect(await counted()).toContain('portage_losses_wei_total{chain="bsc",kind="reverted"} 200')
})

test('a call that was refused because another account had delivered is no revert, and quarantines nobody', async () => {
  // The first read, before the call was sent, shows no delivery.
  let reads = 0
  const { broadcast, counted } = setting({ delivered: async (_, at) => (reads += 1) > 1 && at.endsWith('latest') })
  expect(await broadcast(1)).toMatchObject({ kind: 'spent', by: 'noop', nonce: 7 })
  expect(await counted()).toEqual(['portage_losses_wei_total{chain="bsc",kind="outrun"} 200'])
  const final = setting({ delivered: async (_, at) => at === 'finalized' })
  expect(await final.broadcast(1)).toMatchObject({ kind: 'spent', by: 'noop', nonce: 7 })
})

test('a batch that every node refused is a loss, and its transfers go alone', async () => {
  const { broadcast, counted } = setting({ batched: true })
  expect(await broadcast(1)).toEqual({ kind: 'seen' })
  expect(await counted()).toEqual([
    'portage_quarantines_total{chain="bsc",kind="batch"} 1',
    'portage_losses_wei_total{chain="bsc",kind="reverted"} 200',
  ])
})

test('a no-op for another reason is no loss', async () => {
  const { broadcast, counted } = setting({ refused: null })
  const answer = await broadcast(1)
  expect(answer).toMatchObject({ kind: 'spent', by: 'noop', nonce: 7 })
  expect(answer).not.toHaveProperty('refused')
  expect(await counted()).toEqual([])
})

test('if too few nodes refused a call, it is not a loss, and the transfer says why it was not delivered', async () => {
  const { broadcast, counted } = setting({ refused: null, refusedByFew: 'fatal: execution reverted' })
  expect(await broadcast(1)).toMatchObject({ kind: 'spent', by: 'noop', refused: 'fatal: execution reverted' })
  expect(await counted()).toEqual([])
})
