import { Worker } from '@temporalio/worker'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { devnetAccount } from '../../lab/devnet/chain/accounts.ts'
import { until } from '../../lab/devnet/until.ts'
import type { LaneOrder } from '../../domain/lane/messages.ts'
import { createLaneStatusCache } from '../../lanes/ledger/open-lanes.ts'
import { laneQueue } from '../../temporal/contracts/names.ts'
import { laneOf, startLedgers, type Ledgers } from './setting.ts'

describe('The cache of lane statuses', () => {
  let ledgers: Ledgers
  let keys = 20

  beforeAll(async () => {
    ledgers = await startLedgers()
  })

  afterAll(() => ledgers?.stop())

  /**
   * Makes a ledger that has observed a balance of 1,000 wei. `minimumBalance`: lowest balance with which the lane takes
   * work, wei.
   */
  async function lane(minimumBalance = '0'): Promise<string> {
    const config = { lane: laneOf(devnetAccount(keys++)), window: 8, fillAfterBlocks: 100, minimumBalance }
    const line = ledgers.client(config)
    line.observe({ latest: 0, finalized: 0, height: 10, hash: '0x0a', balance: '1000', claims: [], since: 1, pending: 0 })
    await until(() => line.view?.synced, { timeoutMs: 60_000, what: 'the ledger to be synced' })
    return config.lane
  }

  const cacheOf = (lanes: readonly string[]) => createLaneStatusCache(ledgers.temporal.client, lanes)

  test('the cache lists the lanes that take new work, and why the others do not', async () => {
    const [open, paused, draining, forbidden, broke] = [await lane(), await lane(), await lane(), await lane(), await lane('1001')]
    const orders: [string, LaneOrder][] = [
      [paused, { kind: 'pause', id: 'o', pause: { kind: 'operator', reason: 'maintenance' } }],
      [draining, { kind: 'drain', id: 'o', reason: 'a new key' }],
      [forbidden, { kind: 'forbid', id: 'o', reason: 'a leak' }],
    ]
    for (const [one, order] of orders) await ledgers.order(one, order)
    const young = laneOf(devnetAccount(keys++))
    const all = cacheOf([open, paused, draining, forbidden, broke, young])
    expect(await all.statuses()).toMatchObject([
      { lane: open, open: true },
      { lane: paused, open: false, why: 'paused', detail: 'maintenance' },
      { lane: draining, open: false, why: 'draining', detail: 'a new key' },
      { lane: forbidden, open: false, why: 'forbidden', detail: 'a leak' },
      { lane: broke, open: false, why: 'funds', detail: 'balance 1000 wei, minimum 1001 wei' },
      { lane: young, open: true },
    ])
    expect(await all.open()).toEqual([open, young])
    expect(await cacheOf([paused, broke]).open()).toEqual([])
    await ledgers.order(paused, { kind: 'activate', id: 'o' })
    // Another process has a new cache.
    expect(await cacheOf([paused, broke]).open()).toEqual([paused])
  })

  test('a lane counts as without a worker if nobody polls its queue and its ledger gets no report', async () => {
    const [dead, quiet] = [await lane(), await lane()]
    const { connection, namespace } = ledgers.temporal
    const activities = { broadcast: async () => {} }
    const worker = await Worker.create({ connection, namespace, taskQueue: laneQueue(quiet), activities, shutdownGraceTime: 0 })
    const running = worker.run()
    try {
      const both = cacheOf([dead, quiet])
      expect(await both.open()).toEqual([dead, quiet])
      await until(async () => !(await both.status(dead)).open, { timeoutMs: 120_000, everyMs: 1_000, what: 'the dead lane to be missed' })
      expect(await both.status(dead)).toMatchObject({ why: 'unserved', detail: expect.stringContaining(laneQueue(dead)) })
      expect(await both.open()).toEqual([quiet])
      // If all lanes are without a worker, they count as open, because their queues keep the work until a worker comes.
      expect(await cacheOf([dead]).open()).toEqual([dead])
    } finally {
      worker.shutdown()
      await running
    }
  })
})
