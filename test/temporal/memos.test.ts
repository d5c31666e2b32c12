import { Metadata, status } from '@grpc/grpc-js'
import { Connection } from '@temporalio/client'
import { msToTs } from '@temporalio/common/lib/time.js'
import { expect, test, vi } from 'vitest'
import { batchMembers } from '../../temporal/client/transfers/batches.ts'
import { createTemporalClient } from '../../temporal/client/connection/connect.ts'
import { listPage, unreadableCode } from '../../temporal/client/visibility/memos.ts'
import { createEncryptionCodec } from '../../temporal/encryption/codec.ts'

const encryption = { keys: [{ id: 'one', source: { from: 'a test', read: () => 'ab'.repeat(32) } }], required: false }

test('unreadable members of a batch are an error, not an empty list', async () => {
  const writer = createEncryptionCodec(encryption)
  const encoded = { metadata: { encoding: Buffer.from('json/plain') }, data: Buffer.from('["a"]') }
  for (const codec of [writer, createEncryptionCodec(undefined)]) {
    const client = createTemporalClient(Connection.lazy(), 'default', { codec })
    const [members] = await writer.encode([encoded], { type: 'workflow', namespace: 'default', workflowId: 'batch' })
    const run = {
      execution: { workflowId: 'batch', runId: 'r' },
      ...{ type: { name: 'batch' }, status: 1, taskQueue: 'ledger', historyLength: { toNumber: () => 3 }, startTime: msToTs(1_000) },
      memo: { fields: { members } },
    }
    // Replace only the server's answer.
    Object.defineProperty(client.workflow, 'workflowService', {
      value: { describeWorkflowExecution: async () => ({ workflowExecutionInfo: run }) },
    })
    if (codec === writer) expect(await batchMembers(client, 'batch')).toEqual(['a'])
    else await expect(batchMembers(client, 'batch')).rejects.toMatchObject({ code: 'ENCRYPTION_KEY_UNKNOWN' })
  }
})

test('a text in a memo is a code only if the catalogue has it as its own', () => {
  const codes = ['ENCRYPTION_BROKEN', 'constructor', '__proto__', 'toString', 'X'].map((unreadable) => unreadableCode({ unreadable }))
  expect(codes).toEqual(['ENCRYPTION_BROKEN', undefined, undefined, undefined, undefined])
})

const runWith = (data: Buffer, id = 'transfer:1') => ({
  execution: { workflowId: id, runId: 'r' },
  ...{ type: { name: 'transfer' }, status: 1, taskQueue: 'q', historyLength: { toNumber: () => 3 }, startTime: msToTs(1_000) },
  memo: { fields: { content: { metadata: { encoding: Buffer.from('json/plain') }, data } } },
})

test('a list decodes no memo above 8 KB, because its parsed value could fill the memory of the process', async () => {
  const client = createTemporalClient(Connection.lazy(), 'default', { codec: createEncryptionCodec(undefined) })
  const parse = vi.spyOn(JSON, 'parse')
  const large = Buffer.from(`[${'{},'.repeat(600_000)}{}]`)
  const executions = [runWith(large), runWith(Buffer.from('{"amount":"1"}'), 'transfer:2')]
  Object.defineProperty(client, 'workflowService', {
    value: { listWorkflowExecutions: async () => ({ executions, nextPageToken: Buffer.alloc(0) }) },
  })
  const { runs } = await listPage(client, {})
  expect(runs.map(({ memo }) => memo)).toEqual([{ content: { unreadable: 'INTERNAL' } }, { content: { amount: '1' } }])
  expect(parse.mock.calls.filter(([text]) => text.length > 8 * 1024)).toEqual([])
  parse.mockRestore()
})

