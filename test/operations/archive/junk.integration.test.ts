import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { status } from '@grpc/grpc-js'
import { Connection } from '@temporalio/client'
import { temporal } from '@temporalio/proto'
import { beforeAll, describe, expect, test } from 'vitest'
import { createArchiveStore } from '../../../operations/archive/create-store.ts'
import { exportOrders } from '../../../operations/archive/orders.ts'
import type { TransferRecord } from '../../../operations/archive/records.ts'
import { archiveTransfers } from '../../../operations/archive/transfers.ts'
import { type TemporalServer } from '../../../lab/devnet/temporal/temporal.ts'
import { until } from '../../../lab/devnet/until.ts'
import { type TemporalClient, within } from '../../../temporal/client/connection/client.ts'
import { createTemporalClient } from '../../../temporal/client/connection/connect.ts'
import { readKeptOrders } from '../../../temporal/client/settings/kept-orders.ts'
import { createEncryptionCodec } from '../../../temporal/encryption/codec.ts'
import { temporaryFolder } from '../../helpers/folders.ts'
import { startTestTemporal } from '../../helpers/temporal.ts'
import { cleanUp } from '../../helpers/clean-up.ts'

/** temporal.api.enums.v1.CommandType.COMMAND_TYPE_COMPLETE_WORKFLOW_EXECUTION. */
const complete = 4
const taskQueue = 'junk'
const hour = 3_600_000
const at = Date.now()

