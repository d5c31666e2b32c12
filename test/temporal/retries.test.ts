import { createServer } from 'node:http2'
import { expect, test } from 'vitest'
import { openConnection } from '../../temporal/client/connection/probe.ts'
import { listen } from '../helpers/servers.ts'

/** A server that greets, and is too busy for everything else: the SDK tries that again. */
async function busyServer() {
  let asked = 0
  const server = createServer()
  server.on('stream', (stream, { ':path': path }) => {
    const isGreeting = String(path).endsWith('/GetSystemInfo')
    if (!isGreeting) asked += 1
    stream.respond({ ':status': 200, 'content-type': 'application/grpc' }, { waitForTrailers: true })
    stream.on('wantTrailers', () => stream.sendTrailers({ 'grpc-status': isGreeting ? '0' : '14' }))
    stream.end(isGreeting ? Buffer.alloc(5) : undefined)
  })
  return { address: await listen(server), asked: () => asked }
}

test('a call that waits for its retry ends with its connection, and throws only to its caller', async () => {
  const server = await busyServer()
  const connection = await openConnection({ address: server.address, namespace: 'default' })
  const call = connection.workflowService.describeNamespace({ namespace: 'default' })
  const close = async () => {
    await expect.poll(server.asked).toBeGreaterThan(0)
    await connection.close()
  }
  await Promise.all([expect(call).rejects.toThrow(/CANCELLED: the connection is closed/), close()])
})
