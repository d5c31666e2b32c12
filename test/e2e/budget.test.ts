import { WorkflowNotFoundError } from '@temporalio/common'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { PortageOptions, PortageProcess } from '../../lab/devnet/portage-process.ts'
import { until } from '../../lab/devnet/until.ts'
import { inPool, mine, startMining, stopMining } from '../helpers/e2e-chain.ts'
import { expectDelivered } from '../helpers/e2e-judge.ts'
import { cheapLot, costs, expectWithin, isWithin, tell } from '../helpers/e2e-budget.ts'
import { makePackage, sendNtt, sendPackaged, sendPayloads } from '../helpers/e2e-products.ts'
import { untilListed } from '../helpers/e2e-runs.ts'
import { type Sent, type Stage, startStage } from '../helpers/e2e.ts'

const coin = { kind: 'coin', amount: 10n ** 17n } as const
/**
 * Accepts only the error of a signal to a transfer that has ended, because the transfer may end by itself before the
 * signal arrives.
 */
const isOver = (error: unknown) => expect(error).toBeInstanceOf(WorkflowNotFoundError)
const coins = (count: number) => Array.from({ length: count }, () => coin)

const budget = {
  near: { stateTransitions: 8, historyEvents: 26 },
  far: { stateTransitions: 12, historyEvents: 26 },
}

/**
 * On bsc, `finalized` lags 70 blocks, so a transaction becomes final only after `broadcast` has stopped observing it.
 */
describe('The cost of a transfer', () => {
  let stage: Stage
  let portage: PortageProcess

  const rpcCalls = async () => {
    const text = await (await fetch(`${portage.apiUrl}/metrics`)).text()
    return [...text.matchAll(/^portage_rpc_calls_total\{.*\} (\d+)/gm)].reduce((sum, [, value]) => sum + Number(value), 0)
  }

  beforeAll(async () => {
    const products = { receivers: true, ntt: { consistencyLevel: 200 } }
    const pace = { consistencyLevel: 200, slotsInAnEpoch: { ethereum: 1, bsc: 35 }, blockTimeSeconds: 0.5 }
    stage = await startStage({ worker: {}, ...products, ...pace })
    await mine(stage.devnet.chains.bsc.anvil, 80)
    portage = await stage.portage()
  })

  afterAll(() => stage?.close())

  test('a transfer with near finality stays within its budget', async () => {
    const lot = async () => {
      const before = await rpcCalls()
      const sent = await stage.send('bsc', coins(20))
      await untilListed(stage, sent, 'delivered')
      const spent = await costs(stage, sent)
      const perTransfer = ((await rpcCalls()) - before) / sent.length
      console.info(`near finality: ${tell(spent)}; ${perTransfer.toFixed(1)} RPC calls per transfer, those per block among them`)
      return spent
    }
    for (const one of await cheapLot(lot, (all) => all.every((cost) => isWithin(cost, budget.near)))) expectWithin(one, budget.near)
    await expectDelivered(stage)
  })

  test('with far finality a transfer stays within its budget, and is sent again if its block goes away', async () => {
    const { anvil } = stage.devnet.chains.bsc
    const lane = stage.devnet.lanes.find(({ chain }) => chain === 'bsc')!.address
    const lot = async () => {
      const sent = await stage.send('ethereum', coins(10))
      await untilListed(stage, sent, 'included')
      // Make the block final before the transfer checks it, because a second check costs more transitions.
      await mine(anvil, 70)
      await untilListed(stage, sent, 'delivered')
      const spent = await costs(stage, sent)
      console.info(`far finality: ${tell(spent)}`)
      return spent
    }
    for (const one of await cheapLot(lot, (all) => all.every((cost) => isWithin(cost, budget.far)))) expectWithin(one, budget.far)
    await stopMining(anvil)
    const [undone] = (await stage.send('ethereum', [coin])) as [Sent]
    const [ours] = await inPool(anvil, lane, 1)
    await mine(anvil, 2)
    await stage.reaches(undone.id, 'included')
    await anvil.rpc('anvil_reorg', [2, []])
    await startMining(anvil, 1)
    const again = async () => (await stage.devnet.check([undone])).delivered === 1
    await until(again, { timeoutMs: 60_000, everyMs: 100, what: 'the undone delivery to be in a block again' })
    await mine(anvil, 70)
    // The transfer sleeps as long as a block usually takes to become final. The signal makes it check now.
    await stage.client.workflow.getHandle(undone.id).signal('retry').catch(isOver)
    await untilListed(stage, stage.sent, 'delivered')
    const ends = await stage.outcomes(stage.sent)
    expect(ends.map(({ state }) => state)).toEqual(ends.map(() => 'delivered'))
    expect(ends.at(-1)).toMatchObject({ rounds: 1, nonce: ours!.nonce })
    await expectDelivered(stage)
  })

  const lotOf = (what: string, send: typeof sendNtt) => async () => {
    const sent = await send(stage, 'bsc', 20)
    await untilListed(stage, sent, 'delivered')
    const spent = await costs(stage, sent)
    console.info(`${what}: ${tell(spent)}`)
    return spent
  }

  test.each([
    ['a payload 3 for a contract', sendPayloads],
    ['an NTT transfer', sendNtt],
  ])('%s with near finality stays within the budget of a token transfer', async (what, send) => {
    const spent = await cheapLot(lotOf(what, send), (all) => all.every((cost) => isWithin(cost, budget.near)))
    for (const one of spent) expectWithin(one, budget.near)
  })

  test('the message of a package costs no more than a token transfer of the same processes', async () => {
    await stage.end(portage)
    const plugins = await makePackage(stage, ['bsc', 'ethereum'])
    const configure: PortageOptions['configure'] = (config) => ({ ...config, bridges: { ...config.bridges, plugins } })
    await stage.portage({ role: 'lane', name: 'lane', configure })
    await stage.portage({ role: 'keyless', name: 'keyless', configure })
    const tokens = await lotOf('a token transfer, two processes', () => stage.send('bsc', coins(20)))()
    const most = {
      stateTransitions: Math.max(...tokens.map(({ stateTransitions }) => stateTransitions)),
      historyEvents: Math.max(...tokens.map(({ historyEvents }) => historyEvents)),
    }
    const spent = await cheapLot(lotOf('a message of a package', sendPackaged), (all) => all.every((cost) => isWithin(cost, most)))
    for (const one of spent) {
      expectWithin(one, most)
      expectWithin(one, budget.near)
    }
  })
})