describe('The archive of a Temporal that strangers write to', () => {
  let server: TemporalServer
  let connection: Connection
  let client: TemporalClient
  const dir = temporaryFolder()

  const ended = async (
    type: string,
    workflowId: string,
    encoding: string,
    data: string,
    metadata: Readonly<Record<string, string>> = {},
  ) => {
    const { namespace } = client.options
    await client.workflow.start(type, { workflowId, taskQueue, args: [{ transfer: null }] })
    const poll = () => client.workflowService.pollWorkflowTaskQueue({ namespace, taskQueue: { name: taskQueue } })
    const { taskToken } = await within(client, 60_000, poll)
    const written = Object.fromEntries(Object.entries({ encoding, ...metadata }).map(([name, text]) => [name, Buffer.from(text)]))
    const result = { payloads: [{ metadata: written, data: Buffer.from(data) }] }
    const commands = [{ commandType: complete, completeWorkflowExecutionCommandAttributes: { result } }]
    await client.workflowService.respondWorkflowTaskCompleted({ namespace, taskToken, commands })
  }
  /** A stranger's worker, which answers each query with null. */
  const answerNull = async (queue: string, stopping: AbortSignal): Promise<void> => {
    const { namespace } = client.options
    const completedType = temporal.api.enums.v1.QueryResultType.QUERY_RESULT_TYPE_ANSWERED
    const queryResult = { payloads: [{ metadata: { encoding: Buffer.from('json/plain') }, data: Buffer.from('null') }] }
    while (!stopping.aborted) {
      const poll = () => client.workflowService.pollWorkflowTaskQueue({ namespace, taskQueue: { name: queue } })
      const { taskToken, query } = await connection.withAbortSignal(stopping, () => within(client, 60_000, poll))
      if (query) await client.workflowService.respondQueryTaskCompleted({ namespace, taskToken, completedType, queryResult })
      else await client.workflowService.respondWorkflowTaskCompleted({ namespace, taskToken })
    }
  }
  const json = (type: string, id: string, value: unknown) => ended(type, id, 'json/plain', JSON.stringify(value))

  beforeAll(async () => {
    server = await startTestTemporal()
    connection = await Connection.connect({ address: server.address })
    cleanUp(() => connection.close())
    client = createTemporalClient(connection, server.namespace, { codec: createEncryptionCodec(undefined) })
    await json('transfer', 'nulls', { state: 'delivered', tried: [null], orders: [null], timeline: [null] })
    await json('transfer', 'empty', null)
    await ended('transfer', 'no json', 'json/plain', '{')
    await ended('transfer', 'other encoding', 'binary/unheard-of', 'x')
    await ended('transfer', 'unknown key', 'binary/encrypted', 'x', { 'encryption-key-id': 'nobody-has-it' })
    await json('transfer', 'honest', { state: 'delivered', rounds: 1, orders: [{ kind: 'retry', by: 'dora', reason: 'a test', at }] })
  })

  test('every run of a stranger has a line, and the next pass begins after them', async () => {
    const store = createArchiveStore({ kind: 'directory', path: dir })
    const pass = () => archiveTransfers(client, store, { oldest: at - hour, ordersThrough: 0, now: Date.now() + hour / 2 })
    const done = await until(async () => ((await pass()).found === 6 ? pass() : false), {
      timeoutMs: 60_000,
      what: 'all runs to be listed as closed',
    })
    // `done` is the result of the second pass, which reads the unreadable runs again.
    expect(done).toMatchObject({ found: 6, added: 0, unreadable: 3 })
    expect(Date.parse(done.through ?? '')).toBeGreaterThan(Date.now())
    expect(done.orders).toMatchObject([{ id: 'honest', orders: [{ kind: 'retry', by: 'dora', at }] }])
    const names = (await readdir(dir, { recursive: true })).filter((name) => name.endsWith('.jsonl'))
    const texts = await Promise.all(names.map((name) => readFile(join(dir, name), 'utf8')))
    const lines = texts.flatMap((text) => text.trim().split('\n')).map((line) => JSON.parse(line) as TransferRecord)
    const why = lines.map(({ id, outcome, unreadable, invalid, dropped }) => [id, { outcome, unreadable, invalid, dropped }] as const)
    expect([lines.length, Object.fromEntries(why)]).toEqual([
      6,
      {
        nulls: { outcome: 'delivered', dropped: 3 },
        empty: { invalid: true },
        'no json': { unreadable: 'INTERNAL' },
        'other encoding': { unreadable: 'INTERNAL' },
        'unknown key': { unreadable: 'ENCRYPTION_KEY_UNKNOWN' },
        honest: { outcome: 'delivered' },
      },
    ])
  })

  test('subjects that do not answer or answer with junk are named, and keep no order out of the log', async () => {
    await json('operatorTransaction', 'no transaction', {})
    await json('operatorTransaction', 'nothing', null)
    await ended('operatorTransaction', 'sealed', 'binary/encrypted', 'x', { 'encryption-key-id': 'nobody-has-it' })
    const intent = { to: '0x1', value: '1', data: '0x' }
    await json('operatorTransaction', 'sent', { state: 'done', by: 'dora', reason: 'a test', lane: 'bsc:0xa', intent })
    for (const type of ['transfer', 'lane'])
      await client.workflow.start(type, { workflowId: `${type}:unserved`, taskQueue: 'nobody', args: [] })
    await client.workflow.start('stream', { workflowId: 'stream:null', taskQueue: 'strangers', args: [] })
    const stopping = new AbortController()
    const stranger = answerNull('strangers', stopping.signal).catch((error: unknown) => error)
    const kept = await until(
      async () => {
        const found = await readKeptOrders(client, { lanes: [], receivers: [] }, at - hour)
        return found.length === 8 && found
      },
      { timeoutMs: 120_000, what: 'all runs to be listed' },
    ).finally(() => stopping.abort())
    // If the poll outlived its connection, it would be tried again, and would fail outside every test.
    expect(await stranger).toMatchObject({ code: status.CANCELLED })
    const unread = kept.flatMap(({ id, unread: is }) => (is ? [id] : [])).toSorted()
    expect(unread).toEqual(['nothing', 'null', 'sealed', 'transfer:unserved', 'unserved'])
    const done = await exportOrders(createArchiveStore({ kind: 'directory', path: join(dir, 'log') }), kept, Date.now())
    expect(done).toMatchObject({ found: 1, added: 1, skipped: ['no transaction'] })
    expect(done.maybeIncomplete.toSorted()).toEqual(unread)
  })
})
