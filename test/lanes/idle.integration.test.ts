import { afterAll, beforeAll, expect, test } from 'vitest'
import { until } from '../../devnet/until.ts'
import { laneWorkflowId } from '../../temporal/names.ts'
import { devnetSigner } from '../helpers/evm.ts'
import { laneOf, startLaneSetting, type LaneSetting } from './setting.ts'

let setting: LaneSetting

beforeAll(async () => {
  setting = await startLaneSetting()
})

afterAll(() => setting?.stop())

test('a lane without work hears what was ordered of its ledger, and reads its account anew; else its ledger is told nothing', async () => {
  const lane = laneOf(await devnetSigner(20))
  const agent = await setting.agent(await devnetSigner(20))
  const ledger = () => setting.ledgers.state(lane)
  const length = async () => (await setting.ledgers.temporal.client.workflow.getHandle(laneWorkflowId(lane)).describe()).historyLength
  const { height = 0 } = agent.view ?? {}

  expect(await setting.ledgers.order(lane, { kind: 'resync', id: 'o' })).toEqual({ kind: 'done' })
  expect((await ledger()).synced).toBe(false)
  const synced = async () => {
    await setting.mine()
    return (await ledger()).synced
  }
  await until(synced, { timeoutMs: 60_000, what: 'the ledger to be synced again' })
  expect((await ledger()).observed?.height).toBeGreaterThan(height)

  const before = await length()
  await setting.mine(25)
  expect(await length()).toBe(before)
})
