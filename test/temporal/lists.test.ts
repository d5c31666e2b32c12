import { expect, test } from 'vitest'
import { listWorkflows } from '../../temporal/client/connection/client.ts'
import { listClosedPage } from '../../temporal/client/transfers/closed-runs.ts'

type Client = Parameters<typeof listWorkflows>[0]

test('an audit lists ids of closed runs without a converter, so it decrypts no memo', async () => {
  const execution = { workflowId: 'w', runId: 'r' }
  const memo = { fields: { transfer: { metadata: { encoding: Buffer.from('binary/encrypted') }, data: Buffer.from('x') } } }
  const listWorkflowExecutions = async () => ({ executions: [{ execution, memo }], nextPageToken: Buffer.from('next') })
  const client = { workflowService: { listWorkflowExecutions }, options: { namespace: 'default' } } as unknown as Client
  const page = await listClosedPage(client, { kind: 'delivered', chain: 'bsc', from: 0, to: 1, token: '' })
  expect(page).toEqual({ runs: [execution], token: Buffer.from('next').toString('base64') })
})

test('a list of at most some runs asks for pages of that size, since every listed run is decrypted', async () => {
  const asked: unknown[] = []
  const list = (options: { readonly pageSize?: number }) => {
    asked.push(options.pageSize)
    return (async function* () {
      for (let id = 0; id < 10; id++) yield { workflowId: String(id) }
    })()
  }
  const client = { workflow: { list } } as unknown as Client
  expect(await listWorkflows(client, '', { most: 3 })).toHaveLength(3)
  // Unwanted rows are skipped, so a page must have more rows than the caller wants.
  expect(await listWorkflows(client, '', { most: 3, isWanted: ({ workflowId }) => Number(workflowId) > 5 })).toHaveLength(3)
  expect(await listWorkflows(client, '', { most: 2_000 })).toHaveLength(10)
  expect(await listWorkflows(client, '')).toHaveLength(10)
  expect(asked).toEqual([3, undefined, undefined, undefined])
})
