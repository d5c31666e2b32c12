import { WorkflowNotFoundError } from '@temporalio/client'
import { expect, test } from 'vitest'
import type { ApiDeps } from '../../api/deps.ts'
import { createReadGate, createSharedReads } from '../../api/read-gate.ts'
import { resolveGiven } from '../../api/routes/transfers.ts'

function readings() {
  const open: ((answer: string) => void)[] = []
  let most = 0
  const read = () =>
    new Promise<string>((end) => {
      open.push(end)
      most = Math.max(most, open.length)
    })
  const endNext = (answer = 'read') => open.shift()?.(answer)
  return { read, endNext, counts: () => ({ open: open.length, most }) }
}

test('a gate limits running and waiting reads and refuses the rest; a read that ends admits the next', async () => {
  const { read, endNext, counts } = readings()
  const gate = createReadGate({ atOnce: 2, waiting: 1 })
  const first = gate(read)
  const second = gate(read)
  const third = gate(() => Promise.reject(new Error('a node')))
  const refused = { code: 'API_BUSY', facts: { atOnce: 2, waiting: 1 } }
  await expect(gate(read)).rejects.toMatchObject(refused)
  endNext()
  await expect(first).resolves.toBe('read')
  await expect(third).rejects.toThrow('a node')
  const fourth = gate(read)
  const fifth = gate(read)
  await expect(gate(read)).rejects.toMatchObject(refused)
  for (const one of [second, fourth, fifth]) {
    endNext()
    await one
  }
  expect(counts()).toEqual({ open: 0, most: 2 })
})

test('equal requests share a read for a while, a different one is refused, and a failure is not kept', async () => {
  const { read, endNext, counts } = readings()
  const shared = createSharedReads<string>(60_000, createReadGate({ atOnce: 1, waiting: 0 }))
  const [one, same] = [shared('a', read), shared('a', read)]
  await expect(shared('b', read)).rejects.toMatchObject({ code: 'API_BUSY' })
  endNext('first')
  expect(await Promise.all([one, same, shared('a', read)])).toEqual(['first', 'first', 'first'])
  await expect(shared('c', () => Promise.reject(new Error('away')))).rejects.toThrow('away')
  const again = shared('c', read)
  endNext('second')
  expect([await again, counts().most]).toEqual(['second', 1])
  // Thirty other answers push the answer of `a` out of the cache.
  for (let index = 0; index < 30; index++) await shared(`other ${index}`, async () => 'x')
  const anew = shared('a', read)
  endNext('anew')
  expect(await anew).toBe('anew')
})

test('readers of unknown hashes do not delay an order, which has a gate of its own', async () => {
  let answer = () => {}
  const told = new Promise<void>((go) => (answer = go))
  const workflowService = {
    async listWorkflowExecutions({ query }: { query: string }) {
      if (query.includes('TxHash')) await told
      return { executions: [], nextPageToken: new Uint8Array() }
    },
  }
  const gone = () => Promise.reject(new WorkflowNotFoundError('no such workflow', 'x', undefined))
  const client = {
    withDeadline: (_: number, work: () => Promise<unknown>) => work(),
    options: { namespace: 'default' },
    workflowService,
    workflow: { getHandle: () => ({ describe: gone }), workflowService, options: { namespace: 'default' } },
  }
  const deps = { client, config: { chains: {} }, network: { bridges: new Map(), chains: new Map() } } as unknown as ApiDeps
  const readers = Array.from({ length: 30 }, (_, index) =>
    resolveGiven(deps, `0x${String(index).padStart(64, '0')}`, 'read').catch((error: unknown) => (error as { code: string }).code),
  )
  const codes = await Promise.race([Promise.all(readers.slice(18)), told])
  expect(codes).toEqual(Array.from({ length: 12 }, () => 'API_BUSY'))
  await expect(resolveGiven(deps, 'abcdef01', 'read')).rejects.toMatchObject({ code: 'API_BUSY' })
  await expect(resolveGiven(deps, 'abcdef01', 'order')).rejects.toMatchObject({ code: 'TRANSFER_NOT_FOUND' })
  answer()
  expect(new Set(await Promise.all(readers.slice(0, 18)))).toEqual(new Set(['TRANSFER_NOT_FOUND']))
})
