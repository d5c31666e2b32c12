import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import type { PortageOptions, PortageProcess } from '../../lab/devnet/portage-process.ts'
import { until } from '../../lab/devnet/until.ts'
import { activateSignal, forbidSignal, laneStatusQuery, pauseSignal, resumeSignal } from '../../temporal/contracts/lane.ts'
import { cancelSignal, retrySignal } from '../../temporal/contracts/transfer.ts'
import { stuckInPool } from '../faults/stuck.ts'
import { runCli } from '../cli/run-cli.ts'
import { mineDearUntil, pooled, startMining, stopMining } from '../helpers/e2e-chain.ts'
import { expectDelivered, expectNotDelivered } from '../helpers/e2e-judge.ts'
import { type Sent, type Stage, ledgerId, startStage } from '../helpers/e2e.ts'

const coin = { kind: 'coin', amount: 10n ** 17n } as const

describe('Transfers that do not wait for ever', () => {
  let stage: Stage
  let portage: PortageProcess
  // No server has the messages, because a stream would fetch them and start the transfers without a deadline.
  const byHand = { guardianApis: [], wormholescanApis: [] }
  const configure: PortageOptions['configure'] = ({ bridges: { 'wormhole-token-bridge': wormhole, ...bridges }, ...config }) => ({
    ...config,
    bridges: { ...bridges, 'wormhole-token-bridge': { ...wormhole, ...byHand } },
    transfers: { abandonAfterMinutes: 0 },
    worker: { ...config.worker, laneTaskSeconds: 5 },
  })
  const anvil = () => stage.devnet.chains.bsc.anvil
  const lanes = () => stage.devnet.lanes.filter(({ chain }) => chain === 'bsc').map(({ address }) => address)
  const ledger = (index: number) => stage.client.workflow.getHandle(ledgerId(stage.devnet, 'bsc', index))
  const transfer = ({ id }: Sent) => stage.client.workflow.getHandle(id)

  /**
   * Submits a transfer. Calls `options` only after the message is signed, so that the time until a deadline starts
   * then.
   */
  async function submit(options: () => readonly string[] = () => []): Promise<Sent> {
    const [sent] = (await stage.send('ethereum', [coin])) as [Sent]
    const vaa = Buffer.from(await stage.vaa(sent)).toString('base64')
    const { code, err } = await runCli(['transfer', 'submit', vaa, ...options(), '--api', portage.apiUrl, '--config', portage.configPath], {
      env: process.env,
    })
    expect([code, err]).toEqual([0, ''])
    return sent
  }
  const carried = async () => {
    const pools = await Promise.all(lanes().map((lane) => pooled(anvil(), lane)))
    const index = pools.findIndex(({ length }) => length > 0)
    return index >= 0 ? { index, call: pools[index]![0]! } : undefined
  }
  const carrier = () => until(carried, { timeoutMs: 60_000, what: 'the call to be in the pool' })
  /**
   * Submits a transfer whose call must reach the pool before the deadline. If the deadline passes first, adds the
   * parked transfer to `late`, and tries again with twice the time.
   */
  async function submitInTime(late: Sent[]) {
    for (let withinMs = 20_000; ; withinMs *= 2) {
      const sent = await submit(() => ['--deadline', new Date(Date.now() + withinMs).toISOString()])
      const look = async () => (await carried()) ?? ((await stage.status(sent.id)).state === 'parked' && ('late' as const))
      const found = await until(look, { timeoutMs: 90_000, what: 'the call to be in the pool, or the deadline to pass' })
      if (found !== 'late') return { sent, ...found }
      late.push(sent)
    }
  }

  beforeAll(async () => {
    stage = await startStage({ consistencyLevel: 200, keysPerChain: 2 })
    await stage.devnet.guardian.spy.stop()
    portage = await stage.portage({ configure })
    for (const index of lanes().keys()) await until(() => ledger(index).query('status'), { timeoutMs: 60_000, what: 'the ledger' })
  })

  afterEach(() => startMining(anvil()))
  afterAll(() => stage?.close())

  test('a transfer without a nonce is parked at its deadline and sends nothing; a retry delivers it', async () => {
    for (const index of lanes().keys()) await ledger(index).signal(pauseSignal, { order: { by: 'night-shift', reason: 'a test' } })
    const sent = await submit(() => ['--deadline', '0.1', '--priority', '2'])
    const parked = await stage.reaches(sent.id, 'parked')
    expect(parked).toMatchObject({ code: 'DEADLINE_PASSED' })
    expect(parked).not.toHaveProperty('nonce')
    await expectNotDelivered(stage, [sent])
    for (const index of lanes().keys()) await ledger(index).signal(resumeSignal)
    await transfer(sent).signal(retrySignal)
    expect(await stage.outcomes([sent])).toMatchObject([{ state: 'delivered', delivery: { ours: true } }])
    await expectDelivered(stage)
  })

  test('a transfer past its deadline with a stuck call is parked after a no-op, and a retry delivers it', async () => {
    await stopMining(anvil())
    const late: Sent[] = []
    const { sent, index, call } = await submitInTime(late)
    const ordered = async () => Object.values((await ledger(index).query(laneStatusQuery)).entries).some(({ fill }) => fill === 'cancelled')
    await until(ordered, { timeoutMs: 90_000, what: 'the transfer to order that the lane fills the nonce' })
    await mineDearUntil(anvil(), call.maxFeePerGas * 3n, lanes()[index]!, call.nonce + 1)
    await startMining(anvil())
    expect(await stage.reaches(sent.id, 'parked')).toMatchObject({ code: 'DEADLINE_PASSED' })
    await expectNotDelivered(stage, [sent])
    for (const one of [sent, ...late]) await transfer(one).signal(retrySignal)
    for (const end of await stage.outcomes([sent, ...late])) expect(end).toMatchObject({ state: 'delivered', delivery: { ours: true } })
    await expectDelivered(stage)
  })

  test('a transfer leaves a stuck nonce on a forbidden lane, moves to the other lane and is delivered once', async () => {
    const stuck = await stuckInPool(anvil())
    const sent = await submit()
    const { index, call } = await carrier()
    const other = lanes()[1 - index]!
    await ledger(index).signal(forbidSignal, { order: { by: 'night-shift', reason: 'a test' } })
    const moved = async () => {
      await stuck.passBlock()
      return (await pooled(anvil(), other)).length > 0
    }
    await until(moved, { timeoutMs: 90_000, everyMs: 500, what: 'the other lane to take it' })
    const { lane, timeline } = await stage.status(sent.id)
    expect(lane).toContain(other)
    expect(timeline.map(({ note }) => note).join()).toContain(`nonce ${call.nonce} was left to its lane`)
    await stuck.end()
    // The pool has the calls of both lanes. Either may be mined first.
    const [end] = await stage.outcomes([sent])
    expect(end).toMatchObject({ state: 'delivered', delivery: { ours: true } })
    expect(lanes()).toContain(end?.delivery?.by)
    await ledger(index).signal(activateSignal)
    await expectDelivered(stage)
  })

  test('a cancelled transfer whose process died ends only once its call is mined, and ends as delivered', async () => {
    const stuck = await stuckInPool(anvil())
    const sent = await submit()
    const { index, call } = await carrier()
    const [dead, other] = [lanes()[index]!, lanes()[1 - index]!]
    await stage.end(portage, 'SIGKILL')
    portage = await stage.portage({ configure, name: 'without-the-lane', args: ['--lane', other] })
    await ledger(index).signal(forbidSignal, { order: { by: 'a test', reason: 'a test' } })
    const becomes = (what: string, look: () => Promise<boolean>) =>
      until(async () => (await look()) || stuck.passBlock().then(() => false), { timeoutMs: 90_000, everyMs: 500, what })
    await becomes('the other lane to take it', async () => (await pooled(anvil(), other)).length > 0)
    await transfer(sent).signal(cancelSignal, { order: { by: 'a test', reason: 'a change of mind' } })
    // The no-op of the other lane is mined. The transfer now waits only for the abandoned nonce.
    await becomes('it to wait for the nonce that it left', async () => (await stage.status(sent.id)).code === 'NONCE_NOT_FINAL')
    expect(await stage.status(sent.id)).toMatchObject({ state: 'waiting', reason: expect.stringContaining(`nonce ${call.nonce} of `) })
    expect((await stage.status(sent.id)).reason).toContain(dead)
    expect((await pooled(anvil(), dead)).map(({ hash }) => hash)).toEqual([call.hash])
    await stuck.end()
    expect(await stage.outcomes([sent])).toMatchObject([{ state: 'delivered', delivery: { by: dead, ours: true, txHash: call.hash } }])
    await expectDelivered(stage)
  })
})
