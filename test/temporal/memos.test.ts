import { status } from '@grpc/grpc-js'
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
