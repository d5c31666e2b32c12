import { afterAll, beforeAll, expect, test } from 'vitest'
import { until } from '../../lab/devnet/until.ts'
import { devnetSigner } from '../helpers/evm.ts'
import { laneOf, signedAndSent, startLaneSetting, request, type LaneSetting } from './setting.ts'

const waitLimit = { timeoutMs: 60_000 }

let setting: LaneSetting

beforeAll(async () => {
  setting = await startLaneSetting()
})

afterAll(() => setting?.stop())

test('a replaced chain halts the lane until an operator resets it', async () => {
  const signer = await devnetSigner(20)
  const lane = laneOf(signer)
  const ledger = () => setting.ledgers.state(lane)
  const agent = await setting.agent(signer)
  const mining = (done: () => unknown, what: string) =>
    until(async () => (await done()) || setting.mine().then(() => false), { ...waitLimit, what })
  await signedAndSent(agent, request('on the old chain'))
  await mining(async () => (await ledger()).observed?.final && agent.view?.finalized === 1, 'the ledger to know a final block')

  await setting.anvil.rpc('anvil_reset')
  const height = agent.view?.final?.height ?? 0
  await setting.anvil.mine(height + 5)
  // A running process accepts the new chain only after a while.
  const denied = async () => {
    await setting.anvil.mine()
    return (await ledger()).replaced
  }
  await until(denied, { ...waitLimit, everyMs: 300, what: 'the ledger to be notified' })
  await until(() => agent.load.pending === 0, { ...waitLimit, what: 'the old transactions to end' })
  expect(await agent.acquire(request('too early'), { timeoutMs: 60_000 })).toMatchObject({ kind: 'refused', why: 'replaced' })
  expect((await ledger()).next).toBe(1)

  expect(await setting.ledgers.order(lane, { kind: 'reset', id: 'o' })).toEqual({ kind: 'done' })
  await until(
    async () => {
      await setting.anvil.mine()
      return agent.view?.synced && agent.view.era === 1 && agent.view.closed === undefined
    },
    { ...waitLimit, everyMs: 300, what: 'the account to be read anew' },
  )
  const pending = await signedAndSent(agent, request('on the new chain'))
  expect(pending.nonce).toBe(0)
  await setting.anvil.mine()
  expect(await pending.until(({ kind }) => kind === 'included', waitLimit.timeoutMs)).toBe(true)
  // The ledger knows this chain, so there is nothing to reset.
  await mining(async () => (await ledger()).observed?.final !== undefined, 'a final block of the new chain')
  expect(await setting.ledgers.order(lane, { kind: 'reset', id: 'o' })).toMatchObject({ kind: 'refused', why: 'conflict' })
}, 200_000)
