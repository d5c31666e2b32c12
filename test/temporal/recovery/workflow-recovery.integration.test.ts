import { Worker } from '@temporalio/worker'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createLaneSteps } from '../../../activities/index.ts'
import { changeSettings, readSettings } from '../../../temporal/client/settings/settings.ts'
import { freshAddress } from '../../../lab/devnet/chain/accounts.ts'
import { until } from '../../../lab/devnet/until.ts'
import { noSettings } from '../../../domain/settings/settings.ts'
import { queryStream, applyToStream } from '../../../temporal/client/streams/streams.ts'
import type { LaneAgent } from '../../../lanes/agent.ts'
import { silentLogger } from '../../../observability/logger.ts'
import { createMetrics } from '../../../observability/metrics.ts'
import { batchOverSignal, batchStatusQuery, type BatchInput, type BatchStatus } from '../../../temporal/contracts/batch.ts'
import type { OperatorTransactionInput, OperatorTransactionStatus } from '../../../temporal/contracts/operator-transaction.ts'
import { forbidSignal } from '../../../temporal/contracts/lane.ts'
import { laneQueue, ledgerQueue, laneWorkflowId, settingsWorkflowId } from '../../../temporal/contracts/names.ts'
import { pauseStreamSignal, streamWorkflowId } from '../../../temporal/contracts/stream.ts'
import { startWorkflowRecovery } from '../../../temporal/recovery/workflow-recovery.ts'
import type { Service } from '../../../runtime/wait.ts'
import { watchSettings } from '../../../temporal/client/settings/settings-watch.ts'
import { nonceOf, pooled } from '../../helpers/e2e-chain.ts'
import { devnetSigner } from '../../helpers/evm.ts'
import { takeAndNeverAnswer } from '../../helpers/silent-worker.ts'
import { isBeingSent } from '../../lanes/operator-transaction-run.ts'
import { acquired, laneOf, signedAndSent, startLaneSetting, request, type LaneSetting } from '../../lanes/setting.ts'
import { spoil } from './spoil.ts'
import { metricValue } from '../../helpers/metrics.ts'

const waitLimit = { timeoutMs: 120_000 }

