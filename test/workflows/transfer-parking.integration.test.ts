import { randomUUID } from 'node:crypto'
import { Worker } from '@temporalio/worker'
import type { TestWorkflowEnvironment } from '@temporalio/testing'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { ErrorCode } from '../../domain/catalogue/errors.ts'
import { until } from '../../lab/devnet/until.ts'
import { silentLogger } from '../../observability/logger.ts'
import { chainQueue, laneQueue, searchAttributes } from '../../temporal/contracts/names.ts'
import { retrySignal, type TransferInput, type TransferStatus, wakeSignal } from '../../temporal/contracts/transfer.ts'
import type { AdmitInput, BroadcastInput, BroadcastResult, Ready } from '../../temporal/contracts/transfer-steps.ts'
import { workflowBundle } from '../../workers/process/bundle.ts'
import { startTimeSkipping } from '../helpers/time-skipping.ts'
import { landed, lanes, ready, type Script, sound, transfer } from './scripted.ts'

/** The type Keyword in Temporal's API of search attributes. */
const keyword = 2
const day = 24 * 3_600_000
const soon = { timeoutMs: 30_000, everyMs: 20 }

/** The waits between rounds take up to half an hour. Temporal's test server skips them. */
describe('A transfer whose rounds fail', () => {
  let environment: TestWorkflowEnvironment
  let round: (input: BroadcastInput) => BroadcastResult
  let laneStatus: Script['getLaneStatus'] = sound.getLaneStatus
  let parkAfter: Ready['parkAfter']
  let broadcasts = 0
  const admitted: AdmitInput['reverted'][] = []
  const workers: Worker[] = []
  let running: Promise<unknown>

  beforeAll(async () => {
    environment = await startTimeSkipping()
    const { nativeConnection: connection, connection: admin } = environment
    const keywords = Object.values(searchAttributes).map(({ name }) => [name, keyword])
    await admin.operatorService.addSearchAttributes({ namespace: 'default', searchAttributes: Object.fromEntries(keywords) })
    const activities = {
      ...sound,
      admit: async (input: AdmitInput) => {
        admitted.push(input.reverted)
        return { ...(ready(input) as Ready), gasLimit: '70', parkAfter }
      },
      broadcast: async (input: BroadcastInput) => (broadcasts++, round(input)),
      getLaneStatus: async () => laneStatus(),
    }
    const bundle = await workflowBundle(silentLogger())
    for (const taskQueue of [chainQueue('bsc'), ...lanes.map(laneQueue)])
      workers.push(await Worker.create({ connection, taskQueue, activities, workflowBundle: bundle }))
    running = Promise.all(workers.map((worker) => worker.run()))
  })
  afterAll(async () => {
    for (const worker of workers) worker.shutdown()
    await running
  })
  beforeEach(() => {
    parkAfter = undefined
    broadcasts = 0
    admitted.length = 0
    laneStatus = sound.getLaneStatus
  })

  const reverted = (): BroadcastResult => ({ kind: 'reverted', landed, reason: 'transaction 0x07 reverted', failedCall: 'reverted' })
  const spent = (): BroadcastResult => ({ kind: 'spent', nonce: 7, by: 'noop', tried: [] })

  async function started(fails: typeof round) {
    round = fails
    const handle = await environment.client.workflow.start('transfer', {
      workflowId: randomUUID(),
      taskQueue: chainQueue('bsc'),
      args: [{ transfer } satisfies TransferInput],
    })
    const afterADay = async () => (await environment.sleep(day), handle.query<TransferStatus>('status'))
    return { handle, afterADay }
  }

  function secondsBetweenRounds({ timeline }: TransferStatus): number[] {
    return timeline.flatMap(({ state, at }, index) => {
      const next = timeline[index + 1]
      return state === 'waiting' && next ? [Math.round((next.at - at) / 1_000)] : []
    })
  }

  test('a transfer is parked after the fifth revert, and a retry allows five more', async () => {
    const { handle, afterADay } = await started(reverted)
    const parked = await afterADay()
    const why = { code: 'DELIVERY_REVERTED', reason: 'transaction 0x07 reverted', failedCall: 'reverted' }
    expect(parked).toMatchObject({ state: 'parked', ...why })
    expect(secondsBetweenRounds(parked)).toEqual([2, 4, 8, 16])
    expect(broadcasts).toBe(5)
    await handle.signal(retrySignal, { order: { by: 'night-shift', reason: 'a test' } })
    expect((await afterADay()).state).toBe('parked')
    expect(broadcasts).toBe(10)
    await handle.terminate()
  })

  test('a transfer is parked after its twentieth spent nonce, with waits of half an hour at most', async () => {
    const { handle, afterADay } = await started(spent)
    const parked = await afterADay()
    const why = { code: 'DELIVERY_REVERTED', reason: 'nonce 7 was used by a noop transaction', failedCall: 'spent' }
    expect(parked).toMatchObject({ state: 'parked', ...why })
    expect(secondsBetweenRounds(parked).slice(-3)).toEqual([1_800, 1_800, 1_800])
    expect(broadcasts).toBe(20)
    await handle.terminate()
  })

  test('five calls that too few nodes refused park a transfer, and do not count as reverts', async () => {
    const { handle, afterADay } = await started(() => ({ ...(spent() as object), refused: 'fatal: no' }) as BroadcastResult)
    const reason = 'too few nodes answered, and refused the call: fatal: no'
    expect(await afterADay()).toMatchObject({ state: 'parked', code: 'DELIVERY_REVERTED', reason, failedCall: 'refused' })
    expect(broadcasts).toBe(5)
    expect(admitted.at(-1)).toEqual({ calls: 0, gas: 0 })
    await handle.terminate()
  })

  // An error that nobody expects is a bug, which seldom passes within minutes.
  test.each<[ErrorCode, number, string]>([
    ['NODE_UNAVAILABLE', 60, 'an outage of its chain is over'],
    ['CONFIG_DIFFERS', 60, 'the configs are equal'],
    ['INTERNAL', 1_800, 'an unexpected error is gone'],
  ])('a transfer that has waited long with %s continues within %i s once %s', async (code, seconds) => {
    const { handle } = await started(() => ({ kind: 'no-slot', code, reason: 'a reason', retryInMs: 1_000 }))
    await environment.sleep(3 * 60 * 60_000)
    expect(secondsBetweenRounds(await handle.query<TransferStatus>('status')).at(-1)).toBe(seconds)
    await handle.terminate()
  })

  test('a transfer waits as long as the lane says if the lane alone quarantines its recipient or token', async () => {
    const retryInMs = 20 * 60_000
    const { handle } = await started(() => ({ kind: 'no-slot', code: 'QUARANTINED', reason: 'a quarantine', retryInMs }))
    await environment.sleep(60 * 60_000)
    const { state, code, rounds } = await handle.query<TransferStatus>('status')
    expect([state, code]).toEqual(['waiting', 'QUARANTINED'])
    // The first round tries a call that runs no code of the recipient. Each later round waits for 20 minutes.
    expect([rounds, broadcasts]).toEqual([5, 4])
    await handle.terminate()
  })

  test('a transfer with one allowed revert is parked after its first call, and a retry allows one more', async () => {
    parkAfter = { reverts: 1, spentNonces: 20 }
    const { handle, afterADay } = await started(reverted)
    expect(await afterADay()).toMatchObject({ state: 'parked', code: 'DELIVERY_REVERTED' })
    expect(broadcasts).toBe(1)
    await handle.signal(retrySignal, { order: { by: 'night-shift', reason: 'a test' } })
    expect((await afterADay()).state).toBe('parked')
    expect(broadcasts).toBe(2)
    await handle.terminate()
  })

  test("an admission gets the gas of reverted calls; a gate keeps this sum, an operator's retry clears it", async () => {
    parkAfter = { reverts: 2, spentNonces: 20 }
    const { handle, afterADay } = await started(reverted)
    await until(async () => (await handle.query<TransferStatus>('status')).state === 'waiting', { what: 'the first wait', ...soon })
    await handle.signal(wakeSignal)
    expect((await afterADay()).state).toBe('parked')
    const [first, ...gated] = admitted.splice(0)
    expect(first).toEqual({ calls: 0, gas: 0 })
    expect(gated).toEqual([
      { calls: 0, gas: 70 },
      { calls: 1, gas: 140 },
    ])
    await handle.signal(retrySignal, { order: { by: 'night-shift', reason: 'a test' } })
    expect((await afterADay()).state).toBe('parked')
    expect(admitted).toEqual([
      { calls: 0, gas: 0 },
      { calls: 1, gas: 70 },
    ])
    await handle.terminate()
  })

  test('a transfer leaves a lane that does not work after the configured time, even if runs are shorter', async () => {
    const minute = 60_000
    laneStatus = () => ({ lane: { lane: lanes[0], open: false, why: 'unserved' }, others: 1, abandonAfterMs: 75 * minute })
    const handle = (
      await started(({ lane }) =>
        lane === lanes[0]
          ? { kind: 'pending', nonce: 7, attempts: 1, reason: 'blocks are full', tried: [] }
          : { kind: 'delivered', landed },
      )
    ).handle
    await environment.sleep(70 * minute)
    expect(await handle.query<TransferStatus>('status')).toMatchObject({ state: 'pending', lane: lanes[0] })
    await environment.sleep(35 * minute)
    expect(await handle.query<TransferStatus>('status')).toMatchObject({ state: 'delivered', lane: lanes[1] })
  })

  test('a transfer is parked after as many reverts or spent nonces as the config allows', async () => {
    parkAfter = { reverts: 2, spentNonces: 3 }
    for (const [fails, rounds] of [
      [reverted, 2],
      [spent, 3],
    ] as const) {
      broadcasts = 0
      const { handle, afterADay } = await started(fails)
      expect((await afterADay()).state).toBe('parked')
      expect(broadcasts).toBe(rounds)
      await handle.terminate()
    }
  })
})
