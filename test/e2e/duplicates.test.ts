import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { PortageProcess } from '../../lab/devnet/portage-process.ts'
import { until } from '../../lab/devnet/until.ts'
import { expectDelivered } from '../helpers/e2e-judge.ts'
import { type Sent, type Stage, startStage } from '../helpers/e2e.ts'

const coin = { kind: 'coin', amount: 10n ** 17n } as const

describe('Duplicates, and workers that are away', () => {
  let stage: Stage
  let api: PortageProcess
  let chain: PortageProcess
  let lane: PortageProcess

  /** All runs of a workflow id. Waits until the list, which lags, has the latest run. */
  const runsOf = async (id: string, count: number) => {
    const { runId: latest } = await stage.client.workflow.getHandle(id).describe()
    const look = async () => {
      const runs: string[] = []
      for await (const { runId } of stage.client.workflow.list({ query: `WorkflowId = '${id}'` })) runs.push(runId)
      return runs.includes(latest) && runs.length >= count && runs
    }
    return until(look, { timeoutMs: 60_000, everyMs: 100, what: `${count} runs of ${id} to be listed` })
  }
  const isRunning = async ({ id }: Sent) => (await stage.client.workflow.getHandle(id).describe()).status.name === 'RUNNING'
  const allStarted = (sent: readonly Sent[]) =>
    until(async () => (await Promise.all(sent.map(isRunning))).every(Boolean), { timeoutMs: 90_000, what: 'the workflows to be started' })

  beforeAll(async () => {
    stage = await startStage()
    ;[api] = await Promise.all([stage.portage({ role: 'api', name: 'api' }), stage.portage({ role: 'intake', name: 'intake' })])
  })

  afterAll(() => stage?.close())

  test('VAAs that arrive while no worker runs are delivered when one comes', async () => {
    const sent = await stage.send('ethereum', [coin, coin, coin])
    await allStarted(sent)
    ;[chain, lane] = await Promise.all([
      stage.portage({ role: 'chain', name: 'chain' }),
      stage.portage({ role: 'lane', name: 'lane' }),
      stage.portage({ role: 'ledger', name: 'ledger' }),
    ])
    expect((await stage.outcomes(sent)).map(({ state }) => state)).toEqual(['delivered', 'delivered', 'delivered'])
    await expectDelivered(stage)
  })

  test('a VAA from the spy, ten times by REST and again by the spy is one workflow, one redeem', async () => {
    const [sent] = (await stage.send('bsc', [coin])) as [Sent]
    const vaa = await stage.vaa(sent)
    const answers = await Promise.all(Array.from({ length: 10 }, () => stage.submit(api, vaa)))
    expect(new Set(answers.map(({ body }) => body['id']))).toEqual(new Set([sent.id]))
    // If the intake started the transfer first, no request gets 202 (started).
    expect(answers.filter(({ status }) => status === 202).length).toBeLessThanOrEqual(1)
    stage.devnet.guardian.spy.publish(vaa, sent.emitterChain, sent.emitter)
    const [end] = await stage.outcomes([sent])
    expect(end).toMatchObject({ state: 'delivered', rounds: 1 })
    stage.devnet.guardian.spy.publish(vaa, sent.emitterChain, sent.emitter)
    expect(await stage.submit(api, vaa)).toEqual({ status: 200, body: { id: sent.id, status: 'known' } })
    expect(await runsOf(sent.id, 1)).toHaveLength(1)
    const { lanes } = await expectDelivered(stage)
    expect(lanes.map(({ transactions }) => transactions).toSorted((a, b) => a - b)).toEqual([1, 3])
  })

  test('VAAs that arrive without a worker are delivered once, and a terminated transfer is submitted again', async () => {
    await stage.end(chain)
    const [early, terminated] = (await stage.send('bsc', [coin, coin])) as [Sent, Sent]
    await allStarted([early, terminated])
    await stage.temporal('workflow', 'terminate', '--workflow-id', terminated.id, '--reason', 'by mistake')
    const vaa = await stage.vaa(terminated)
    expect(await stage.submit(api, vaa)).toEqual({ status: 202, body: { id: terminated.id, status: 'started' } })
    expect(await runsOf(terminated.id, 2)).toHaveLength(2)
    await stage.end(lane, 'SIGKILL')
    await stage.portage({ role: 'chain', name: 'chain-2' })
    // The state `broadcasting` shows that both messages are verified. Both transfers wait, because no process has the
    // key.
    await Promise.all([early, terminated].map(({ id }) => stage.reaches(id, 'broadcasting')))
    await stage.portage({ role: 'lane', name: 'lane-2' })
    expect((await stage.outcomes([early, terminated])).map(({ state }) => state)).toEqual(['delivered', 'delivered'])
    await expectDelivered(stage)
  })

  test('a delivered transfer is still known after a restart', async () => {
    await stage.end(api)
    api = await stage.portage({ role: 'api', name: 'api-2' })
    const [sent] = stage.sent as [Sent]
    expect(await stage.submit(api, await stage.vaa(sent))).toEqual({ status: 200, body: { id: sent.id, status: 'known' } })
    expect(await runsOf(sent.id, 1)).toHaveLength(1)
  })
})
