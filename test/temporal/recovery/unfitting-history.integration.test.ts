import { fileURLToPath } from 'node:url'
import { bundleWorkflowCode, DefaultLogger, Worker } from '@temporalio/worker'
import { beforeAll, expect, test } from 'vitest'
import { until } from '../../../lab/devnet/until.ts'
import { silentLogger } from '../../../observability/logger.ts'
import type { AuditInput } from '../../../temporal/contracts/audit.ts'
import { type TransferInput, retrySignal } from '../../../temporal/contracts/transfer.ts'
import { chainQueue } from '../../../temporal/contracts/names.ts'
import type { Admission } from '../../../temporal/contracts/transfer-steps.ts'
import { workflowBundle } from '../../../workers/process/bundle.ts'
import { unfitting } from '../../../workers/roles/chain.ts'
import { type Temporal } from '../../../workers/process/temporal.ts'
import { transfer } from '../../workflows/scripted.ts'
import { spoil } from './spoil.ts'
import { connectTestTemporal } from '../../helpers/temporal.ts'

const closed: Admission = { kind: 'waiting', code: 'BRIDGE_BUDGET', reason: 'a test', retryInMs: 3_600_000 }
const id = 'a-transfer'

let temporal: Temporal

beforeAll(async () => {
  ;({ temporal } = await connectTestTemporal())
})

test('a transfer that does not match its history fails, so that it can be started again', async () => {
  const handle = temporal.client.workflow.getHandle(id)
  const options = { connection: temporal.connection, taskQueue: chainQueue('bsc'), activities: { admit: async () => closed } }
  const workflowsPath = fileURLToPath(new URL('../../replay/incompatible/index.ts', import.meta.url))
  const other = await bundleWorkflowCode({ workflowsPath, logger: new DefaultLogger('ERROR', () => {}) })
  const before = await Worker.create({ ...options, workflowBundle: other })
  await before.runUntil(async () => {
    const args: [TransferInput] = [{ transfer }]
    await temporal.client.workflow.start('transfer', { workflowId: id, taskQueue: options.taskQueue, args })
    await until(async () => (await handle.query<{ state: string }>('status')).state === 'waiting', {
      timeoutMs: 60_000,
      what: 'the transfer to wait',
    })
  })
  await handle.signal(retrySignal)
  const after = await Worker.create({
    ...options,
    workflowBundle: await workflowBundle(silentLogger()),
    workflowFailureErrorTypes: unfitting,
  })
  await after.runUntil(async () => {
    const failed = async () => (await handle.describe()).status.name === 'FAILED'
    await until(failed, { timeoutMs: 90_000, what: 'the transfer to have failed' })
  })
  expect((await handle.describe()).status.name).toBe('FAILED')
})

test('an audit that does not match its history fails, so that the schedule starts another', async () => {
  const taskQueue = chainQueue('ethereum')
  const handle = temporal.client.workflow.getHandle('an-audit')
  // No worker serves the audit's step, so the audit waits.
  const args: [AuditInput] = [{ chain: 'ethereum', hours: 1, graceMs: 0 }]
  await temporal.client.workflow.start('audit', { workflowId: 'an-audit', taskQueue, args })
  await spoil(temporal, ['an-audit'], taskQueue)
  const after = await Worker.create({
    connection: temporal.connection,
    taskQueue,
    workflowBundle: await workflowBundle(silentLogger()),
    workflowFailureErrorTypes: unfitting,
  })
  await after.runUntil(async () => {
    await handle.signal('no handler')
    const failed = async () => (await handle.describe()).status.name === 'FAILED'
    await until(failed, { timeoutMs: 90_000, what: 'the audit to have failed' })
  })
  expect((await handle.describe()).status.name).toBe('FAILED')
})
