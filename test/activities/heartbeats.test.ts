import { MockActivityEnvironment } from '@temporalio/testing'
import { DefaultLogger } from '@temporalio/worker'
import { describe, expect, test } from 'vitest'
import { withHeartbeats } from '../../activities/run-step.ts'
import { createBroadcast } from '../../activities/transfer/broadcast.ts'
import { laneId } from '../../domain/lane/lane.ts'
import { noSettings } from '../../domain/settings/settings.ts'
import type { LaneAgent } from '../../lanes/agent.ts'
import type { BroadcastInput } from '../../temporal/contracts/transfer-steps.ts'
import { nativeTransfer } from '../helpers/native-transfer.ts'
import { bridgesWith, fakeDelivery, fakeEndpoint } from './fake-bridge.ts'
import { scriptedChain } from './scripted-chain.ts'

const lane = laneId('evm', 1, `0x${'11'.repeat(20)}`)
const transfer = nativeTransfer()
const input: BroadcastInput = {
  ...{ lane, intentId: 'transfer-1/1', transfer, callHash: '0x', mode: 'new', priority: 3 },
  ...{ gasLimit: '100000', maxFee: '2', tip: '1' },
}

function setting(heartbeatTimeoutMs: number, call: () => Promise<never>) {
  const broadcast = createBroadcast({
    agent: { lane } as Partial<LaneAgent> as LaneAgent,
    bridges: bridgesWith(fakeEndpoint({ delivery: fakeDelivery({ call }) })),
    chain: scriptedChain(() => '0xaa'),
    settings: () => noSettings,
  })
  const environment = new MockActivityEnvironment({ heartbeatTimeoutMs }, { logger: new DefaultLogger('ERROR') })
  return { environment, run: () => environment.run(withHeartbeats(broadcast), input) }
}

describe('Heartbeats of broadcast', () => {
  test('the first heartbeat comes after half of the timeout, later ones more often', async () => {
    const started = Date.now()
    const beats: number[] = []
    const { environment, run } = setting(1_000, () => ended)
    const ended = new Promise<never>((_, reject) => {
      environment.on('heartbeat', () => {
        beats.push(Date.now() - started)
        if (beats.length === 2) reject(new Error('the test is over'))
      })
    })
    await expect(run()).rejects.toThrow('the test is over')
    expect(beats[0]).toBeGreaterThanOrEqual(490)
    expect(beats[1]! - beats[0]!).toBeGreaterThanOrEqual(290)
  })

  test('a step that ends early sends no heartbeat', async () => {
    const beats: unknown[] = []
    const { environment, run } = setting(1_000, () => Promise.reject(new Error('at once')))
    environment.on('heartbeat', (details: unknown) => beats.push(details))
    await expect(run()).rejects.toThrow('at once')
    expect(beats).toEqual([])
  })
})
