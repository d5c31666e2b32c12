import { Agent, get } from 'node:http'
import { connect, type Socket } from 'node:net'
import { expect, test } from 'vitest'
import { restApi } from '../../api/server.ts'
import { RelayerError } from '../../domain/catalogue/errors.ts'
import { freePort } from '../../lab/devnet/ports.ts'
import { openSmallServer, plainText } from '../../runtime/http/small-server.ts'
import { cleanUp } from '../helpers/clean-up.ts'

const waitLimit = { timeout: 40_000 }

async function opened() {
  const port = await freePort()
  const server = restApi.createStartupServer({ host: '127.0.0.1', port, hosts: [] })
  cleanUp(() => server.close())
  await server.say('Temporal', new RelayerError('TEMPORAL_UNAVAILABLE'))
  return port
}

function visitor(port: number, localAddress = '127.0.0.1') {
  const seen = { answered: false, closed: false }
  const socket: Socket = connect({ port, host: '127.0.0.1', localAddress }, () =>
    socket.write('GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n'),
  )
  socket.on('data', () => (seen.answered = true))
  socket.on('error', () => {}).on('close', () => (seen.closed = true))
  cleanUp(() => socket.destroy())
  return { seen, leave: () => socket.destroy() }
}

test('an idle connection is closed after five seconds', async () => {
  const { seen } = visitor(await opened())
  await expect.poll(() => seen.answered, waitLimit).toBe(true)
  // The server closes an idle connection after 5 s. Fastify's default is 72 s.
  await expect.poll(() => seen.closed, { timeout: 40_000 }).toBe(true)
})

// Only Linux has 127.0.0.2 without a configuration.
test.runIf(process.platform === 'linux')('an address has 100 connections at a time, and leaves the rest to others', async () => {
  const port = await opened()
  const first = Array.from({ length: 100 }, () => visitor(port))
  await expect.poll(() => first.every(({ seen }) => seen.answered), waitLimit).toBe(true)
  const late = visitor(port)
  await expect.poll(() => late.seen, waitLimit).toEqual({ answered: false, closed: true })
  const other = visitor(port, '127.0.0.2')
  await expect.poll(() => other.seen.answered, waitLimit).toBe(true)
  for (const { leave } of first.slice(0, 2)) leave()
  await expect
    .poll(async () => {
      const { seen } = visitor(port)
      await expect.poll(() => seen.answered || seen.closed, waitLimit).toBe(true)
      return seen.answered
    }, waitLimit)
    .toBe(true)
})

test('a connection is closed after 1,000 requests', async () => {
  const port = await opened()
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  cleanUp(() => agent.destroy())
  const ask = () =>
    new Promise<number | undefined>((resolve, reject) => {
      const request = get({ port, host: '127.0.0.1', path: '/health', agent }, (response) => {
        const from = response.socket.localPort
        response.resume().once('end', () => resolve(from))
      })
      request.once('error', reject)
    })
  const from = []
  for (let count = 0; count < 1_001; count++) from.push(await ask())
  expect(new Set(from.slice(0, 1_000)).size).toBe(1)
  expect(from[1_000]).not.toBe(from[0])
})

test('a connection that pipelines more than 16 requests is closed, and the server answers others', async () => {
  const port = await freePort()
  let handled = 0
  let finish = () => {}
  const finished = new Promise<void>((resolve) => (finish = resolve))
  const answer = async (_: unknown, path: string) => {
    if (path === '/slow') {
      handled += 1
      await finished
    }
    return plainText(200, 'ok')
  }
  const failure = () => plainText(500, 'a test')
  const server = await openSmallServer({ host: '127.0.0.1', port, hosts: [] }, { setting: 'admin', code: 'ADMIN_LISTEN', answer, failure })
  cleanUp(() => server.close(), finish)
  const socket = connect({ port, host: '127.0.0.1' }, () => socket.write('GET /slow HTTP/1.1\r\nHost: localhost\r\n\r\n'.repeat(2_000)))
  cleanUp(() => socket.destroy())
  socket.on('error', () => {}).resume()
  await expect.poll(() => socket.closed, waitLimit).toBe(true)
  expect(handled).toBeLessThanOrEqual(16)
  expect(await (await fetch(`http://127.0.0.1:${port}/`)).text()).toBe('ok\n')
})
