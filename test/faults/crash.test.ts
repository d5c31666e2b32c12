import { readFile } from 'node:fs/promises'
import { type ConfigInput, withBroadcast } from '../../lab/devnet/relayer-config.ts'
import { until } from '../../lab/devnet/until.ts'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import type { Failpoint } from '../../observability/failpoints.ts'
import { inPool, pooled, startMining, stopMining } from '../helpers/e2e-chain.ts'
import { type Stage, startStage } from '../helpers/e2e.ts'
import { allDeliveredOnce, inFlight } from './judge.ts'
import { died, fellAsleep, resubmit, sendCoins, startDoomed, startSound, stateOf } from './processes.ts'
import { stuckInPool } from './stuck.ts'

const count = 8
/** Fewer slots than transfers: when the process dies, some transfers have a nonce and others wait for one. */
const window = 5

type Form = 'auto' | 'queue'

/** Columns: failpoint, visit at which the process dies, form of the broadcast, state that the death leaves. */
const deaths: readonly (readonly [Failpoint, number, Form, string])[] = [
  // This row is first, because an older ledger might continue as new before any transfer exists.
  ['lane-continue-as-new', 1, 'auto', 'the ledger in the middle of continue-as-new'],
  ['after-grant', 3, 'auto', 'nonces that nothing is signed for'],
  ['after-sign', 3, 'queue', 'bytes that were never sent'],
  ['after-send', 3, 'queue', 'transactions that nobody follows'],
  ['activity-done-unreported', 3, 'auto', 'a delivery that the workflow has not heard of'],
]

function broadcasting(form: Form) {
  const wanted = (process.env['PORTAGE_E2E_BROADCAST'] as Form | undefined) ?? form
  return (config: ConfigInput): ConfigInput => withBroadcast(config, wanted)
}

describe('kill -9 of a worker process', { timeout: 400_000 }, () => {
  let stage: Stage

  beforeAll(async () => {
    stage = await startStage({ window })
  })

  afterEach(() => stage.killAll())
  afterAll(() => stage?.close())

  // PORTAGE_E2E_BROADCAST (`queue` or `auto`) replaces the form of every row.
  test.each(deaths)('%s (time %i, broadcast %s): %s', async (failpoint, at, form) => {
    const doomed = await startDoomed(stage, failpoint, 'kill', at, { configure: broadcasting(form) })
    // Requests that arrive together share an update, so the ledger needs more transfers to continue as new.
    const sent = await sendCoins(stage, failpoint === 'lane-continue-as-new' ? 4 * count : count)
    await died(stage, doomed)
    expect(await inFlight(stage, sent)).toBeGreaterThan(0)
    const sound = await startSound(stage)
    await resubmit(stage, sound, sent)
    await allDeliveredOnce(stage)
    await stage.end(sound)
  })

  test('of two processes with one key one dies with unsigned nonces, which the other takes over', async () => {
    const lane = stage.devnet.lanes.find(({ chain }) => chain === 'bsc')?.address ?? ''
    const configure = (config: ConfigInput) => withBroadcast(config, 'queue')
    const sound = await startSound(stage, { configure })
    const doomed = await startDoomed(stage, 'after-grant', 'kill', 2, { role: 'lane', args: ['--lane', lane], configure })
    // The sound process may take all steps, so send until the doomed process has reached its failpoint.
    while (doomed.ended === undefined) {
      const sent = await sendCoins(stage, count)
      await stage.outcomes(sent, 120_000)
    }
    await died(stage, doomed)
    await sendCoins(stage, count)
    await allDeliveredOnce(stage)
    await stage.end(sound)
  })

  test('a stopped process wakes up after its work was taken over, and is of use again', async () => {
    const sleeper = await startDoomed(stage, 'after-sign', 'stop', 3)
    const sent = await sendCoins(stage, count)
    await fellAsleep(sleeper)
    expect(await inFlight(stage, sent)).toBeGreaterThan(0)
    const sound = await startSound(stage)
    await resubmit(stage, sound, sent)
    await stage.outcomes(sent, 120_000)
    expect(await stateOf(sleeper)).toMatch(/^T/)

    // The process continues where it stopped: it sends bytes for used nonces, and reports to closed tasks.
    sleeper.kill('SIGCONT')
    await until(() => fetch(`${sleeper.apiUrl}/ready`).then(({ ok }) => ok), { timeoutMs: 90_000, what: 'the sleeper to be ready again' })
    await resubmit(stage, sleeper, sent)
    await sendCoins(stage, 4)
    await allDeliveredOnce(stage)

    await stage.end(sound)
    await sendCoins(stage, 4)
    await allDeliveredOnce(stage)
    expect(sleeper.ended).toBeUndefined()
    await stage.end(sleeper)
  })

  test('after SIGTERM a process with a full window ends in time and logs the nonces that it leaves', async () => {
    const leaving = await startSound(stage)
    const { anvil } = stage.devnet.chains.bsc
    const lane = stage.devnet.lanes.find(({ chain }) => chain === 'bsc')?.address ?? ''
    await stopMining(anvil)
    const sent = await sendCoins(stage, count)
    const held = await inPool(anvil, lane, window)
    await stage.end(leaving)
    expect(leaving.ended).toBe('ended with code 0')
    // The last lines of a process may reach its log file after its end.
    const handedOver = async () => {
      const lines = (await readFile(leaving.logFile, 'utf8')).split('\n').slice(0, -1)
      const found = lines.filter((line) => line.includes('handed over'))
      return found.length > 0 && found
    }
    const lines = await until(handedOver, { timeoutMs: 60_000, what: 'the log to say which nonces were handed over' })
    const told = lines.map((line) => (JSON.parse(line) as { nonces: number[] }).nonces.toSorted((a, b) => a - b))
    expect(told).toEqual([held.map(({ nonce }) => nonce)])
    expect((await pooled(anvil, lane)).map(({ hash }) => hash)).toEqual(held.map(({ hash }) => hash))
    const sound = await startSound(stage)
    await resubmit(stage, sound, sent)
    await startMining(anvil)
    await allDeliveredOnce(stage)
    await stage.end(sound)
  })

  test('after-bump-recorded (time 1): a recorded replacement that was never signed is signed', async () => {
    const doomed = await startDoomed(stage, 'after-bump-recorded', 'kill', 1)
    const { anvil } = stage.devnet.chains.bsc
    const lane = stage.devnet.lanes.find(({ chain }) => chain === 'bsc')?.address ?? ''
    const stuck = await stuckInPool(anvil)
    const sent = await sendCoins(stage, count)
    const before = await inPool(anvil, lane, window)
    const block = async () => doomed.ended ?? (await stuck.passBlock().then(() => undefined))
    await until(block, { timeoutMs: 90_000, everyMs: 400, what: 'a bump' })
    await died(stage, doomed)
    expect(await inFlight(stage, sent)).toBe(count)
    expect(await pooled(anvil, lane)).toEqual(before)

    const sound = await startSound(stage)
    await resubmit(stage, sound, sent)
    // No block is mined, so the recorded attempt causes the raise, not the time in the pool.
    const raised = async () => {
      const [lowest] = await pooled(anvil, lane)
      return lowest && lowest.nonce === before[0]?.nonce && lowest.maxFeePerGas > before[0].maxFeePerGas
    }
    await until(raised, { timeoutMs: 120_000, what: 'the recorded replacement to be in the pool' })
    await stuck.end()
    await allDeliveredOnce(stage)
    await stage.end(sound)
  })
})
