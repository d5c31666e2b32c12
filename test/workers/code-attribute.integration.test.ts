import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { startTemporal, type TemporalServer } from '../../lab/devnet/temporal/temporal.ts'
import { until } from '../../lab/devnet/until.ts'
import { createLogger, silentLogger } from '../../observability/logger.ts'
import { hasCodes, hasSearchAttribute } from '../../temporal/client/connection/search-attributes.ts'
import { setUpNamespace } from '../../temporal/client/connection/namespace-setup.ts'
import { listTransfers } from '../../temporal/client/transfers/transfer-list.ts'
import { startTransfer } from '../../temporal/client/transfers/start-transfer.ts'
import { chainQueue, searchAttributes, transferId } from '../../temporal/contracts/names.ts'
import { statusQuery } from '../../temporal/contracts/transfer.ts'
import { createTransferWorker } from '../../workers/roles/chain.ts'
import { watchCodeAttribute } from '../../workers/process/code-attribute.ts'
import { connectTemporal, type Temporal } from '../../workers/process/temporal.ts'
import { defaultTuning } from '../../workers/process/tuning.ts'
import { runTemporalCli } from '../helpers/e2e-cli.ts'
import { transfer } from '../workflows/scripted.ts'

const waiting = { timeoutMs: 60_000, everyMs: 50 }
const name = searchAttributes.PortageCode.name

let server: TemporalServer
let temporal: Temporal

beforeAll(async () => {
  // What is made or removed counts at once.
  const dynamicConfig = { 'system.forceSearchAttributesCacheRefreshOnRead': 'true' }
  server = await startTemporal({ inMemory: true, headless: true, dynamicConfig })
  temporal = await connectTemporal({ address: server.address, namespace: 'default' }, silentLogger())
})

afterAll(async () => {
  await temporal?.connection.close()
  await server?.stop()
})

test('in a namespace that an earlier release has set up, transfers wait without their code and no task fails; the set-up gives it to those that wait later', async () => {
  const { client } = temporal
  await runTemporalCli(server, ['operator', 'search-attribute', 'remove', '--name', name, '--yes'])
  await until(async () => !(await hasSearchAttribute(client, name)), { ...waiting, what: 'the server to have forgotten the attribute' })
  const said: string[] = []
  const destination = { write: (line: string) => said.push((JSON.parse(line) as { message: string }).message) }
  const watching = await watchCodeAttribute({ client, logger: createLogger({ level: 'info', destination }), everyMs: 50 })
  await until(() => said.length > 0, { ...waiting, what: 'the warning' })

  const admit = async () => ({ kind: 'waiting', code: 'LANE_NONE', reason: 'no lane of bsc takes work', retryInMs: 60_000 })
  const hosting = { temporal, logger: silentLogger(), tuning: { ...defaultTuning, graceMs: 0 } }
  const worker = await createTransferWorker('bsc', { ...hosting, activities: { admit }, nearSlots: 0 })
  const serving = worker.run()
  const begin = async (sequence: string) => {
    const id = transferId({ ...transfer, sequence })
    await startTransfer(client, id, { transfer: { ...transfer, sequence } })
    const handle = client.workflow.getHandle(id)
    await until(async () => (await handle.query(statusQuery)).state === 'waiting', { ...waiting, what: 'the transfer to wait' })
    return handle
  }
  try {
    expect(chainQueue('bsc')).toBe(worker.options.taskQueue)
    const before = await begin('1')
    const { events } = await before.fetchHistory()
    expect((events ?? []).filter(({ workflowTaskFailedEventAttributes: failed }) => failed)).toEqual([])
    expect((await before.describe()).typedSearchAttributes.get(searchAttributes.PortageCode)).toBeUndefined()
    expect((await before.describe()).typedSearchAttributes.get(searchAttributes.TransferState)).toBe('waiting')

    await expect(listTransfers(client, { code: 'LANE_NONE', limit: 10 })).rejects.toThrow(
      /no search attribute PortageCode: portage setup temporal/,
    )

    const setUp = await setUpNamespace({ address: server.address, namespace: 'default' }, { retentionHours: 24 })
    expect(setUp.searchAttributes.made).toEqual([name])
    await until(() => hasCodes(client), { ...waiting, what: 'the starter of transfers to know the attribute' })
    const after = await begin('2')
    expect((await after.describe()).typedSearchAttributes.get(searchAttributes.PortageCode)).toBe('LANE_NONE')
    const found = async () => (await client.workflow.count(`PortageCode = 'LANE_NONE'`)).count === 1
    await until(found, { ...waiting, what: 'the transfer to be found by its code' })
    expect(await listTransfers(client, { code: 'LANE_NONE', limit: 10 })).toMatchObject([{ id: after.workflowId, state: 'waiting' }])
    expect(said).toEqual([
      'the namespace lacks a search attribute: transfers cannot be found by their code until it is there',
      'the namespace has the search attribute now: transfers write their code into it',
    ])
    for (const handle of [before, after]) await handle.terminate()
  } finally {
    worker.shutdown()
    await serving
    await watching.stop()
  }
})

test('whether there is the attribute is asked once, however many transfers begin at a time', async () => {
  const another = await connectTemporal({ address: server.address, namespace: 'default' }, silentLogger())
  try {
    const asked = vi.spyOn(another.client.workflowService, 'countWorkflowExecutions')
    expect(await Promise.all(Array.from({ length: 100 }, () => hasCodes(another.client)))).toEqual(Array.from({ length: 100 }, () => true))
    expect(asked).toHaveBeenCalledTimes(1)
  } finally {
    await another.connection.close()
  }
})
