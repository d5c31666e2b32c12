import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { until } from '../../lab/devnet/until.ts'
import { inPool, startMining, stopMining } from '../helpers/e2e-chain.ts'
import { expectDelivered } from '../helpers/e2e-judge.ts'
import { type Stage, startStage } from '../helpers/e2e.ts'

const window = 4
const coins = (count: number) =>
  Array.from({ length: count }, (_, index) => ({ kind: 'coin' as const, amount: 10n ** 17n + BigInt(index) * 10n ** 12n }))

describe('Temporal goes away', { timeout: 400_000 }, () => {
  let stage: Stage

  beforeAll(async () => {
    // With a small window, some transfers are in flight and others wait when the server stops.
    stage = await startStage({ inMemory: false, window, consistencyLevel: 200 })
    await stage.portage()
  })

  afterAll(() => stage?.close())

  test('if Temporal is killed during 20 transfers and more come meanwhile, all are delivered once', async () => {
    const { temporal, chains, lanes } = stage.devnet
    const back = await stage.send('bsc', coins(8))
    // bsc makes no blocks, so its lane's window stays full until the server is killed. The other transfers to bsc wait
    // for a nonce.
    await stopMining(chains.bsc.anvil)
    const there = await stage.send('ethereum', coins(8))
    await inPool(chains.bsc.anvil, lanes.find(({ chain }) => chain === 'bsc')?.address ?? '', window)
    const delivered = async () => (await stage.devnet.check([...there, ...back])).delivered
    await until(async () => (await delivered()) > 0, { timeoutMs: 90_000, everyMs: 50, what: 'a first delivery' })
    await temporal.kill('SIGKILL')
    expect(await delivered()).toBeLessThanOrEqual(back.length)
    await startMining(chains.bsc.anvil)
    // The spy sends each VAA only once, so the intake must keep it until the server is back.
    await Promise.all([stage.send('ethereum', coins(2)), stage.send('bsc', coins(2))])
    await temporal.restart()
    const ends = await stage.outcomes(stage.sent, 180_000)
    expect(ends.map(({ state, delivery }) => [state, delivery?.ours])).toEqual(stage.sent.map(() => ['delivered', true]))
    expect((await expectDelivered(stage)).revertedTransactions).toBe(0)
  })
})
