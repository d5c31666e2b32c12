import { MockActivityEnvironment } from '@temporalio/testing'
import { DefaultLogger } from '@temporalio/worker'
import { expect, test } from 'vitest'
import { createBroadcast } from '../../activities/transfer/broadcast.ts'
import { createConfirm } from '../../activities/transfer/confirm.ts'
import { withHeartbeats } from '../../activities/run-step.ts'
import type { Endpoint } from '../../bridges/port.ts'
import { laneId } from '../../domain/lane/lane.ts'
import { noSettings } from '../../domain/settings/settings.ts'
import { callHash } from '../../lanes/deps.ts'
import { createMetrics } from '../../observability/metrics.ts'
import { createStepTimes } from '../../observability/step-times.ts'
import type { SignedAttempt } from '../../domain/transfer/attempts.ts'
import { withEarnings } from '../../workers/roles/context.ts'
import { nativeTransfer } from '../helpers/native-transfer.ts'
import { bridgesWith, fakeDelivery, fakeEndpoint } from './fake-bridge.ts'
import { scriptedChain } from './scripted-chain.ts'

const lane = laneId('evm', 1, `0x${'11'.repeat(20)}`)
const call = { to: `0x${'22'.repeat(20)}`, data: '0x12345678', value: '0' }
const transfer = nativeTransfer(1)
const receipt = {
  ...{ hash: '0x07', from: '0x11', status: 'success', gasUsed: '100', effectiveGasPrice: '2', logs: [] },
  block: { height: 0, hash: '0xaa' },
}
const attempt = (own: Partial<SignedAttempt> = {}): SignedAttempt => {
  const priced = { gasLimit: '100000', maxFee: '2', tip: '1' }
  return { ...{ kind: 'call', hash: '0x07', to: call.to, value: '0', fate: 'mined' }, ...priced, ...own }
}

interface Scene {
  /** The stages that are final. Absent: the whole transfer is final. */
  readonly passed?: readonly string[]
  readonly tried?: readonly SignedAttempt[]
  readonly isInBatch?: true
  readonly own?: Partial<Endpoint>
}

/** The transaction 0x07 is in a final block, and paid 200 wei of gas. The transfer's fee is worth 700 wei. */
function setting({ passed, tried = [attempt()], isInBatch, own = {} }: Scene) {
  const metrics = createMetrics()
  const shown = new Set(passed)
  const endpoint = fakeEndpoint({
    delivery: fakeDelivery({ call: async () => call, earned: async () => 700n }),
    delivered: async () => passed === undefined,
    hasEffect: () => undefined,
    findDelivery: async () => undefined,
    stages: {
      next: async () => ({ kind: 'stage', stage: 'complete' }),
      passed: async (_, stage) => passed === undefined || shown.has(stage),
    },
    ...own,
  })
  const chain = { ...scriptedChain(() => '0xaa'), msToFinality: () => 0, blockTimeMs: 1, receipt: async () => receipt }
  const pending = {
    ...{ nonce: 3, attempts: 1, tried, state: { kind: 'included', final: true, noop: false, receipt } },
    ...{ signAndSend: async () => {}, until: async () => true },
  }
  const agent = { lane, find: async () => (isInBatch ? { kind: 'refused', why: 'none' } : { kind: 'acquired', pending }) }
  const batchRouting = { find: async () => ({ id: 'batch:1', members: ['a', 'b', 'c', 'd'], pending }) }
  const bridges = bridgesWith(endpoint)
  const shared = { bridges, settings: () => noSettings, stepTimes: withEarnings(createStepTimes(metrics), bridges, metrics) }
  const lanes = new Map([['bsc', { lanes: [laneId('evm', 1, '0x11')] }]])
  const broadcast = createBroadcast({ ...shared, chain, agent, batchRouting } as never)
  const confirm = createConfirm({ ...shared, chains: new Map([['bsc', chain]]), lanes } as never)
  const landed = { nonce: 3, txHash: '0x07', blockHeight: 0, blockHash: '0xaa', gasPaid: '200', attempts: 1, tried: [...tried] }
  return {
    /** Near finality: the step that sends the call sees its final effect. */
    async near(stage?: string) {
      const input = {
        ...{ lane, intentId: 'transfer-1/1', transfer, callHash: callHash(call), mode: 'follow' as const, priority: 3, seenAt: Date.now() },
        ...{ gasLimit: '100000', maxFee: '2', tip: '1' },
      }
      const environment = new MockActivityEnvironment({ heartbeatTimeoutMs: 10_000 }, { logger: new DefaultLogger('ERROR') })
      return environment.run(withHeartbeats(broadcast), { ...input, ...(stage !== undefined && { stage }) })
    },
    /** Far finality: `confirm` sees the final effect. */
    far: async (stage?: string) => confirm({ transfer, landed, stage, waitMs: 0, seenAt: Date.now() }),
    async counted() {
      const lines = (await metrics.render()).split('\n')
      const valueOf = (name: string) =>
        Number(
          lines
            .find((line) => line.startsWith(`${name}{`))
            ?.split(' ')
            .at(-1) ?? 0,
        )
      return {
        cost: valueOf('portage_delivery_cost_wei_total'),
        useless: valueOf('portage_useless_delivery_cost_wei_total'),
        fees: valueOf('portage_fees_earned_wei_total'),
        times: valueOf('portage_transfer_seconds_count'),
      }
    },
  }
}

