import { once } from 'node:events'
import { createServer, type RequestListener } from 'node:http'
import { createServer as createSocketServer, type Server, type Socket } from 'node:net'
import { brotliCompressSync, gzipSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import { AnswerTooLong, createByteBudget, fetchBounded, type FetchLimits } from '../../../runtime/http/fetch-bounded.ts'
import { freePort } from '../../../lab/devnet/ports.ts'
import { listen } from '../../helpers/servers.ts'

const urlOf = async (server: Server) => new URL(`http://${await listen(server)}/path?query`)

async function ask(answer: RequestListener, limits: Partial<FetchLimits> = {}, body?: string) {
  const url = await urlOf(createServer(answer))
  return fetchBounded(url, { method: body === undefined ? 'GET' : 'POST', ...(body !== undefined && { body }) }, { ...usual, ...limits })
}
const usual = { timeoutMs: 60_000, mostBytes: 1_000 }

describe('an answer', () => {
  test('an answer is returned with its status and its headers, by their names in any case', async () => {
    const { ok, status, headers, text } = await ask(
      (request, response) => {
        response.writeHead(429, { 'Retry-After': '7' })
        request.on('data', (sent: Buffer) =>
          response.end(`${request.method} ${request.url} ${request.headers['content-length']} ${sent.toString()}`),
        )
      },
      {},
      'é',
    )
    expect({ ok, status, text }).toEqual({ ok: false, status: 429, text: 'POST /path?query 2 é' })
    expect([headers.get('retry-after'), headers.get('Retry-After'), headers.get('none')]).toEqual(['7', '7', null])
  })

  test.each([
    ['gzip', gzipSync('packed')],
    ['br', brotliCompressSync('packed')],
    ['identity', Buffer.from('packed')],
  ])('an answer that comes as %s is unpacked', async (encoding, bytes) => {
    const { text } = await ask((_, response) => response.writeHead(200, { 'content-encoding': encoding }).end(bytes))
    expect(text).toBe('packed')
  })

  test.each(['constructor', '__proto__', 'hasOwnProperty', 'x'])(
    'an answer in the unknown encoding %s is read as it is, and its connection is kept',
    async (encoding) => {
      const sockets = new Set<Socket>()
      const url = await urlOf(
        createServer(({ socket }, response) => {
          sockets.add(socket)
          response.writeHead(200, { 'content-encoding': encoding }).end('plain')
        }),
      )
      for (let count = 0; count < 3; count++) expect((await fetchBounded(url, {}, usual)).text).toBe('plain')
      expect(sockets.size).toBe(1)
    },
  )

  test('an answer that redirects is not followed', async () => {
    const asked: unknown[] = []
    const { ok, status } = await ask(({ url }, response) => {
      asked.push(url)
      response.writeHead(302, { location: '/elsewhere' }).end()
    })
    expect([ok, status, asked]).toEqual([false, 302, ['/path?query']])
  })

  test('many answers come over one connection that is kept', async () => {
    const sockets = new Set<Socket>()
    const url = await urlOf(createServer(({ socket }, response) => response.end(String(sockets.add(socket).size))))
    for (let count = 0; count < 5; count++) expect((await fetchBounded(url, {}, usual)).text).toBe('1')
  })
})

describe('an answer that is too long', () => {
  test('an answer that is too long once unpacked is unpacked no further', async () => {
    const bomb = gzipSync(Buffer.alloc(10_000_000))
    const budget = createByteBudget(1_000)
    const limits = { mostBytes: 1_000_000, budget }
    await expect(ask((_, response) => response.writeHead(200, { 'content-encoding': 'gzip' }).end(bomb), limits)).rejects.toThrow(
      AnswerTooLong,
    )
    expect(budget.take(1_000)).toBe(true)
  })

  test.each<[string, RequestListener]>([
    ['as announced', (_, response) => response.writeHead(200, { 'content-length': 1_001 }).write('x')],
    ['as it comes', (_, response) => void response.write('x'.repeat(1_001))],
  ])('an answer that is too long, %s, is read no further, and its connection ends', async (_, answer) => {
    const closed: Promise<unknown>[] = []
    const asking = ask((request, response) => {
      closed.push(once(request.socket, 'close'))
      answer(request, response)
    })
    await expect(asking).rejects.toThrow(AnswerTooLong)
    await Promise.all(closed)
    expect(closed).toHaveLength(1)
  })

  test('a failure whose answer is too long returns only its status', async () => {
    const { status, text } = await ask((_, response) => response.writeHead(500).end('x'.repeat(1_001)))
    expect([status, text]).toEqual([500, ''])
  })

  test('an answer is too long if the shared budget has no room; bytes of ended answers are free again', async () => {
    const budget = createByteBudget(500)
    await expect(ask((_, response) => response.end('x'.repeat(501)), { budget })).rejects.toThrow(AnswerTooLong)
    for (let count = 0; count < 3; count++)
      expect((await ask((_, response) => response.end('x'.repeat(500)), { budget })).text).toHaveLength(500)
  })
})

describe('no answer', () => {
  test.each<[string, RequestListener]>([
    ['at all', () => {}],
    ['to the end', (_, response) => response.writeHead(200, { 'content-length': 10 }).write('x')],
  ])('an answer that does not come in time, %s, is a TimeoutError', async (_, answer) => {
    await expect(ask(answer, { timeoutMs: 50 })).rejects.toMatchObject({ name: 'TimeoutError' })
  })

  test('a request that was given up throws the reason, also if it was given up before', async () => {
    const giveUp = new AbortController()
    const asking = ask(() => giveUp.abort(new Error('stopping')), { signal: giveUp.signal })
    await expect(asking).rejects.toThrow('stopping')
    await expect(ask((_, response) => response.end('late'), { signal: giveUp.signal })).rejects.toThrow('stopping')
  })

  test('a request to a server that does not exist throws the code of the socket', async () => {
    const url = new URL(`http://127.0.0.1:${await freePort()}`)
    await expect(fetchBounded(url, {}, usual)).rejects.toMatchObject({ code: 'ECONNREFUSED' })
  })

  test.each([
    ['ends early', 'HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nx'],
    ['is junk', 'junk\r\n\r\n'],
    ['is packed badly', 'HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\ncontent-length: 4\r\n\r\njunk'],
    ['is another protocol', 'HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: x\r\n\r\n'],
    ['is empty', ''],
  ])('an answer that %s is an error', async (_, bytes) => {
    const url = await urlOf(
      createSocketServer((socket) => {
        socket.on('error', () => {})
        socket.on('data', () => socket.end(bytes))
      }),
    )
    await expect(fetchBounded(url, {}, usual)).rejects.toThrow(Error)
  })

  test('an answer whose body cannot be unpacked is an error, and its connection is closed', async () => {
    const closed: Promise<unknown>[] = []
    const asking = ask(({ socket }, response) => {
      closed.push(once(socket, 'close'))
      // The server never ends this answer, so the client must close the connection.
      response.writeHead(200, { 'content-encoding': 'gzip' }).write('junk')
    })
    await expect(asking).rejects.toThrow(Error)
    await Promise.all(closed)
    expect(closed).toHaveLength(1)
  })

  test('a URL that is not of HTTP is an error', async () => {
    await expect(fetchBounded(new URL('file:///etc/hostname'), {}, usual)).rejects.toThrow(TypeError)
  })
})
