import { createServer } from 'node:http'
import { once } from 'node:events'
import { expect, test } from 'vitest'
import { restApi } from '../../api/server.ts'
import { freePort } from '../../lab/devnet/ports.ts'
import { RelayerError } from '../../domain/catalogue/errors.ts'
import { cleanUp } from '../helpers/clean-up.ts'

async function opened() {
  const port = await freePort()
  const startupServer = restApi.createStartupServer({ host: '127.0.0.1', port, hosts: [] })
  cleanUp(() => startupServer.close())
  const ask = async (path: string, method = 'GET') => {
    const response = await fetch(`http://127.0.0.1:${port}${path}`, { method })
    return { status: response.status, retryAfter: response.headers.get('retry-after'), body: await response.json() }
  }
  return { port, startupServer, ask }
}

test('the start-up server is alive, not ready, and refuses other requests with the reason', async () => {
  const { startupServer, ask } = await opened()
  await startupServer.say(
    'Temporal',
    new RelayerError('TEMPORAL_NAMESPACE', { facts: { address: 'temporal.internal:7233', namespace: 'prod' }, detail: 'not at home' }),
  )
  expect(await ask('/health')).toMatchObject({ status: 200, body: { status: 'ok' } })
  expect(await ask('/ready')).toMatchObject({
    status: 503,
    body: {
      ready: false,
      checks: [{ name: 'Temporal', ok: false, vital: true, problem: expect.stringContaining('does not have the namespace') }],
    },
  })
  for (const method of ['GET', 'POST']) {
    const refused = await ask('/v1/transfers', method)
    // The startup server does not check tokens, so its answers must not contain Temporal's address.
    expect(JSON.stringify([refused, await ask('/ready')])).not.toMatch(/internal|7233|prod|at home/)
    expect(refused).toMatchObject({
      status: 503,
      retryAfter: expect.stringMatching(/^\d+$/),
      body: { status: 503, code: 'TEMPORAL_NAMESPACE', remedy: expect.stringContaining('portage setup temporal'), facts: {} },
    })
  }
  await startupServer.say('nodes', new RelayerError('NODE_UNAVAILABLE', { detail: 'http://user:secret@node.example/key did not answer' }))
  const { body } = await ask('/ready')
  expect(body).toMatchObject({ checks: [{ name: 'nodes' }] })
  expect(JSON.stringify(body)).not.toMatch(/secret|\/key/)
})

test('the start-up server listens only while the start waits, and frees the port', async () => {
  const { port, startupServer, ask } = await opened()
  await expect(ask('/health')).rejects.toThrow('fetch failed')
  await startupServer.say('Temporal', new RelayerError('TEMPORAL_UNAVAILABLE'))
  // The client's open connection does not keep the port busy after `close`.
  expect((await ask('/health')).status).toBe(200)
  await startupServer.close()
  const next = createServer().listen(port, '127.0.0.1')
  cleanUp(() => new Promise((resolve) => next.close(resolve)))
  await once(next, 'listening')
})

test('the start-up server throws an error if its port is in use', async () => {
  const { port, startupServer } = await opened()
  const taken = createServer().listen(port, '127.0.0.1')
  cleanUp(() => new Promise((resolve) => taken.close(resolve)))
  await once(taken, 'listening')
  await expect(startupServer.say('Temporal', new RelayerError('TEMPORAL_UNAVAILABLE'))).rejects.toMatchObject({
    ...{ code: 'API_LISTEN', retriable: false },
    message: expect.stringMatching(new RegExp(`api.port=${port} reason=EADDRINUSE.* .api.port. in the config`)),
  })
})
