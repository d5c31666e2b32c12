import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import type { PortageProcess } from '../../lab/devnet/portage-process.ts'
import { until } from '../../lab/devnet/until.ts'
import type { TransferStatus } from '../../temporal/contracts/transfer.ts'
import { runCli } from '../cli/run-cli.ts'
import { inPool, mine, mineDearUntil, startMining, stopMining } from '../helpers/e2e-chain.ts'
import { expectDelivered, expectNotDelivered } from '../helpers/e2e-judge.ts'
import { sendUnattested } from '../helpers/e2e-token.ts'
import type { Sent, Stage } from '../helpers/e2e.ts'
import { startStageWithoutAudit } from '../helpers/e2e-audit.ts'
import { untilWithdrawn } from '../helpers/e2e-withdrawn.ts'

const coin = { kind: 'coin', amount: 10n ** 17n } as const
const cancel = JSON.stringify({ by: 'night-shift', reason: 'wrong recipient' })

describe('Operation with the plain temporal CLI', { timeout: 300_000 }, () => {
  let stage: Stage
  let portage: PortageProcess
  let lane: string
  const anvil = () => stage.devnet.chains.bsc.anvil
  const cancelled: Sent[] = []

  const query = async (id: string): Promise<TransferStatus> => {
    const { stdout } = await stage.temporal('workflow', 'query', '--workflow-id', id, '--type', 'status', '-o', 'json')
    const { queryResult } = JSON.parse(stdout) as { queryResult: TransferStatus | [TransferStatus] }
    return [queryResult].flat()[0] as TransferStatus
  }
  const signal = (id: string, name: string, ...input: string[]) =>
    stage.temporal('workflow', 'signal', '--workflow-id', id, '--name', name, ...(input.length > 0 ? ['--input', ...input] : []))
  const eventsOf = async (id: string) => (await stage.client.workflow.getHandle(id).fetchHistory()).events ?? []
  const isRetry = (event: Awaited<ReturnType<typeof eventsOf>>[number]) =>
    event.workflowExecutionSignaledEventAttributes?.signalName === 'retry'
  const retries = async (id: string) => (await eventsOf(id)).filter(isRetry).length
  /** Time in ms at which the wait before the last retry ended. 0 if the signal ended the wait. */
  const waitEnded = async (id: string) => {
    const events = await eventsOf(id)
    const before = events.slice(0, events.findLastIndex(isRetry))
    const wait = before.findLast(({ timerStartedEventAttributes }) => timerStartedEventAttributes)?.timerStartedEventAttributes?.timerId
    if (!wait) throw new Error(`${id} did not wait when it was retried`)
    const fired = events.find(({ timerFiredEventAttributes }) => timerFiredEventAttributes?.timerId === wait)
    return Number(fired?.eventTime?.seconds ?? 0) * 1_000
  }
  const portageLane = async (...args: string[]) => {
    const { code, err } = await runCli(['lane', ...args, '--config', portage.configPath], { env: process.env })
    expect([code, err]).toEqual([0, ''])
  }
  const delivered = () => stage.sent.filter(({ id }) => !cancelled.some((one) => one.id === id))

  beforeAll(async () => {
    ;({ stage, portage, lane } = await startStageWithoutAudit(coin))
  })

  afterEach(() => startMining(anvil()))
  afterAll(() => stage?.close())

  test('a transfer is found by whatever somebody has of it, also by the transaction on its source', async () => {
    const sent = stage.sent[0]!
    const { transfer, txHash = 'none' } = await stage.status(sent.id)
    const portageTransfer = async (...args: string[]) => {
      const { out } = await runCli(['transfer', ...args, '--json', '--config', portage.configPath], { env: process.env })
      return JSON.parse(out) as { id?: string; transfers?: { id: string }[] }
    }
    const listed = async (hash: string) => (await portageTransfer('list', '--tx', hash)).transfers?.map(({ id }) => id)
    await expect.poll(() => listed(txHash)).toEqual([sent.id])
    expect(await listed(sent.txHash)).toEqual([])
    const vaa = Buffer.from(await stage.vaa(sent))
    const short = sent.id.split(':').at(-1) ?? ''
    const place = `${sent.emitter}/${sent.sequence}`
    const forms = {
      ...{ 'its id': sent.id, 'the end of it': short, 'number and end': `${sent.sequence}:${short}`, 'its digest': transfer.digest },
      ...{ 'the hash on its source': sent.txHash, 'the hash on its target': txHash },
      ...{ 'its place by names': `${sent.source}/${place}`, 'by the number of Wormhole': `${sent.emitterChain}/${place}` },
      ...{ 'its VAA in base64': vaa.toString('base64'), 'its VAA in hex': `0x${vaa.toString('hex')}` },
    }
    const found = Object.entries(forms).map(async ([form, given]) => [form, (await portageTransfer('show', given)).id])
    expect(await Promise.all(found)).toEqual(Object.keys(forms).map((form) => [form, sent.id]))
    // No transfer has the changed VAA. The error must still name the transfer that the VAA would start.
    vaa[vaa.length - 1]! ^= 1
    const unknown = await portageTransfer('show', vaa.toString('base64'))
    expect(unknown).toMatchObject({
      error: { code: 'TRANSFER_NOT_FOUND', facts: { transfer: expect.stringContaining(`:${sent.sequence}:`) } },
    })
    const answer = await fetch(`${portage.apiUrl}/v1/transfers/${sent.txHash}`, { headers: portage.admin })
    expect(await answer.json()).toMatchObject({ id: sent.id })
  })

  test('a batch signal retries all waiting transfers of a search, and a query shows their status', async () => {
    const token = await sendUnattested(stage, 'ethereum', 3)
    const waiting = await stage.identify(token.transfers)
    for (const { id } of waiting) await stage.reaches(id, 'waiting')
    expect(await query(waiting[0]!.id)).toMatchObject({ id: waiting[0]!.id, state: 'waiting', code: 'WRAPPER_MISSING', rounds: 1 })
    await signal(waiting[0]!.id, 'retry')
    const twice = async () => (await query(waiting[0]!.id)).timeline.filter(({ state }) => state === 'waiting').length > 1
    await until(twice, { timeoutMs: 60_000, everyMs: 200, what: 'the retried transfer to have tried and to wait again' })
    const listed = async () => (await stage.client.workflow.count("TransferState = 'waiting'")).count === waiting.length
    await until(listed, { timeoutMs: 60_000, everyMs: 100, what: 'all of them to be listed as waiting' })
    const asked = await Promise.all(waiting.map(({ id }) => retries(id)))
    const batch = [
      'workflow',
      'signal',
      '--query',
      "TransferState='waiting'",
      '--name',
      'retry',
      '--reason',
      'the wrapper is there',
      '--yes',
    ]
    // The frozen process cannot deliver the transfers before the test has created the wrapped token and signalled them.
    process.kill(portage.pid, 'SIGSTOP')
    const transfers = await (async () => {
      try {
        const attested = await stage.identify(await token.attest())
        await stage.temporal(...batch)
        const all = async () => (await Promise.all(waiting.map(({ id }) => retries(id)))).every((many, index) => many > asked[index]!)
        await until(all, { timeoutMs: 60_000, everyMs: 100, what: 'each to be signalled' })
        return attested
      } finally {
        process.kill(portage.pid, 'SIGCONT')
      }
    })()
    const resumed = Date.now()
    expect((await stage.outcomes(transfers)).map(({ state }) => state)).toEqual(['delivered', 'delivered', 'delivered'])
    // Each transfer's wait must have ended, by the signal or by itself, before the process continued.
    for (const { id } of transfers) expect(await waitEnded(id)).toBeLessThan(resumed)
    await expectDelivered(stage, transfers)
  })

  test('a transfer cancelled before it has a nonce sends nothing', async () => {
    await portageLane('pause', lane, '--reason', 'a test')
    await until(async () => (await stage.lane('bsc')).paused !== undefined, { timeoutMs: 60_000, what: 'the lane to be paused' })
    const [sent] = (await stage.send('ethereum', [coin])) as [Sent]
    cancelled.push(sent)
    await stage.reaches(sent.id, 'waiting')
    await signal(sent.id, 'cancel', cancel)
    const [end] = await stage.outcomes([sent])
    expect(end).toMatchObject({ state: 'cancelled', reason: 'wrong recipient' })
    expect(end?.timeline.at(-1)?.note).toContain('night-shift')
    expect(end).not.toHaveProperty('nonce')
    await expectNotDelivered(stage, [sent])
  })

  test('a transfer that waits for the only lane, which is paused, shows why and continues after the resume', async () => {
    const [sent] = (await stage.send('ethereum', [coin])) as [Sent]
    const { reason } = await stage.reaches(sent.id, 'waiting')
    expect(reason).toContain('paused: a test')
    await portageLane('resume', lane, '--reason', 'a test')
    const [end] = await stage.outcomes([sent])
    expect(end).toMatchObject({ state: 'delivered' })
    await expectDelivered(stage, delivered())
  })

  test.each([
    { by: 'the signal', filled: 1, reason: 'wrong recipient', act: (id: string) => signal(id, 'cancel', cancel) },
    {
      ...{ by: "Temporal's own cancel", filled: 2, reason: 'cancelled through Temporal' },
      act: (id: string) => stage.temporal('workflow', 'cancel', '--workflow-id', id),
    },
  ])('a transfer cancelled by $by while its call is stuck in the pool: the lane mines a no-op instead', async ({ filled, reason, act }) => {
    await stopMining(anvil())
    const [sent] = (await stage.send('ethereum', [coin])) as [Sent]
    cancelled.push(sent)
    const [call] = await inPool(anvil(), lane, 1)
    await act(sent.id)
    await untilWithdrawn(stage, 'bsc', call!.nonce)
    // The base fee of these blocks is above the call's fee, so the no-op is mined and the call is not.
    await mineDearUntil(anvil(), call!.maxFeePerGas * 3n, lane, call!.nonce + 1)
    await startMining(anvil())
    await mine(anvil(), 3)
    const [end] = await stage.outcomes([sent])
    expect(end).toMatchObject({ state: 'cancelled', reason })
    await expectNotDelivered(stage, [sent])
    expect((await stage.lane('bsc')).counts.filled).toBe(filled)
  })

  test('a transfer cancelled after its call was mined is delivered', async () => {
    await stopMining(anvil())
    const [sent] = (await stage.send('ethereum', [coin])) as [Sent]
    await inPool(anvil(), lane, 1)
    await signal(sent.id, 'cancel', cancel)
    await startMining(anvil())
    expect(await stage.outcomes([sent])).toMatchObject([{ state: 'delivered', delivery: { by: lane, ours: true } }])
    await expectDelivered(stage, delivered())
  })

  test('a transfer reset with its call in the pool, and again once it is delivered, pays once', async () => {
    await stopMining(anvil())
    const [sent] = (await stage.send('ethereum', [coin])) as [Sent]
    await inPool(anvil(), lane, 1)
    const reset = () => stage.temporal('workflow', 'reset', '--workflow-id', sent.id, '--type', 'FirstWorkflowTask', '--reason', 'a test')
    await reset()
    await startMining(anvil())
    expect(await stage.outcomes([sent])).toMatchObject([{ state: 'delivered', delivery: { by: lane, ours: true } }])
    const { execution } = (await stage.client.workflow.getHandle(sent.id).describe()).raw.workflowExecutionInfo ?? {}
    await reset()
    expect(await stage.outcomes([sent])).toMatchObject([{ state: 'delivered', delivery: { by: lane, ours: true } }])
    expect((await stage.client.workflow.getHandle(sent.id).describe()).runId).not.toBe(execution?.runId)
    await expectDelivered(stage, delivered())
  })

  test('a transfer terminated with a nonce leaves the nonce used, and submitting it again shows its state', async () => {
    await stopMining(anvil())
    const sent = (await stage.send('ethereum', [coin, coin])) as [Sent, Sent]
    const [first] = await inPool(anvil(), lane, 2)
    await stage.temporal('workflow', 'terminate', '--workflow-id', sent[0].id, '--reason', 'by mistake')
    // The pool loses the transaction. The lane must still use its nonce.
    await anvil().rpc('anvil_dropTransaction', [first!.hash])
    await startMining(anvil())
    await stage.outcomes([sent[1]])
    expect(await stage.submit(portage, await stage.vaa(sent[0]))).toMatchObject({ status: 202 })
    expect(await stage.outcomes(sent)).toMatchObject(sent.map(() => ({ state: 'delivered', delivery: { ours: true } })))
    await expectDelivered(stage, delivered())
  })

  test('if a lane is terminated, its pending nonces are mined and a new ledger takes over from the chain', async () => {
    await stopMining(anvil())
    const pending = await stage.send('ethereum', [coin, coin, coin])
    const pool = await inPool(anvil(), lane, 3)
    await stage.temporal('workflow', 'terminate', '--workflow-id', `lane:evm-${anvil().chainId}:${lane}`, '--reason', 'by mistake')
    const later = await stage.send('ethereum', [coin, coin])
    await startMining(anvil())
    expect(await stage.outcomes([...pending, ...later])).toMatchObject(
      [...pending, ...later].map(() => ({ state: 'delivered', rounds: 1 })),
    )
    const { lanes } = await expectDelivered(stage, delivered())
    expect(lanes.find(({ address }) => address === lane)?.transactions).toBe(pool.at(-1)!.nonce + 1 + later.length)
    // The surviving process reported the granted nonces to the new ledger, so the new ledger granted none of them
    // again.
    expect((await stage.lane('bsc')).counts.granted).toBe(pool.at(-1)!.nonce + 1 + later.length)
  })

  test('after the loss of the ledger that knew a nonce, the pool decides about a cancel', async () => {
    await stopMining(anvil())
    const [sent] = (await stage.send('ethereum', [coin])) as [Sent]
    await inPool(anvil(), lane, 1)
    await stage.temporal('workflow', 'terminate', '--workflow-id', `lane:evm-${anvil().chainId}:${lane}`, '--reason', 'by mistake')
    await signal(sent.id, 'cancel', cancel)
    await stage.reaches(sent.id, 'broadcasting')
    await startMining(anvil())
    expect(await stage.outcomes([sent])).toMatchObject([{ state: 'delivered', delivery: { by: lane, ours: true } }])
    await expectDelivered(stage, delivered())
  })
})
