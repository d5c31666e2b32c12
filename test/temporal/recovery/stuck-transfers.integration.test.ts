import { fileURLToPath } from 'node:url'
import { Connection } from '@temporalio/client'
import { bundleWorkflowCode, DefaultLogger, NativeConnection, Worker, type WorkflowBundleWithSourceMap } from '@temporalio/worker'
import { beforeAll, expect, test } from 'vitest'
import { type TemporalServer } from '../../../lab/devnet/temporal/temporal.ts'
import { until } from '../../../lab/devnet/until.ts'
import { recover } from '../../../temporal/recovery/remedies.ts'
import { findStuckTransfers } from '../../../temporal/recovery/stuck-transfers.ts'
import type { TemporalClient } from '../../../temporal/client/connection/client.ts'
import { createTemporalClient } from '../../../temporal/client/connection/connect.ts'
import { listTransfers } from '../../../temporal/client/transfers/transfer-list.ts'
import { searchAttributes } from '../../../temporal/contracts/names.ts'
import { createEncryptionCodec } from '../../../temporal/encryption/codec.ts'
import { takeAndNeverAnswer } from '../../helpers/silent-worker.ts'
import { cleanUp } from '../../helpers/clean-up.ts'
import { startTestTemporal } from '../../helpers/temporal.ts'

const taskQueue = 'waits'
let native: NativeConnection
let workflowBundle: WorkflowBundleWithSourceMap
let server: TemporalServer
let client: TemporalClient
/** A client that writes memos that nobody can read. */
let hostile: TemporalClient

beforeAll(async () => {
  server = await startTestTemporal()
  const connection = await Connection.connect({ address: server.address })
  native = await NativeConnection.connect({ address: server.address })
  cleanUp(() => Promise.all([connection.close(), native.close()]))
  client = createTemporalClient(connection, 'default', { codec: createEncryptionCodec(undefined) })
  const strange = { metadata: { encoding: Buffer.from('strange') }, data: Buffer.from('x') }
  const codec = { encode: async (payloads: unknown[]) => payloads.map(() => strange), decode: async () => [] }
  hostile = createTemporalClient(connection, 'default', { codec })
  const workflowsPath = fileURLToPath(new URL('./idle/index.ts', import.meta.url))
  workflowBundle = await bundleWorkflowCode({ workflowsPath, logger: new DefaultLogger('ERROR', () => {}) })
  let release = () => {}
  const held = new Promise<void>((resolve) => (release = resolve))
  const worker = await Worker.create({
    connection: native,
    taskQueue,
    workflowBundle,
    activities: { hold: () => held },
    shutdownGraceTime: 0,
  })
  const running = worker.run()
  cleanUp(async () => {
    release()
    worker.shutdown()
    await running
  })
})

test('a running transfer that waits for nothing is found and reset', async () => {
  const { TargetChain, TransferState } = searchAttributes
  const kinds = ['nothing', 'timer', 'step', 'parked'] as const
  const handles = await Promise.all(
    kinds.map((kind) =>
      client.workflow.start('transfer', {
        workflowId: kind,
        taskQueue,
        args: [kind],
        typedSearchAttributes: [
          { key: TargetChain, value: 'bsc' },
          { key: TransferState, value: 'broadcasting' },
        ],
      }),
    ),
  )
  const begun = async () => (await Promise.all(handles.map((one) => one.describe()))).every(({ historyLength }) => historyLength >= 4)
  await until(begun, { timeoutMs: 60_000, what: 'all to wait' })
  // The SDK's `list` would stop at this memo.
  await hostile.workflow.start('transfer', {
    workflowId: 'hostile',
    taskQueue: 'nobody serves this',
    memo: { mine: 'to end every list' },
    typedSearchAttributes: [
      { key: TargetChain, value: 'bsc' },
      { key: TransferState, value: 'broadcasting' },
    ],
  })
  const count = async (which: string) => (await client.workflow.count(`WorkflowType = 'transfer' AND ${TransferState.name} ${which}`)).count
  const listed = async () => (await count(`= 'parked'`)) === 1 && (await count(`!= 'parked'`)) === 4
  await until(listed, { timeoutMs: 60_000, what: 'the list to know of them' })

  // The search skips runs that may be between two tasks, recent runs, and runs of another chain.
  expect(await findStuckTransfers(client, 'bsc', Date.now() + 1_000, 600_000)).toEqual([])
  const find = (chain: string, before: number) => findStuckTransfers(client, chain, before, -5_000)
  expect(await find('ethereum', Date.now() + 1_000)).toEqual([])
  expect(await find('bsc', Date.now() - 600_000)).toEqual([])
  const [found, ...others] = await find('bsc', Date.now() + 1_000)
  expect([found?.workflowId, found?.finding, others]).toEqual(['nothing', 'idle', []])

  expect((await listTransfers(client, { limit: 10 })).map(({ id }) => id).toSorted()).toEqual([...kinds, 'hostile'].toSorted())
  expect((await client.workflow.getHandle('hostile').describe()).memo).toEqual({ mine: { unreadable: 'INTERNAL' } })

  if (found) await recover(client, found, found.finding)
  const { runId, status } = await client.workflow.getHandle('nothing').describe()
  expect([status.name, runId === found?.runId]).toEqual(['RUNNING', false])
})

test('a transfer whose tasks are taken and never answered is found and reset', async () => {
  const unheard = { taskQueue: 'unheard', workflowId: 'unheard' }
  const worker = await Worker.create({ connection: native, taskQueue: unheard.taskQueue, workflowBundle, shutdownGraceTime: 0 })
  const handle = await worker.runUntil(async () => {
    const { TargetChain, TransferState } = searchAttributes
    const started = await client.workflow.start('transfer', {
      ...unheard,
      args: ['timer'],
      workflowTaskTimeout: '1s',
      typedSearchAttributes: [
        { key: TargetChain, value: 'celo' },
        { key: TransferState, value: 'broadcasting' },
      ],
    })
    await until(async () => (await started.describe()).historyLength >= 4, { timeoutMs: 60_000, what: 'its first task to be done' })
    return started
  })
  const find = () => findStuckTransfers(client, 'celo', Date.now() + 1_000)

  const silent = takeAndNeverAnswer(client, unheard.taskQueue)
  try {
    await handle.signal('no handler')
    const tries = async () => (await handle.describe()).raw.pendingWorkflowTask?.attempt ?? 0
    const early = await find()
    expect(early.length === 0 || (await tries()) >= 3).toBe(true)
    await until(async () => (await find()).length > 0, { timeoutMs: 120_000, what: 'it to be found' })
    const [found] = await find()
    expect(found).toMatchObject({ workflowId: 'unheard', finding: 'unanswered' })
    if (found) await recover(client, found, found.finding)
    expect((await handle.describe()).runId).not.toBe(found?.runId)
  } finally {
    await silent.stop()
  }
})