/** No build can replay the spoiled histories. */
describe('A stuck workflow is reset', () => {
  const metrics = createMetrics()
  let setting: LaneSetting
  let recovery: Service
  let keys = 20
  const client = () => setting.ledgers.temporal.client
  const spoiled = (...ids: string[]) => setting.ledgers.without(() => spoil(setting.ledgers.temporal, ids))
  const runOf = async (id: string) => (await client().workflow.getHandle(id).describe()).runId
  const resets = (type: string) => metricValue(metrics, 'portage_workflows_reset_total', { type })
  /** Mines until the lane's new run has read its account, because a lane reads its account only at a block. */
  const untilRead = (agent: LaneAgent, before: string) => {
    const isRead = () => agent.view?.synced && agent.view.run !== before
    return until(() => setting.mine().then(isRead), { ...waitLimit, what: 'the new run to have read its account' })
  }

  beforeAll(async () => {
    setting = await startLaneSetting()
    recovery = startWorkflowRecovery({ client: client(), logger: silentLogger(), metrics, everyMs: 300, restMs: 0, tries: 2 })
  })
  afterAll(async () => {
    await recovery?.stop()
    await setting?.stop()
  })

  test('a reset lane finishes what is in flight, and grants no nonce twice', async () => {
    const signer = await devnetSigner(keys++)
    const agent = await setting.agent(signer)
    const transactions = [await signedAndSent(agent, request('a')), await signedAndSent(agent, request('b'))]
    const id = laneWorkflowId(laneOf(signer))
    const before = await runOf(id)
    await spoiled(id)
    const next = acquired(agent, request('c'), waitLimit.timeoutMs)
    await untilRead(agent, before)
    const final = () => transactions.every(({ state }) => state.kind === 'included' && state.final)
    await until(() => setting.mine().then(final), { ...waitLimit, what: 'pending transfers to be final' })
    const pending = await next
    expect(pending.nonce).toBe(2)
    await pending.signAndSend()
    await setting.mine()
    expect(await nonceOf(setting.anvil, signer.address)).toBe(3)
  })

  test('a reset lane that an operator closed stays closed', async () => {
    const signer = await devnetSigner(keys++)
    const agent = await setting.agent(signer)
    const id = laneWorkflowId(laneOf(signer))
    await client()
      .workflow.getHandle(id)
      .signal(forbidSignal, { order: { by: 'night-shift', reason: 'the key may have leaked' } })
    const before = await runOf(id)
    await spoiled(id)
    const asked = agent.acquire(request('d'), { timeoutMs: waitLimit.timeoutMs })
    await untilRead(agent, before)
    // The earlier run refuses because of its reset. The new run refuses because of the order.
    expect(await asked).toMatchObject({ kind: 'refused' })
    const again = await agent.acquire(request('e'), { timeoutMs: waitLimit.timeoutMs })
    expect(again).toMatchObject({ kind: 'refused', why: 'forbidden', detail: expect.stringContaining('the key may have leaked') })
    expect(await setting.ledgers.state(laneOf(signer))).toMatchObject({ entries: {}, counts: { granted: 0 } })
  })

  test('reset settings keep a halt, though they are only queried', async () => {
    const known = { bridges: [], lanes: [], nodes: { bsc: [] } }
    const change = (chain: string) =>
      changeSettings(client(), known, { by: 'night-shift', reason: 'a test', orders: [{ kind: 'halt', scope: { chain } }] })
    const { after } = await change('bsc')
    await spoiled(settingsWorkflowId)
    const watch = await watchSettings({ client: client(), logger: silentLogger() })
    try {
      expect(watch.current().halts).not.toEqual([])
      await until(() => watch.current().version === after.version, { ...waitLimit, what: 'a new process to read the settings' })
      expect(watch.current().halts).toMatchObject([{ scope: { chain: 'bsc' }, by: 'night-shift' }])
      expect((await readSettings(client())).version).toBe(after.version)
      await until(async () => (await resets('settings')) > 0, { ...waitLimit, what: 'the settings to be counted as reset' })
      expect(await resets('settings')).toBe(1)
    } finally {
      await watch.stop()
    }
  })

  test('a reset stream goes on from its cursor, and keeps a pause', async () => {
    const config = { stream: 'native-bridge:ethereum:bsc', origin: '1/0xaa', first: '1', start: 10, maxOpen: 5 }
    const hash = (height: number) => `0x${height.toString(16).padStart(64, '0')}`
    const scanned = (from: number, to: number, numbers: (readonly [string, number])[]) =>
      ({ kind: 'scanned', from, to, parentHash: hash(from - 1), hash: hash(to), numbers, passed: [] }) as const
    await applyToStream(client(), config.stream, { requests: [scanned(30, 30, [['5', 30]])] }, { begin: () => ({ config }) })
    await applyToStream(client(), config.stream, { requests: [{ kind: 'skip', number: '5', by: 'night-shift', reason: 'a test' }] })
    const id = streamWorkflowId(config.stream)
    await client()
      .workflow.getHandle(id)
      .signal(pauseStreamSignal, { order: { by: 'night-shift', reason: 'a test' } })
    const before = await queryStream(client(), config.stream)
    await spoiled(id)
    const recorded = () =>
      applyToStream(client(), config.stream, { requests: [{ kind: 'completed', numbers: [], from: 5, to: 5 }] }).catch(() => undefined)
    await until(recorded, { ...waitLimit, what: 'the stream to know it' })
    const after = await queryStream(client(), config.stream)
    expect(after).toMatchObject({ cursor: before?.cursor, paused: { by: 'night-shift' }, exceptions: [{ number: '5' }] })
    await until(async () => (await resets('stream')) > 0, { ...waitLimit, what: 'the stream to be counted as reset' })
    expect(await resets('stream')).toBe(1)
  })

  test('a stuck stream that is only queried is reset', async () => {
    const config = { stream: 'native-bridge:bsc:ethereum', origin: '1/0xaa', first: '1', start: 10, maxOpen: 5 }
    await applyToStream(client(), config.stream, { requests: [] }, { begin: () => ({ config }) })
    const before = await resets('stream')
    await spoiled(streamWorkflowId(config.stream))
    const known = () => queryStream(client(), config.stream).catch(() => undefined)
    expect(await until(known, { ...waitLimit, what: 'the stream to answer' })).toMatchObject({ config })
    await until(async () => (await resets('stream')) > before, { ...waitLimit, what: 'the stream to be counted as reset' })
    expect(await resets('stream')).toBe(before + 1)
  })

  test('a reset batch keeps its call, and ends by the signals that it gets again', async () => {
    const lane = laneOf(await devnetSigner(keys++))
    const input: BatchInput = { lane, intent: { to: freshAddress(), data: '0x', value: '0' }, members: ['one/1', 'two/1'] }
    const batch = await client().workflow.start<(input: BatchInput) => Promise<BatchStatus>>('batch', {
      workflowId: `batch:${lane}:a`,
      taskQueue: ledgerQueue,
      args: [input],
      memo: { members: ['one'] },
    })
    await spoiled(batch.workflowId)
    await batch.signal(batchOverSignal, { state: 'unsent', detail: 'a test' })
    await until(async () => (await resets('batch')) > 0, { ...waitLimit, what: 'the batch to be reset' })
    expect(await client().workflow.getHandle(batch.workflowId).result()).toMatchObject({ state: 'unsent', members: input.members })
    expect((await client().workflow.getHandle(batch.workflowId).describe()).memo).toEqual({ members: ['one'] })
    expect(await resets('batch')).toBe(1)
  })

  test('a batch ignores ends that are none', async () => {
    const lane = laneOf(await devnetSigner(keys++))
    const input: BatchInput = { lane, intent: { to: freshAddress(), data: '0x', value: '0' }, members: ['one/1'] }
    const batch = await client().workflow.start<(input: BatchInput) => Promise<BatchStatus>>('batch', {
      workflowId: `batch:${lane}:c`,
      taskQueue: ledgerQueue,
      args: [input],
    })
    const underway = { state: 'underway', lane, members: input.members }
    for (const end of [null, 5, {}, { state: 'over', detail: 'a test' }, { state: 'unsent', detail: null }]) {
      await batch.signal('over', end)
      expect(await batch.query(batchStatusQuery)).toMatchObject(underway)
    }
    await batch.signal('over', { state: 'unsent', detail: 'a test', members: [] })
    expect(await client().workflow.getHandle(batch.workflowId).result()).toMatchObject({ state: 'unsent', members: input.members })
  })

  test('a batch whose tasks are never answered is reset, and ends', async () => {
    const lane = laneOf(await devnetSigner(keys++))
    const input: BatchInput = { lane, intent: { to: freshAddress(), data: '0x', value: '0' }, members: ['one/1'] }
    const batch = await client().workflow.start<(input: BatchInput) => Promise<BatchStatus>>('batch', {
      workflowId: `batch:${lane}:b`,
      taskQueue: ledgerQueue,
      workflowTaskTimeout: '1s',
      args: [input],
    })
    await until(async () => (await batch.describe()).historyLength >= 4, { ...waitLimit, what: 'its first task to be done' })
    const before = await resets('batch')
    await setting.ledgers.without(async () => {
      const silent = takeAndNeverAnswer(client(), ledgerQueue)
      try {
        await batch.signal(batchOverSignal, { state: 'unsent', detail: 'a test' })
        await until(async () => (await resets('batch')) > before, { ...waitLimit, what: 'the batch to be reset' })
      } finally {
        await silent.stop()
      }
    })
    expect(await client().workflow.getHandle(batch.workflowId).result()).toMatchObject({ state: 'unsent' })
  })

  test('a run that has completed no task cannot be reset, and does not prevent the reset of other runs', async () => {
    const foreign = 'queue-of-a-stranger'
    const silent = takeAndNeverAnswer(client(), foreign)
    const config = { stream: 'native-bridge:bsc:polygon', origin: '1/0xaa', first: '1', start: 10, maxOpen: 5 }
    await applyToStream(client(), config.stream, { requests: [] }, { begin: () => ({ config }) })
    await spoiled(streamWorkflowId(config.stream))
    const forged = await client().workflow.start('stream', {
      ...{ workflowId: streamWorkflowId('forged:stream'), taskQueue: foreign, workflowTaskTimeout: '1s', args: [{}] },
    })
    try {
      const tries = async () => (await forged.describe()).raw.pendingWorkflowTask?.attempt ?? 0
      await until(async () => (await tries()) > 3, { ...waitLimit, what: 'the forged run to look stuck' })
      const before = await resets('stream')
      await client().workflow.getHandle(streamWorkflowId(config.stream)).signal('no handler')
      await until(async () => (await resets('stream')) > before, { ...waitLimit, what: 'the stream to be reset' })
      expect((await forged.describe()).status.name).toBe('RUNNING')
    } finally {
      await forged.terminate()
      await silent.stop()
    }
  })

  test('a reset operator transaction goes on with its nonce, and pays once', async () => {
    const signer = await devnetSigner(keys++)
    const agent = await setting.agent(signer)
    const deps = { bridges: new Map(), agent, chain: setting.chain, settings: () => noSettings }
    const { connection, namespace } = setting.ledgers.temporal
    const worker = await Worker.create({
      connection,
      namespace,
      taskQueue: laneQueue(agent.lane),
      activities: createLaneSteps({ ...deps, fees: () => ({}) }),
      shutdownGraceTime: 0,
    })
    await worker.runUntil(async () => {
      const to = freshAddress()
      const input: OperatorTransactionInput = { lane: agent.lane, intent: { to, data: '0x', value: '7' }, by: 'a test', reason: 'a test' }
      const operatorTransaction = await client().workflow.start<(input: OperatorTransactionInput) => Promise<OperatorTransactionStatus>>(
        'operatorTransaction',
        {
          taskQueue: ledgerQueue,
          workflowId: `operator-transaction:${agent.lane}:1`,
          args: [input],
        },
      )
      await until(async () => (await pooled(setting.anvil, signer.address)).length === 1, { ...waitLimit, what: 'the payment' })
      await spoiled(operatorTransaction.workflowId)
      await client().workflow.getHandle(operatorTransaction.workflowId).signal('no handler')
      await until(async () => (await resets('operatorTransaction')) > 0, { ...waitLimit, what: 'the operator transaction to be reset' })
      // Mine only after the new run has sent the transaction, because the run could not learn of a nonce that is
      // already final.
      await until(() => isBeingSent(client().workflow.getHandle(operatorTransaction.workflowId)), {
        ...waitLimit,
        what: 'the new run to have it',
      })
      await setting.mine(4)
      expect(await client().workflow.getHandle(operatorTransaction.workflowId).result()).toMatchObject({ state: 'done', nonce: 0 })
      expect(BigInt(await setting.anvil.rpc<string>('eth_getBalance', [to, 'latest']))).toBe(7n)
      expect(await nonceOf(setting.anvil, signer.address)).toBe(1)
    })
  })
  test('after the resets no workflow counts as stuck', async () => {
    const stuck = () =>
      Promise.all(
        ['lane', 'stream', 'settings', 'batch', 'operatorTransaction'].map((type) =>
          metricValue(metrics, 'portage_workflows_stuck', { type }),
        ),
      )
    await until(async () => (await stuck()).every((count) => count === 0), { ...waitLimit, what: 'nothing to be stuck' })
    expect(await resets('lane')).toBe(2)
  })
})
