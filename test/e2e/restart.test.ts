import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import type { PortageProcess } from '../../lab/devnet/portage-process.ts'
import { inPool, startMining, stopMining } from '../helpers/e2e-chain.ts'
import { expectDelivered } from '../helpers/e2e-judge.ts'
import { type Sent, type Stage, ledgerId } from '../helpers/e2e.ts'
import { startStageWithoutAudit } from '../helpers/e2e-audit.ts'

const coin = { kind: 'coin', amount: 10n ** 17n } as const

describe('Terminated or reset in Temporal', { timeout: 300_000 }, () => {
  let stage: Stage
  let portage: PortageProcess
  let lane: string
  const anvil = () => stage.devnet.chains.bsc.anvil
  const terminate = (id: string) => stage.temporal('workflow', 'terminate', '--workflow-id', id, '--reason', 'by mistake')
  const reset = (id: string) =>
    stage.temporal('workflow', 'reset', '--workflow-id', id, '--type', 'FirstWorkflowTask', '--reason', 'by mistake')
  const submit = async (sent: Sent) => expect(await stage.submit(portage, await stage.vaa(sent))).toMatchObject({ status: 202 })
  const ours = { state: 'delivered', delivery: { ours: true } }

  beforeAll(async () => {
    ;({ stage, portage, lane } = await startStageWithoutAudit(coin))
  })

  afterEach(() => startMining(anvil()))
  afterAll(() => stage?.close())

  test('a transfer terminated while it holds a nonce, and submitted again, keeps the nonce', async () => {
    await stopMining(anvil())
    const [sent] = (await stage.send('ethereum', [coin])) as [Sent]
    const [call] = await inPool(anvil(), lane, 1)
    await terminate(sent.id)
    await submit(sent)
    await stage.reaches(sent.id, 'broadcasting')
    await startMining(anvil())
    expect(await stage.outcomes([sent])).toMatchObject([{ ...ours, nonce: call!.nonce, txHash: call!.hash, rounds: 1 }])
    const { lanes } = await expectDelivered(stage)
    expect(lanes.find(({ address }) => address === lane)?.transactions).toBe(stage.sent.length)
  })

  test('a transfer reset to its first task while it holds a nonce keeps the nonce', async () => {
    await stopMining(anvil())
    const [sent] = (await stage.send('ethereum', [coin])) as [Sent]
    const [call] = await inPool(anvil(), lane, 1)
    await reset(sent.id)
    await stage.reaches(sent.id, 'broadcasting')
    await startMining(anvil())
    expect(await stage.outcomes([sent])).toMatchObject([{ ...ours, nonce: call!.nonce, txHash: call!.hash }])
    const { lanes } = await expectDelivered(stage)
    expect(lanes.find(({ address }) => address === lane)?.transactions).toBe(stage.sent.length)
  })

  test('a refused transfer, terminated and submitted again, loses a round and is delivered', async () => {
    const signal = (...args: string[]) =>
      stage.temporal('workflow', 'signal', '--workflow-id', ledgerId(stage.devnet, 'bsc'), ...['--name', ...args])
    await signal('pause', '--input', '{"reason":"a test"}')
    const [sent] = (await stage.send('ethereum', [coin])) as [Sent]
    await stage.reaches(sent.id, 'waiting')
    await terminate(sent.id)
    await signal('resume')
    await submit(sent)
    expect(await stage.outcomes([sent])).toMatchObject([ours])
    await expectDelivered(stage)
  })

  test('a ledger reset to its first task with pending nonces: they are mined, and later nonces have no gap', async () => {
    await stopMining(anvil())
    const pending = await stage.send('ethereum', [coin, coin, coin])
    await inPool(anvil(), lane, 3)
    await reset(ledgerId(stage.devnet, 'bsc'))
    const later = await stage.send('ethereum', [coin, coin])
    await startMining(anvil())
    expect(await stage.outcomes([...pending, ...later])).toMatchObject([...pending, ...later].map(() => ours))
    const { lanes } = await expectDelivered(stage)
    expect(lanes.find(({ address }) => address === lane)?.transactions).toBe(stage.sent.length)
  })
})
