import { once } from 'node:events'
import { createServer, type AddressInfo, type Server } from 'node:net'
import { createServer as createTlsServer } from 'node:tls'
import { afterEach, expect, test } from 'vitest'
import { freePort } from '../../lab/devnet/ports.ts'
import { probeTemporal } from '../../temporal/client/connection/probe.ts'

const servers: Server[] = []
afterEach(async () => {
  for (const server of servers.splice(0)) await new Promise((resolve) => server.close(resolve))
})

async function listening(server: Server): Promise<string> {
  servers.push(server)
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return `127.0.0.1:${(server.address() as AddressInfo).port}`
}

test('a server that wants TLS has another error than one that does not answer', async () => {
  // Shared keys and no certificate: the handshake ends in an alert, which only a TLS server sends.
  const address = await listening(
    createTlsServer({ ciphers: 'PSK', minVersion: 'TLSv1.2', maxVersion: 'TLSv1.2', pskCallback: () => null }),
  )
  await expect(probeTemporal({ address, namespace: 'default' }, { timeoutMs: 3_000 })).rejects.toMatchObject({
    code: 'TEMPORAL_TLS',
    facts: { address },
  })
})

test('no server listens; a server that is no Temporal', async () => {
  const address = `127.0.0.1:${await freePort()}`
  await expect(probeTemporal({ address, namespace: 'default' })).rejects.toMatchObject({
    code: 'TEMPORAL_UNAVAILABLE',
    message: expect.stringContaining(`ECONNREFUSED ${address}`),
  })
  const other = await listening(createServer((socket) => socket.destroy()))
  await expect(probeTemporal({ address: other, namespace: 'default' }, { timeoutMs: 3_000 })).rejects.toMatchObject({
    code: 'TEMPORAL_UNAVAILABLE',
  })
})
