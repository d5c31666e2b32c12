import { afterAll, beforeAll, expect, test } from 'vitest'
import { Script } from '../../lab/devnet/chain/contracts.ts'
import { nativeBridgeAbi } from '../../lab/devnet/native/native-bridge.ts'
import type { SentNativeTransfer } from '../../lab/devnet/native/native-users.ts'
import { nativeTransferId } from '../../lab/devnet/sent.ts'
import { inPool, startMining, stopMining } from '../helpers/e2e-chain.ts'
import { type Stage, startStage } from '../helpers/e2e.ts'

const cap = 10n ** 17n / 4n
const daySeconds = 86_400

let stage: Stage
const anvil = () => stage.devnet.chains.bsc.anvil

async function nextDay(): Promise<void> {
  const { timestamp } = await anvil().rpc<{ timestamp: string }>('eth_getBlockByNumber', ['latest', false])
  await anvil().rpc('evm_setNextBlockTimestamp', [(Math.floor(Number(timestamp) / daySeconds) + 1) * daySeconds])
  await anvil().rpc('evm_mine')
}

beforeAll(async () => {
  stage = await startStage({ native: 'strict', wormhole: false, window: 1 })
  await nextDay()
  await stage.portage()
})
afterAll(async () => {
  if (stage) await startMining(anvil())
  await stage?.close()
})

/** In the deployed contract, anybody can spend the day's budget. */
test('a budget spent by a stranger keeps a transfer unsigned, and it is delivered at midnight', async () => {
  const { users, ends } = stage.devnet.native!
  const { address } = stage.devnet.lanes.find(({ chain }) => chain === 'bsc')!
  const sent: SentNativeTransfer[] = []
  const send = async (amount: bigint) => {
    const [one] = await users.ethereum.send([{ amount }])
    sent.push(one!)
    return nativeTransferId(one!)
  }
  await stopMining(anvil())
  const first = await send(100n)
  await inPool(anvil(), address, 1)
  const second = await send(200n)
  await stage.reaches(second, 'broadcasting')
  const stranger = await Script.of(anvil(), stage.devnet.outsiders.bsc)
  stranger.call(ends.bsc.bridge, await nativeBridgeAbi('strict'), '_rateLimitInbound', [cap - 250n])
  await stranger.mine()
  await startMining(anvil())
  await stage.outcomes([first])
  const held = await stage.reaches(second, 'waiting')
  expect(held).toMatchObject({ code: 'BRIDGE_BUDGET' })
  expect(held.nonce).toBeUndefined()
  await nextDay()
  expect(await stage.outcomes([second])).toMatchObject([{ state: 'delivered', delivery: { ours: true } }])
  const { lost, duplicates, nonceHoles, wastedTransactions } = await stage.devnet.check(sent)
  expect({ lost, duplicates, nonceHoles, wastedTransactions }).toEqual({ lost: 0, duplicates: 0, nonceHoles: 0, wastedTransactions: 0 })
})
