import { createServer } from 'node:net'
import { createServer as createTlsServer } from 'node:tls'
import { expect, test } from 'vitest'
import { freePort } from '../../lab/devnet/ports.ts'
import { setUpNamespace } from '../../temporal/client/connection/namespace-setup.ts'
import { openConnection, probeTemporal } from '../../temporal/client/connection/probe.ts'
import { cleanUp } from '../helpers/clean-up.ts'
import { startGrpc } from '../helpers/grpc-server.ts'
import { listen } from '../helpers/servers.ts'

test('a server that wants TLS has another error than one that does not answer', async () => {
  // The server has shared keys and no certificate, so the handshake ends in an alert.
  const address = await listen(createTlsServer({ ciphers: 'PSK', minVersion: 'TLSv1.2', maxVersion: 'TLSv1.2', pskCallback: () => null }))
  await expect(probeTemporal({ address, namespace: 'default' }, { timeoutMs: 3_000 })).rejects.toMatchObject({
    code: 'TEMPORAL_TLS',
    facts: { address },
  })
})

test('an address without a server, and a server other than Temporal, are reported as unavailable', async () => {
  const address = `127.0.0.1:${await freePort()}`
  await expect(probeTemporal({ address, namespace: 'default' })).rejects.toMatchObject({
    code: 'TEMPORAL_UNAVAILABLE',
    message: expect.stringContaining(`ECONNREFUSED ${address}`),
  })
  const other = await listen(createServer((socket) => socket.destroy()))
  await expect(probeTemporal({ address: other, namespace: 'default' }, { timeoutMs: 3_000 })).rejects.toMatchObject({
    code: 'TEMPORAL_UNAVAILABLE',
  })
})

test('a process that stops before a connection is refused ends without an unhandled error', async () => {
  const unhandled: Error[] = []
  const keep = (error: Error) => unhandled.push(error)
  const others = process.listeners('uncaughtException')
  process.removeAllListeners('uncaughtException').on('uncaughtException', keep)
  cleanUp(() => {
    process.off('uncaughtException', keep)
    for (const other of others) process.on('uncaughtException', other)
  })
  const address = `127.0.0.1:${await freePort()}`
  const stopped = { stopping: AbortSignal.abort() }
  await expect(openConnection({ address, namespace: 'default' }, stopped)).rejects.toMatchObject({ code: 'TEMPORAL_UNAVAILABLE' })
  expect(unhandled).toEqual([])
})

/** gRPC's PERMISSION_DENIED. */
const denied = 7

test('a connection whose greeting fails is closed', async () => {
  const server = await startGrpc(() => denied)
  await expect(openConnection({ address: server.address, namespace: 'default' })).rejects.toMatchObject({ code: 'TEMPORAL_PERMISSION' })
  expect(server.calls('GetSystemInfo')).toBe(1)
  await expect.poll(server.open).toBe(0)
})

test('credentials that a rotation makes unreadable after a refusal do not hide the refusal', async () => {
  const server = await startGrpc((method) => (method === 'GetSystemInfo' ? 0 : denied))
  const read = () => {
    if (server.calls('DescribeNamespace') > 0) throw new Error('the file is being replaced')
    return 'a-key'
  }
  const target = { address: server.address, namespace: 'default', apiKey: { from: 'a test', read } }
  await expect(probeTemporal(target)).rejects.toMatchObject({ code: 'TEMPORAL_PERMISSION' })
})

test('the set-up reads an existing namespace only once', async () => {
  const server = await startGrpc((method) => (method === 'ListSearchAttributes' ? denied : 0))
  const { namespace } = await setUpNamespace({ address: server.address, namespace: 'kept' }, { retentionHours: 72 })
  expect(namespace).toEqual({ name: 'kept', made: false, retentionHours: 0 })
  expect([server.calls('DescribeNamespace'), server.calls('RegisterNamespace')]).toEqual([1, 0])
})
