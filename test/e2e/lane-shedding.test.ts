import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { quickTakeover } from '../../lab/devnet/relayer-config.ts'
import type { PortageProcess } from '../../lab/devnet/portage-process.ts'
import { until } from '../../lab/devnet/until.ts'
import { drained } from '../../lab/faults/chain-faults.ts'
import { laneStatusQuery, pauseSignal, resumeSignal } from '../../temporal/contracts/lane.ts'
import { sendCoins } from '../faults/processes.ts'
import { expectDelivered } from '../helpers/e2e-judge.ts'
import { type Sent, type Stage, ledgerId, startStage } from '../helpers/e2e.ts'

/**
 * Number of transfers. A hash chooses their lanes, so each of the two lanes usually gets at least one of 12 transfers.
 * If a lane gets none, the test sends more.
 */
const count = 12

describe('Transfers of a lane that cannot deliver go to the other one', () => {
  let stage: Stage
  let second: PortageProcess
  const lanes = () => stage.devnet.lanes.filter(({ chain }) => chain === 'bsc')
  const ledger = (index: number) => stage.client.workflow.getHandle(ledgerId(stage.devnet, 'bsc', index))

  async function deliverers(): Promise<string[]> {
    const ends = await stage.outcomes(await sendCoins(stage, count), 150_000)
    expect(ends.map(({ state, delivery }) => [state, delivery?.ours])).toEqual(ends.map(() => ['delivered', true]))
    return [...new Set(ends.map(({ delivery }) => delivery?.by ?? ''))]
  }

  beforeAll(async () => {
    stage = await startStage({ consistencyLevel: 200, keysPerChain: 2, auditMinutes: 60, worker: { ...quickTakeover, laneTaskSeconds: 5 } })
    const served = stage.devnet.lanes.filter(({ address }) => address !== lanes()[1]!.address).flatMap(({ address }) => ['--lane', address])
    ;[, second] = await Promise.all([
      stage.portage({ name: 'first', args: served }),
      stage.portage({ name: 'second', role: 'lane', args: ['--lane', lanes()[1]!.address] }),
    ])
    for (const index of [0, 1]) await until(() => ledger(index).query(laneStatusQuery), { timeoutMs: 60_000, what: `ledger ${index}` })
  })
  afterAll(() => stage?.close())

  test('both lanes deliver as long as both can', async () => {
    const seen = new Set<string>()
    const both = async () => {
      for (const address of await deliverers()) seen.add(address)
      return seen.size > 1
    }
    await until(both, { timeoutMs: 150_000, what: 'both lanes to be chosen' })
    expect([...seen].toSorted()).toEqual(
      lanes()
        .map(({ address }) => address)
        .toSorted(),
    )
  })

  test('transfers of a paused lane go to the other one', async () => {
    await ledger(0).signal(pauseSignal, { order: { by: 'night-shift', reason: 'a test' } })
    expect(await deliverers()).toEqual([lanes()[1]!.address])
    await ledger(0).signal(resumeSignal)
  })

  test('transfers of a lane without funds go to the other one; those with a nonce wait for funds', async () => {
    const { anvil } = stage.devnet.chains.bsc
    const early = await drained(anvil, lanes()[0]!, async () => {
      const sent: Sent[] = []
      // A lane without work does not read its balance, so send transfers until the first lane gets one.
      const known = async () => {
        sent.push(...(await sendCoins(stage, count)))
        return (await ledger(0).query(laneStatusQuery)).observed?.balance === '0'
      }
      await until(known, { timeoutMs: 60_000, everyMs: 1_000, what: 'the ledger to know that its account is empty' })
      expect(await deliverers()).toEqual([lanes()[1]!.address])
      return sent
    })
    const ends = await stage.outcomes(early)
    expect(ends.map(({ state, rounds }) => [state, rounds <= 2])).toEqual(early.map(() => ['delivered', true]))
  })

  test('a lane whose only process was killed gets no transfers once the process has not polled for a while', async () => {
    await stage.end(second, 'SIGKILL')
    // With 2 × 12 transfers, the chance that the hash never chooses the dead lane is one in 17 million.
    const ends = await stage.outcomes(await sendCoins(stage, 2 * count), 170_000)
    const [first, dead] = lanes().map(({ address }) => address)
    expect(ends.map(({ delivery }) => delivery?.by)).toEqual(ends.map(() => first))
    const moved = ends.filter(({ timeline }) => timeline.some(({ note }) => note.includes(String(dead))))
    expect(moved.length).toBeGreaterThan(0)
    expect(moved.every(({ rounds }) => rounds > 1)).toBe(true)
    const { lanes: checked } = await expectDelivered(stage)
    expect(checked.map(({ holes }) => holes)).toEqual(checked.map(() => 0))
  })
})