test.each([status.RESOURCE_EXHAUSTED, status.OUT_OF_RANGE])('a page that is too large (%i) is read in smaller pages', async (code) => {
  const client = createTemporalClient(Connection.lazy(), 'default', { codec: createEncryptionCodec(undefined) })
  const asked: number[] = []
  const listWorkflowExecutions = async ({ pageSize, nextPageToken }: { pageSize: number; nextPageToken: Uint8Array }) => {
    asked.push(pageSize)
    if (pageSize > 60) throw Object.assign(new Error('larger than max'), { code, details: '', metadata: {} })
    const isFirst = nextPageToken.length === 0
    return { executions: [runWith(Buffer.from('{}'), isFirst ? 'a' : 'b')], nextPageToken: Buffer.from(isFirst ? 'next' : '') }
  }
  Object.defineProperty(client, 'workflowService', { value: { listWorkflowExecutions } })
  const { runs, next } = await listPage(client, {})
  expect([runs.map(({ workflowId }) => workflowId), asked]).toEqual([['a'], [1_000, 63, 4]])
  expect((await listPage(client, { token: next, pageSize: 50 })).runs.map(({ workflowId }) => workflowId)).toEqual(['b'])
})

test('a list keeps the size of the page that fitted, and a rate limit shrinks no page', async () => {
  const client = createTemporalClient(Connection.lazy(), 'default', { codec: createEncryptionCodec(undefined) })
  const asked: number[] = []
  const refusal = (details: string) =>
    Object.assign(new Error(details), { code: status.RESOURCE_EXHAUSTED, details, metadata: new Metadata() })
  const listWorkflowExecutions = async ({ pageSize, nextPageToken }: { pageSize: number; nextPageToken: Uint8Array }) => {
    asked.push(pageSize)
    if (pageSize > 100) throw refusal('Received message larger than max (134217800 vs 134217728)')
    if (nextPageToken.length === 2) throw refusal('namespace rate limit exceeded')
    return { executions: [runWith(Buffer.from('{}'))], nextPageToken: Buffer.alloc(nextPageToken.length + 1) }
  }
  for (const one of [client, client.workflow]) Object.defineProperty(one, 'workflowService', { value: { listWorkflowExecutions } })
  const read = async () => {
    for await (const { workflowId } of client.workflow.list()) expect(workflowId).toBe('transfer:1')
  }
  await expect(read()).rejects.toMatchObject({ cause: { details: 'namespace rate limit exceeded' } })
  expect(asked).toEqual([1_000, 63, 63, 63])
})

test('a list and a description read few values of a memo, which may have 200,000 empty values', async () => {
  const { decode, ...codec } = createEncryptionCodec(undefined)
  const counting = vi.fn(decode)
  const client = createTemporalClient(Connection.lazy(), 'default', { codec: { ...codec, decode: counting } })
  const fields = Object.fromEntries(Array.from({ length: 20_000 }, (_, n) => [n, {}]))
  const forged = () => ({ ...runWith(Buffer.from('{}')), memo: { fields } })
  const service = {
    listWorkflowExecutions: async () => ({ executions: [forged()], nextPageToken: Buffer.alloc(0) }),
    describeWorkflowExecution: async () => ({ workflowExecutionInfo: forged() }),
  }
  for (const one of [client, client.workflow]) Object.defineProperty(one, 'workflowService', { value: service })
  const [listed] = (await listPage(client, {})).runs
  const described = await client.workflow.getHandle('transfer:1').describe()
  expect([listed, described].map((found) => Object.keys(found?.memo ?? {}).length)).toEqual([16, 16])
  expect(counting.mock.calls.length).toBeLessThanOrEqual(64)
})

test('a list decodes each memo once', async () => {
  const { decode, ...codec } = createEncryptionCodec(undefined)
  const counting = vi.fn(decode)
  const client = createTemporalClient(Connection.lazy(), 'default', { codec: { ...codec, decode: counting } })
  const executions = [runWith(Buffer.from('{"amount":"1"}'))]
  Object.defineProperty(client, 'workflowService', {
    value: { listWorkflowExecutions: async () => ({ executions, nextPageToken: Buffer.alloc(0) }) },
  })
  expect((await listPage(client, {})).runs.map(({ memo }) => memo)).toEqual([{ content: { amount: '1' } }])
  expect(counting).toHaveBeenCalledTimes(1)
})
