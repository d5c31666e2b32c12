import { connect } from 'node:net'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { bearer } from '../../lab/devnet/access.ts'
import { freePort } from '../../lab/devnet/ports.ts'
import { deadConfig, openApi, type OpenApi } from './setting.ts'

let setting: OpenApi
let port = 0
beforeAll(async () => {
  const config = deadConfig(await freePort())
  setting = await openApi({ ...config, api: { ...config.api, hosts: ['relayer.example'] } })
  port = await freePort()
  await setting.bare.listen({ host: '127.0.0.1', port })
})
afterAll(() => setting.close())

describe('requests for a foreign host are refused (DNS rebinding)', () => {
  const get = async (host: string | undefined, path = '/metrics') => {
    const { status, code } = await setting.ask({ method: 'GET', path }, host === undefined ? {} : { host })
    return [status, code]
  }
  test.each([
    'evil.example',
    'evil.example:8099',
    'localhost.evil.example',
    '127.0.0.1.nip.io',
    'relayer.example.evil.example',
    '[::1',
    'a b',
  ])('a request for the foreign host %j is refused', async (host) => {
    expect(await get(host)).toEqual([421, 'ACCESS_HOST'])
    expect(await get(host, '/nothing')).toEqual([421, 'ACCESS_HOST'])
  })
  test.each(['localhost', 'LOCALHOST:8099', '127.0.0.1:8099', '10.0.0.7', '[::1]:8099', 'relayer.example', 'Relayer.Example.:443'])(
    'a request for the host %j is served',
    async (host) => {
      expect(await get(host)).toEqual([200, undefined])
    },
  )
})

describe('malformed requests get problem details', () => {
  const admin = async () => bearer(await setting.token())
  test.each([
    ['a path that cannot be decoded', '/v1/transfers/%ff'],
    ['an id of 1,001 characters', `/v1/transfers/${'a'.repeat(1_001)}`],
    ['half an escape', '/v1/streams/%'],
  ])('a malformed request gets problem details: %s', async (_, path) => {
    const response = await setting.bare.inject({ method: 'GET', url: path, headers: await admin() })
    expect(response.json()).toMatchObject({ code: 'INPUT_INVALID', remedy: expect.any(String), facts: {} })
    expect(response.statusCode).toBeGreaterThanOrEqual(400)
    expect(response.statusCode).toBeLessThan(500)
  })

  test.each([
    ['malformed JSON', 'application/json', '{'],
    ['a prototype', 'application/json', '{"__proto__":{"vaa":"AQ"}}'],
    ['another content type', 'text/plain', 'vaa'],
    ['a form', 'application/x-www-form-urlencoded', 'vaa=AQ'],
    ['a body of 300 KB', 'application/json', JSON.stringify({ vaa: 'A'.repeat(300_000) })],
    ['an empty body', 'application/json', ''],
    ['deep nesting', 'application/json', `${'['.repeat(50_000)}${']'.repeat(50_000)}`],
  ])('a malformed request gets problem details: %s', async (_, type, payload) => {
    const headers = { ...(await admin()), 'content-type': type }
    const response = await setting.bare.inject({ method: 'POST', url: '/v1/transfers', headers, payload })
    expect([response.statusCode, response.json()]).toMatchObject([400, { code: 'INPUT_INVALID' }])
  })

  function raw(text: string): Promise<string> {
    return new Promise((resolve, reject) => {
      let answer = ''
      const socket = connect(port, '127.0.0.1', () => socket.write(text))
      socket.setEncoding('utf8').on('data', (part: string) => (answer += part))
      socket.once('close', () => resolve(answer)).once('error', reject)
    })
  }

  test.each([
    ['no HTTP', 'hello\r\n\r\n', 400],
    ['headers without end', `GET /health HTTP/1.1\r\nhost: localhost\r\nx: ${'a'.repeat(20_000)}\r\n\r\n`, 431],
    ['two lengths', 'POST /v1/transfers HTTP/1.1\r\nhost: localhost\r\ncontent-length: 3\r\ncontent-length: 4\r\n\r\nabc', 400],
    [
      'a length and chunks (request smuggling)',
      'POST /v1/transfers HTTP/1.1\r\nhost: localhost\r\ncontent-length: 3\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n',
      400,
    ],
  ])('a malformed request gets problem details: %s', async (_, text, status) => {
    const answer = await raw(text)
    expect(answer).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `))
    expect(JSON.parse(answer.split('\r\n\r\n')[1]!)).toMatchObject({ code: 'INPUT_INVALID' })
  })

  test('a body or headers that arrive too slowly end with 408', { timeout: 60_000 }, async () => {
    const { authorization } = await admin()
    const slowBody = `POST /v1/transfers HTTP/1.1\r\nhost: localhost\r\nauthorization: ${authorization}\r\ncontent-type: application/json\r\ncontent-length: 100\r\n\r\n{`
    const answers = await Promise.all([raw(slowBody), raw('GET /health HTTP/1.1\r\nhost: localhost\r\nx: ')])
    for (const answer of answers) {
      expect(answer).toMatch(/^HTTP\/1\.1 408 /)
      expect(JSON.parse(answer.split('\r\n\r\n')[1]!)).toMatchObject({ code: 'INPUT_INVALID' })
    }
  })
})
