import { Connection } from '@temporalio/client'
import { msToTs } from '@temporalio/common/lib/time.js'
import { expect, test } from 'vitest'
import { batchMembers } from '../../temporal/client/transfers/batches.ts'
import { createTemporalClient } from '../../temporal/client/connection/connect.ts'
import { unreadableCode } from '../../temporal/client/visibility/memos.ts'
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