const ways = ['near', 'far'] as const

test.each(ways)('the gas of each stage counts once, and the fee only with the last stage; finality is %s', async (way) => {
  const first = setting({ passed: ['receive'] })
  expect(await first[way]('receive')).toMatchObject({ kind: 'passed' })
  await Promise.resolve()
  expect(await first.counted()).toEqual({ cost: 200, useless: 0, fees: 0, times: 0 })
  const last = setting({})
  expect(await last[way]('complete')).toMatchObject({ kind: 'delivered' })
  await expect.poll(last.counted).toEqual({ cost: 200, useless: 0, fees: 700, times: 1 })
})

test.each(ways)('the coins of a delivery count as cost, whatever the bridge says about payments; finality is %s', async (way) => {
  const on = setting({ tried: [attempt({ hash: '0x06', value: '5', fate: 'outbid' }), attempt({ value: '30' })] })
  expect(await on[way]()).toMatchObject({ kind: 'delivered' })
  await expect.poll(on.counted).toEqual({ cost: 230, useless: 0, fees: 700, times: 1 })
})

test.each(ways)('coins of a call without an effect are lost, but not coins of a revert; finality is %s', async (way) => {
  const own = { delivered: async () => false }
  const on = setting({ tried: [attempt({ value: '30' })], own })
  expect(await on[way]()).toMatchObject({ kind: 'reverted' })
  expect(await on.counted()).toEqual({ cost: 0, useless: 230, fees: 0, times: 0 })
  const reverted = setting({ tried: [attempt({ value: '30', fate: 'reverted' })], own })
  expect(await reverted[way]()).toMatchObject({ kind: 'reverted' })
  expect(await reverted.counted()).toEqual({ cost: 0, useless: 200, fees: 0, times: 0 })
})

test('each transfer of a batch counts its share of the gas', async () => {
  const on = setting({ isInBatch: true })
  expect(await on.near()).toMatchObject({ kind: 'delivered', landed: { gasPaid: '50', batch: 'batch:1' } })
  await expect.poll(on.counted).toEqual({ cost: 50, useless: 0, fees: 700, times: 1 })
})

test('a step that fails after it has seen the final call counts nothing, because it is tried again', async () => {
  const noAnswer = async () => Promise.reject(new Error('no answer'))
  const on = setting({ passed: ['receive'], own: { delivered: noAnswer } })
  await expect(on.far('receive')).rejects.toThrow('no answer')
  await expect(on.near('receive')).rejects.toThrow('no answer')
  expect(await on.counted()).toEqual({ cost: 0, useless: 0, fees: 0, times: 0 })
})
