import { beforeAll, expect, test } from 'vitest'
import { startTemporal } from '../../lab/devnet/temporal/temporal.ts'
import { until } from '../../lab/devnet/until.ts'
import { silentLogger } from '../../observability/logger.ts'
import { changeSettings } from '../../temporal/client/settings/settings.ts'
import { ledgerQueue, settingsWorkflowId } from '../../temporal/contracts/names.ts'
import { createLedgerWorker } from '../../workers/roles/chain.ts'
import { connectTemporal, type Temporal } from '../../workers/process/temporal.ts'
import { defaultTuning } from '../../workers/process/create-worker.ts'
import { cleanUp } from '../helpers/clean-up.ts'

const failover = { workflowTaskSeconds: 4, heartbeatSeconds: 2, laneTaskSeconds: 5 }
const known = { bridges: [], nodes: { one: [] }, lanes: [] }
const waitLimit = { timeoutMs: 60_000, everyMs: 50 }

let temporal: Temporal

beforeAll(async () => {
  const server = await startTemporal({ inMemory: true, headless: true })
  cleanUp(() => server.stop())
  temporal = await connectTemporal({ address: server.address, namespace: 'default' }, silentLogger(), { failover })
  cleanUp(() => temporal.connection.close())
  const worker = await createLedgerWorker({ temporal, logger: silentLogger(), tuning: { ...defaultTuning, graceMs: 0 } })
  const run = worker.run()
  cleanUp(async () => {
    worker.shutdown()
    await run
  })
})

test('an activity with a key gets the heartbeat time-out that its workflow was started with', async () => {
  const intent = { to: `0x${'1'.repeat(40)}`, data: '0x', value: '1' }
  const handle = await temporal.client.workflow.start('operatorTransaction', {
    workflowId: 'operator-transaction:test',
    taskQueue: ledgerQueue,
    args: [{ lane: `evm-1:0x${'2'.repeat(40)}`, intent, by: 'night-shift', reason: 'a test' }],
  })
  const scheduled = await until(
    async () => {
      const { events } = await handle.fetchHistory()
      return events?.map((event) => event.activityTaskScheduledEventAttributes).find(Boolean)
    },
    { ...waitLimit, what: 'the step to be scheduled' },
  )
  expect(Number(scheduled?.heartbeatTimeout?.seconds)).toBe(failover.heartbeatSeconds)
  const { events } = await handle.fetchHistory()
  expect(Number(events?.[0]?.workflowExecutionStartedEventAttributes?.workflowTaskTimeout?.seconds)).toBe(failover.workflowTaskSeconds)
  await handle.terminate()
})

test('a run that continues as new keeps the heartbeat time-outs', async () => {
  const first = await temporal.client.workflow.start('settings', {
    workflowId: settingsWorkflowId,
    taskQueue: ledgerQueue,
    args: [{ updatesPerRun: 1 }],
  })
  await changeSettings(temporal.client, known, { by: 'night-shift', reason: 'a test', orders: [{ kind: 'halt', scope: {} }] })
  const latest = temporal.client.workflow.getHandle(settingsWorkflowId)
  const next = await until(
    async () => {
      const description = await latest.describe()
      return description.runId !== first.firstExecutionRunId && description
    },
    { ...waitLimit, what: 'the next run' },
  )
  expect(next.memo).toEqual({ failover: { heartbeatMs: 2_000, laneTaskMs: 5_000 } })
  const { events } = await temporal.client.workflow.getHandle(settingsWorkflowId, next.runId).fetchHistory()
  expect(Number(events?.[0]?.workflowExecutionStartedEventAttributes?.workflowTaskTimeout?.seconds)).toBe(failover.workflowTaskSeconds)
})
