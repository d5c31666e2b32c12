import { expect, test } from 'vitest'
import { openConnection } from '../../temporal/client/connection/probe.ts'
import { startGrpc } from '../helpers/grpc-server.ts'

test('a call that waits for its retry ends with its connection, and throws only to its caller', async () => {
  // UNAVAILABLE is 14. The SDK retries after this status.
  const server = await startGrpc((method) => (method === 'GetSystemInfo' ? 0 : 14))
  const connection = await openConnection({ address: server.address, namespace: 'default' })
  const call = connection.workflowService.describeNamespace({ namespace: 'default' })
  const close = async () => {
    await expect.poll(() => server.calls('DescribeNamespace')).toBeGreaterThan(0)
    await connection.close()
  }
  await Promise.all([expect(call).rejects.toThrow(/CANCELLED: the connection is closed/), close()])
})

test('an answer that is larger than the connection accepts is not asked for again', async () => {
  const tooLong = Buffer.from([0, 0x10, 0, 0, 0])
  const server = await startGrpc(
    () => 0,
    (method) => (method === 'DescribeNamespace' ? tooLong : Buffer.alloc(5)),
  )
  const connection = await openConnection({ address: server.address, namespace: 'default' })
  const call = connection.workflowService.describeNamespace({ namespace: 'default' })
  await expect(call).rejects.toThrow('RESOURCE_EXHAUSTED: Received message larger than max (268435456 vs 16777216)')
  expect(server.calls('DescribeNamespace')).toBe(1)
  await connection.close()
})
