import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { until } from '../../lab/devnet/until.ts'
import { inPool, mine, startMining, stopMining } from '../helpers/e2e-chain.ts'
import { expectDelivered } from '../helpers/e2e-judge.ts'
import { type Sent, type Stage, startStage } from '../helpers/e2e.ts'

const coin = { kind: 'coin', amount: 10n ** 17n } as const

/** Finality is 16 blocks behind the head. Transfers go to bsc. */
describe('Blocks that go away while no process is there', { timeout: 300_000 }, () => {
  let stage: Stage
  let lane: string
  const anvil = () => stage.devnet.chains.bsc.anvil

  beforeAll(async () => {
    stage = await startStage({ consistencyLevel: 200, slotsInAnEpoch: 8 })
    lane = stage.devnet.lanes.find(({ chain }) => chain === 'bsc')!.address
    await Promise.all(Object.values(stage.devnet.chains).map((chain) => mine(chain.anvil, 20)))
  })

  afterAll(() => stage?.close())

  test('killed between inclusion and finality, then a reorganisation: the next process sends the same bytes again, and they deliver', async () => {
    const first = await stage.portage()
    await stopMining(anvil())
    const sent = (await stage.send('ethereum', [coin, coin])) as [Sent, Sent]
    const ours = await inPool(anvil(), lane, 2)
    await mine(anvil(), 2)
    for (const { id } of sent) await stage.reaches(id, 'included')
    await stage.end(first, 'SIGKILL')
    await anvil().rpc('anvil_reorg', [2, []])
    for (const { hash } of ours) expect(await anvil().rpc('eth_getTransactionReceipt', [hash])).toBeNull()
    await anvil().rpc('anvil_dropAllTransactions', [])
    await startMining(anvil())
    await stage.portage()
    const again = async () => (await stage.devnet.check(sent)).delivered === sent.length
    await until(again, { timeoutMs: 120_000, everyMs: 200, what: 'both deliveries to be in blocks again' })
    await mine(anvil(), 16)
    const ends = await stage.outcomes(sent)
    expect(ends).toMatchObject(sent.map(() => ({ state: 'delivered', rounds: 1, delivery: { by: lane, ours: true } })))
    expect(new Set(ends.map(({ txHash }) => txHash))).toEqual(new Set(ours.map(({ hash }) => hash)))
    const { lanes } = await expectDelivered(stage)
    expect(lanes.find(({ address }) => address === lane)?.transactions).toBe(2)
  })
})
