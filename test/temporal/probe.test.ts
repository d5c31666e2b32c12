import { createServer } from 'node:net'
import { createServer as createTlsServer } from 'node:tls'
import { expect, test } from 'vitest'
import { freePort } from '../../lab/devnet/ports.ts'
import { probeTemporal } from '../../temporal/client/connection/probe.ts'
import { listen } from '../helpers/servers.ts'

test('a server that wants TLS has another error than one that does not answer', async () => {
  // Shared keys and no certificate: the handshake ends in an alert, which only a TLS server sends.
  const address = await listen(createTlsServer({ ciphers: 'PSK', minVersion: 'TLSv1.2', maxVersion: 'TLSv1.2', pskCallback: () => null }))
  await expect(probeTemporal({ address, namespace: 'default' }, { timeoutMs: 3_000 })).rejects.toMatchObject({
    code: 'TEMPORAL_TLS',
    facts: { address },
  })
})

test('an address without a server, and a server other than Temporal, have their errors', async () => {
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
