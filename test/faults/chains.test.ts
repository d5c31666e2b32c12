import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { drained, evict, spikeBaseFee, useKey } from '../../lab/faults/chain-faults.ts'
import { forkFromSnapshot, reorganize } from '../../lab/faults/forks.ts'
import { until } from '../../lab/devnet/until.ts'
import { inPool, mine, nonceOf, startMining, stopMining } from '../helpers/e2e-chain.ts'
import { type Stage, startStage } from '../helpers/e2e.ts'
import { deliveredOnce } from './delivered-once.ts'
import { sendCoins, startSound } from './processes.ts'

const count = 3
/** Number of blocks in an epoch. `finalized` lags by twice this number, which is also the depth of the deepest fork. */
const slotsInAnEpoch = 1

describe('chains that do wrong', { timeout: 300_000 }, () => {
  let stage: Stage
  const chain = () => stage.devnet.chains.bsc.anvil
  const lanes = () => stage.devnet.lanes.filter((lane) => lane.chain === 'bsc')
  const lane = () => {
    const [first] = lanes()
    if (!first) throw new Error('bsc has no lane')
    return first
  }
  const inFlight = async () => {
    await stopMining(chain())
    const sent = await sendCoins(stage, count)
    await inPool(chain(), lane().address, count)
    return sent
  }
  /** Resolves when the relayer has asked its node for a block `times` more times. */
  const looked = async (times: number) => {
    const looks = () => stage.devnet.nodes.bsc[0]?.calls.get('eth_getBlockByNumber') ?? 0
    const enough = looks() + times
    await until(() => looks() >= enough, { timeoutMs: 90_000, what: 'the relayer to look at the chain' })
  }
  const headIncludes = async (nonce: number) => {
    const look = async () => (await nonceOf(chain(), lane().address)) >= nonce
    await until(look, { timeoutMs: 60_000, everyMs: 50, what: `nonce ${nonce - 1} to be mined` })
  }

  beforeAll(async () => {
    stage = await startStage({ slotsInAnEpoch, blockTimeSeconds: 1, nodesPerChain: 1 })
    await startSound(stage)
  })

  afterAll(() => stage?.close())

  test.each([
    [1, 'back in the pool'],
    [2 * slotsInAnEpoch, 'lost'],
  ] as const)('transfers survive a reorganisation of depth %i, its transactions %s', async (depth, what) => {
    const from = await nonceOf(chain(), lane().address)
    const sent = await inFlight()
    await mine(chain(), depth)
    await headIncludes(from + count)
    // anvil_reorg also starts interval mining again.
    await reorganize(chain(), { depth, lost: what === 'lost' ? [lane().address] : [] })
    expect((await deliveredOnce(stage, sent)).wastedTransactions).toBe(0)
  })

  test.each([
    [1, true],
    [2 * slotsInAnEpoch, false],
  ])('transfers survive the loss of their transactions in a fork of depth %i (longer at once: %s)', async (depth, longer) => {
    const sent = await inFlight()
    await forkFromSnapshot(chain(), { depth, lost: [lane().address], longer }, () => looked(3))
    expect((await deliveredOnce(stage, sent)).wastedTransactions).toBe(0)
  })

  test('transfers survive a spike of the base fee while their transactions wait', async () => {
    const sent = await inFlight()
    await spikeBaseFee(chain(), 80n * 10n ** 9n)
    await startMining(chain())
    expect((await deliveredOnce(stage, sent)).wastedTransactions).toBe(0)
  })

  test('transfers survive the eviction of their transactions from the pool', async () => {
    const sent = await inFlight()
    expect(await evict(chain(), lanes())).toBe(count)
    await startMining(chain())
    expect((await deliveredOnce(stage, sent)).wastedTransactions).toBe(0)
  })

  test('transfers survive a chain that stops', async () => {
    const sent = await inFlight()
    const before = await inPool(chain(), lane().address, count)
    // If the fee rose with polls instead of blocks, twenty polls would have raised it.
    await looked(20)
    expect(await inPool(chain(), lane().address, count)).toEqual(before)
    await startMining(chain())
    expect((await deliveredOnce(stage, sent)).wastedTransactions).toBe(0)
  })

  test('transfers survive a key that is drained while its transactions wait, and refunded', async () => {
    const sent = await inFlight()
    await drained(chain(), lane(), () => mine(chain(), 3))
    await startMining(chain())
    expect((await deliveredOnce(stage, sent)).wastedTransactions).toBe(0)
  })

  test.each(['latest', 'pending'] as const)('transfers survive a foreign transaction with our key, at its %s nonce', async (at) => {
    const { wastedTransactions: before } = await stage.devnet.check(stage.sent)
    const sent = await inFlight()
    expect(await useKey(chain(), lane(), at)).toBe(true)
    await startMining(chain())
    expect((await deliveredOnce(stage, sent)).wastedTransactions).toBe(before + 1)
  })
})
