import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { until } from '../../lab/devnet/until.ts'
import { expediteSignal } from '../../temporal/contracts/transfer.ts'
import { inPool, mine, mineDearUntil, pooled, startMining, stopMining } from '../helpers/e2e-chain.ts'
import { expectDelivered } from '../helpers/e2e-judge.ts'
import { type Sent, type Stage, startStage } from '../helpers/e2e.ts'

const coin = { kind: 'coin', amount: 10n ** 17n } as const

/** Transfers go to bsc, whose blocks become too dear for what was sent. */
describe('Stuck transactions', { timeout: 300_000 }, () => {
  let stage: Stage
  let lane: string
  const anvil = () => stage.devnet.chains.bsc.anvil

  beforeAll(async () => {
    stage = await startStage({ consistencyLevel: 200 })
    lane = stage.devnet.lanes.find(({ chain }) => chain === 'bsc')!.address
    await stage.portage()
    const warm = await stage.send('ethereum', [coin])
    await stage.outcomes(warm)
  })

  afterEach(() => startMining(anvil()))
  afterAll(() => stage?.close())

  test('the fee is raised at the same nonce until the block takes it; those behind it follow', async () => {
    await stopMining(anvil())
    const sent = await stage.send('ethereum', [coin, coin, coin])
    const first = await inPool(anvil(), lane, 3)
    const dear = 10n * first.map(({ maxFeePerGas }) => maxFeePerGas).reduce((a, b) => (a > b ? a : b))
    await mineDearUntil(anvil(), dear, lane, first.at(-1)!.nonce + 1)
    await startMining(anvil())
    await mine(anvil(), 2)
    const ends = await stage.outcomes(sent)
    expect(ends.map(({ state, rounds }) => [state, rounds])).toEqual(sent.map(() => ['delivered', 1]))
    const { lanes, findings, revertedTransactions } = await expectDelivered(stage)
    expect(revertedTransactions).toBe(0)
    // As many transactions as transfers: the raised ones took the nonces of the first.
    expect(lanes.find(({ address }) => address === lane)?.transactions).toBe(4)
    const landed = findings.slice(1).flatMap(({ txHashes }) => txHashes)
    expect(first.filter(({ hash }) => landed.includes(hash))).toEqual([])
  })

  test('the result says how many attempts it took', async () => {
    await stopMining(anvil())
    const [sent] = (await stage.send('ethereum', [coin])) as [Sent]
    const [first] = await inPool(anvil(), lane, 1)
    await mineDearUntil(anvil(), first!.maxFeePerGas * 2n, lane, first!.nonce + 1)
    await startMining(anvil())
    await mine(anvil(), 3)
    const [end] = await stage.outcomes([sent])
    expect(end).toMatchObject({ state: 'delivered', nonce: first!.nonce, rounds: 1 })
    expect(end?.attempts).toBeGreaterThan(1)
    expect(end?.txHash).not.toBe(first!.hash)
    await expectDelivered(stage)
  })

  test('expedite raises the fee at once: in the ledger, in the pool, and in the block', async () => {
    await stopMining(anvil())
    const [sent] = (await stage.send('ethereum', [coin])) as [Sent]
    const [first] = await inPool(anvil(), lane, 1)
    await stage.client.workflow.getHandle(sent.id).signal(expediteSignal)
    // No block comes: the lane itself would raise nothing.
    const replaced = async () => {
      const [call] = await pooled(anvil(), lane)
      return call && call.hash !== first!.hash && call
    }
    const raised = await until(replaced, { timeoutMs: 60_000, everyMs: 100, what: 'a dearer call to be in the pool' })
    expect(raised.nonce).toBe(first!.nonce)
    expect(raised.maxFeePerGas).toBeGreaterThanOrEqual((first!.maxFeePerGas * 12n) / 10n)
    const { attempts = [] } = (await stage.lane('bsc')).entries[first!.nonce] ?? {}
    expect(attempts.map(({ kind, maxFee }) => [kind, BigInt(maxFee)])).toEqual([
      ['call', first!.maxFeePerGas],
      ['call', raised.maxFeePerGas],
    ])
    await startMining(anvil())
    await mine(anvil(), 3)
    const [end] = await stage.outcomes([sent])
    expect(end).toMatchObject({ state: 'delivered', nonce: first!.nonce, txHash: raised.hash, attempts: 2, rounds: 1 })
    await expectDelivered(stage)
  })
})
