import { afterAll, beforeAll, expect, test } from 'vitest'
import { until } from '../../lab/devnet/until.ts'
import { laneWorkflowId } from '../../temporal/contracts/names.ts'
import { devnetSigner } from '../helpers/evm.ts'
import { laneOf, startLaneSetting, type LaneSetting } from './setting.ts'

let setting: LaneSetting

beforeAll(async () => {
  setting = await startLaneSetting()
})

afterAll(() => setting?.stop())

test('an idle lane learns of orders, reads its account then, and otherwise reports nothing', async () => {
  const lane = laneOf(await devnetSigner(20))
  const agent = await setting.agent(await devnetSigner(20))
  const ledger = () => setting.ledgers.state(lane)
  const length = async () => (await setting.ledgers.temporal.client.workflow.getHandle(laneWorkflowId(lane)).describe()).historyLength
  const { height = 0 } = agent.view ?? {}

  expect(await setting.ledgers.order(lane, { kind: 'resync', id: 'o' })).toEqual({ kind: 'done' })
  expect((await ledger()).synced).toBe(false)
  await setting.mineUntil(async () => (await ledger()).synced, 'the ledger to be synced again')
  expect((await ledger()).observed?.height).toBeGreaterThan(height)

  // A report of the next block may still be on its way: a later request is answered after it.
  await setting.mineUntil(() => agent.view?.synced, 'the agent to hear of that')
  await agent.notFree(['nobody/1'])
  let before = -1
  const quiet = async () => {
    const last = before
    before = await length()
    return last === before || setting.mine(10).then(() => false)
  }
  await until(quiet, { timeoutMs: 60_000, what: 'the ledger to get no update' })
  await setting.mine(25)
  expect(await length()).toBe(before)
})
