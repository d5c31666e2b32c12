import { once } from 'node:events'
import { request } from 'node:http'
import { connect } from 'node:net'
import { expect, test, vi } from 'vitest'
import type { Check } from '../../../operations/admin/checks.ts'
import { type AdminOptions, openAdminServer } from '../../../operations/admin/server.ts'
import { silentLogger } from '../../../observability/logger.ts'
import { cleanUp } from '../../helpers/clean-up.ts'

async function opened(options: Partial<AdminOptions> = {}) {
  const checks: Check[] = []
  const metrics = vi.fn(async () => 'portage_halts 0\n')
  const server = await openAdminServer({
    ...{ host: '127.0.0.1', port: 0, hosts: ['portage-lane'], logger: silentLogger() },
    ...{ problem: () => undefined, checks: async () => checks, metrics, ...options },
  })
  cleanUp(() => server.close())
  const ask = async (path: string, { method = 'GET', host = `127.0.0.1:${server.port}`, body = '' } = {}) => {
    const sent = request({ port: server.port, host: '127.0.0.1', path, method, headers: { host } })
    sent.end(body)
    const [response] = await once(sent, 'response')
    let text = ''
    for await (const part of response) text += String(part)
    return { status: response.statusCode as number, type: response.headers['content-type'] as string, text }
  }
  return { checks, metrics, server, ask }
}

test('a waiting process is alive, names the vital checks that fail, and is not ready', async () => {
  const { checks, ask } = await opened()
  expect(await ask('/readyz')).toMatchObject({ status: 200, text: '{"ready":true,"waitsFor":[],"checks":[]}' })
  checks.push({ name: 'temporal', ok: false, vital: true, problem: 'away' }, { name: 'spy 1', ok: false, vital: false, problem: 'away' })
  const { status, text } = await ask('/readyz')
  expect([status, JSON.parse(text)]).toEqual([503, { ready: false, waitsFor: ['temporal'], checks }])
  expect(await ask('/healthz')).toMatchObject({ status: 200, text: 'ok\n' })
})

test('a process with a problem is not alive, and says why', async () => {
  const { ask } = await opened({ problem: () => 'not polled: ledger' })
  expect(await ask('/healthz')).toMatchObject({ status: 503, text: 'not polled: ledger\n' })
})

test('metrics are Prometheus text, rendered once for requests at the same time', async () => {
  const { metrics, ask } = await opened()
  const begun = performance.now()
  const answers = await Promise.all(Array.from({ length: 20 }, () => ask('/metrics?collect=all')))
  for (const answer of answers) {
    expect(answer).toEqual({ status: 200, type: 'text/plain; version=0.0.4; charset=utf-8', text: 'portage_halts 0\n' })
  }
  // A rendering is cached for half a second, and on a slow machine the requests take longer.
  expect(metrics.mock.calls.length).toBeLessThanOrEqual(1 + (performance.now() - begun) / 500)
})

test.each(['evil.example', 'evil.example:9464', 'localhost.evil.example', '127.0.0.1.evil.example', 'portage-lane.evil.example', '%00'])(
  'a web page whose own host name leads to the admin port (%j) reads nothing',
  async (host) => {
    const { ask } = await opened()
    for (const path of ['/healthz', '/readyz', '/metrics']) {
      const { status, text } = await ask(path, { host })
      expect(status).toBe(421)
      expect(text).not.toContain('portage_')
    }
  },
)

test.each(['localhost', 'LOCALHOST:1', '[::1]:80', '10.1.2.3', 'portage-lane:9464'])(
  'the names of the config and addresses (%j) are answered',
  async (host) => {
    const { ask } = await opened()
    expect(await ask('/healthz', { host })).toMatchObject({ status: 200 })
  },
)

test('the admin port refuses other methods, other paths and bodies', async () => {
  const { ask } = await opened()
  for (const method of ['POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']) {
    expect(await ask('/metrics', { method, body: method.startsWith('P') ? '{}' : '' })).toMatchObject({ status: 405 })
  }
  for (const path of ['/', '/metrics/', '//metrics', '/v1/transfers', '/debug/pprof', '/__proto__', '/constructor']) {
    expect(await ask(path)).toMatchObject({ status: 404 })
  }
  expect(await ask('/healthz', { method: 'HEAD' })).toMatchObject({ status: 200, text: '' })
})

test('a request with a body or with long headers loses the connection', async () => {
  const { server } = await opened()
  const send = async (text: string) => {
    const socket = connect(server.port, '127.0.0.1')
    cleanUp(() => socket.destroy())
    socket.on('error', () => {})
    socket.write(text)
    let answer = ''
    socket.on('data', (part) => (answer += String(part)))
    await once(socket, 'close')
    return answer
  }
  expect(await send('GET /healthz HTTP/1.1\r\nhost: localhost\r\ncontent-length: 1000000000\r\n\r\nx')).toMatch(
    /200 OK[^]*connection: close/i,
  )
  expect(await send(`GET /healthz HTTP/1.1\r\nhost: localhost\r\nx: ${'x'.repeat(9_000)}\r\n\r\n`)).toContain('431')
})

test('a slow request loses the connection', async () => {
  const { server } = await opened()
  const socket = connect(server.port, '127.0.0.1')
  cleanUp(() => socket.destroy())
  socket.on('error', () => {}).on('data', () => {})
  socket.write('GET /healthz HTTP/1.1\r\n')
  await once(socket, 'close')
  expect(socket.destroyed).toBe(true)
})

test('an error of a part is in the log, and nowhere else', async () => {
  const metrics = async () => {
    throw new Error('postgres://user:secret@db')
  }
  const { status, text } = await (await opened({ metrics })).ask('/metrics')
  expect([status, text]).toEqual([500, 'The log says why.\n'])
})

test('a port in use is an error that names the field', async () => {
  const { server } = await opened()
  await expect(opened({ port: server.port })).rejects.toMatchObject({
    ...{ code: 'ADMIN_LISTEN', retriable: false },
    message: expect.stringMatching(
      new RegExp(`admin.port=${server.port} reason=EADDRINUSE.*admin.port\` in the config, or \`--admin-port`),
    ),
  })
})
