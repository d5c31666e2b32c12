import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { request } from 'node:http'
import { Writable } from 'node:stream'
import { defaultPayloadConverter, type Payload } from '@temporalio/common'
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest'
import { createKeyRing, keyFile, readKeys, removeKey, rotateKeys } from '../../../operations/access/keys.ts'
import { openCodecServer } from '../../../operations/codec/server.ts'
import type { IssuedToken } from '../../../domain/settings/settings.ts'
import type { SmallServer } from '../../../runtime/http/small-server.ts'
import { makeToken } from '../../../lab/devnet/access.ts'
import { createLogger } from '../../../observability/logger.ts'
import { createEncryptionCodec } from '../../../temporal/encryption/codec.ts'
import { temporaryFolder } from '../../helpers/folders.ts'

const key = randomBytes(32).toString('base64')
const encryption = (id: string) => ({ keys: [{ id, source: { from: 'a test', read: () => key } }], required: false })
const codec = createEncryptionCodec(encryption('one'))
const ui = 'http://ui.example:8233'

const folder = temporaryFolder()
let server: SmallServer
let good = ''
let expired = ''
let tokens: IssuedToken[] | undefined
let log = ''
beforeAll(async () => {
  good = await makeToken({ dataFolder: folder }, { name: 'reader', level: 'read' })
  expired = await makeToken({ dataFolder: folder }, { expiresAt: Date.now() - 1_000 })
  server = await open(folder)
})
afterAll(async () => {
  await server?.close()
})
beforeEach(() => {
  tokens = []
  log = ''
})

function open(dataFolder: string): Promise<SmallServer> {
  const destination = new Writable({ write: (chunk, _, done) => ((log += String(chunk)), done()) })
  return openCodecServer({
    ...{ host: '127.0.0.1', port: 0, hosts: ['codec.example'], origins: [ui], codec },
    check: { ring: createKeyRing({ dataFolder, publicKeys: [] }), audience: 'default', tokens: () => tokens },
    logger: createLogger({ destination }),
  })
}

interface Ask {
  readonly of?: SmallServer
  readonly path?: string
  readonly method?: string
  readonly headers?: Record<string, string>
  readonly body?: string | Buffer
}

async function ask({ of = server, path = '/decode', method = 'POST', headers = {}, body = '' }: Ask) {
  const sent = request({ port: of.port, host: '127.0.0.1', path, method, headers: { 'content-type': 'application/json', ...headers } })
  // The server may close the connection before it has read a refused body.
  sent.on('error', () => {})
  sent.end(body)
  const [response] = await once(sent, 'response')
  let text = ''
  for await (const part of response) text += String(part)
  return { status: response.statusCode as number, headers: response.headers as Record<string, string | string[]>, text }
}

const bearer = (token: string) => ({ authorization: `Bearer ${token}` })
const json = (payloads: readonly Payload[]) => {
  const base64 = (bytes: Uint8Array | null | undefined) => Buffer.from(bytes ?? []).toString('base64')
  const metadata = (one: Payload) => Object.fromEntries(Object.entries(one.metadata ?? {}).map(([name, value]) => [name, base64(value)]))
  return JSON.stringify({ payloads: payloads.map((one) => ({ metadata: metadata(one), data: base64(one.data) })) })
}
const plain = (value: unknown) => defaultPayloadConverter.toPayload(value)
const secret = { recipient: 'a secret' }
const sealed = async (value: unknown = secret) => codec.encode([plain(value)], { type: 'workflow', namespace: 'default', workflowId: 'x' })

describe('POST /decode', () => {
  test('the codec server decrypts for any token, and leaves plain and foreign payloads unchanged', async () => {
    const other = await createEncryptionCodec(encryption('two')).encode([plain(1)])
    const body = json([...(await sealed()), plain('plain'), ...other])
    const answer = await ask({ headers: bearer(good), body })
    expect(answer.status).toBe(200)
    expect(JSON.parse(answer.text)).toEqual(JSON.parse(json([plain(secret), plain('plain'), ...other])))
    expect(log).toContain('"by":"reader"')
    expect(log).toContain('"payloads":3,"unreadable":1')
  })

  test('the codec server decrypts nothing without a valid token', async () => {
    const body = json(await sealed())
    const stranger = temporaryFolder()
    const foreign = await makeToken({ dataFolder: stranger })
    const elsewhere = await makeToken({ dataFolder: folder, temporal: { namespace: 'other' } })
    for (const headers of [{}, bearer('x'), bearer(expired), bearer(foreign), bearer(elsewhere), { authorization: `Basic ${good}` }]) {
      const answer = await ask({ headers, body })
      expect([answer.status, answer.headers['www-authenticate']]).toEqual([401, 'Bearer realm="portage"'])
      expect(answer.text).toMatch(/"code":"ACCESS_TOKEN_/)
      expect(answer.text).not.toContain(Buffer.from(JSON.stringify(secret)).toString('base64'))
    }
    for (const path of [`/decode?token=${good}`, `/decode?access_token=${good}`]) expect((await ask({ path, body })).status).toBe(401)
  })

  test('the codec server refuses revoked tokens, and all tokens while the list is unknown', async () => {
    const [, claims = ''] = good.split('.')
    const { jti } = JSON.parse(Buffer.from(claims, 'base64url').toString()) as { jti: string }
    tokens = [{ jti, revoked: { by: 'a', reason: 'b', at: 1 } }]
    expect((await ask({ headers: bearer(good), body: json([]) })).text).toContain('ACCESS_TOKEN_REVOKED')
    tokens = undefined
    const answer = await ask({ headers: bearer(good), body: json([]) })
    expect([answer.status, answer.text]).toEqual([503, expect.stringContaining('SETTINGS_UNREACHABLE')])
  })

  test.each(['evil.example', 'codec.example.evil.example', 'ui.example:8233'])(
    'POST /decode refuses the host %s of a page that points its own name here',
    async (host) => {
      expect((await ask({ headers: { ...bearer(good), host }, body: json(await sealed()) })).status).toBe(421)
      expect((await ask({ headers: { ...bearer(good), host: 'codec.example' }, body: json(await sealed()) })).status).toBe(200)
    },
  )

  test('the codec server answers pages of the configured Web UI, and no others', async () => {
    const asks = { 'access-control-request-method': 'POST', 'access-control-request-headers': 'authorization,content-type,x-namespace' }
    const allowed = await ask({ method: 'OPTIONS', headers: { origin: ui, ...asks } })
    expect(allowed).toMatchObject({
      status: 204,
      headers: {
        'access-control-allow-origin': ui,
        'access-control-allow-credentials': 'true',
        'access-control-allow-headers': 'authorization, content-type, x-namespace',
        vary: 'origin',
      },
    })
    const answer = await ask({ headers: { ...bearer(good), origin: ui }, body: json(await sealed()) })
    expect([answer.status, answer.headers['access-control-allow-origin']]).toEqual([200, ui])
    // The page must be able to read refusals, too.
    expect((await ask({ headers: { origin: ui }, body: '' })).headers['access-control-allow-origin']).toBe(ui)
    for (const origin of ['http://evil.example', 'https://ui.example:8233', 'http://ui.example', 'null', `${ui}.evil.example`]) {
      for (const method of ['OPTIONS', 'POST']) {
        const body = method === 'POST' ? json(await sealed()) : ''
        const refused = await ask({ method, headers: { ...bearer(good), origin, ...asks }, body })
        expect([refused.status, refused.headers['access-control-allow-origin']]).toEqual([403, undefined])
      }
    }
  })

  test('the codec server refuses malformed requests, and quotes nothing of them', async () => {
    const marked = 'a-secret-by-mistake'
    for (const body of [
      '',
      '{',
      '[]',
      'null',
      `{"payloads":"${marked}"}`,
      `{"payloads":[{"data":"${marked}!"}]}`,
      '{"payloads":[{"metadata":{"a":1}}]}',
    ]) {
      const answer = await ask({ headers: bearer(good), body })
      expect([body, answer.status]).toEqual([body, 400])
      expect(answer.text + log).not.toContain(marked)
    }
    const form = await ask({ headers: { ...bearer(good), 'content-type': 'text/plain' }, body: json(await sealed()) })
    expect(form.status).toBe(415)
  })

  test('the codec server reads at most 8 MiB', async () => {
    const fits = json(await sealed('x'.repeat(4 * 1024 * 1024)))
    expect((await ask({ headers: bearer(good), body: fits })).status).toBe(200)
    // The server closes the connection with its answer. A client that is still sending may not receive the answer.
    const tooLong = (bytes: number) =>
      ask({ headers: bearer(good), body: Buffer.alloc(bytes, ' ') }).then(
        ({ status }) => status,
        (error: NodeJS.ErrnoException) => error.code,
      )
    // Each refused request frees its share of the limit.
    for (let times = 0; times < 10; times++) expect([413, 'ECONNRESET', 'EPIPE']).toContain(await tooLong(8 * 1024 * 1024 + 1))
    expect((await ask({ headers: bearer(good), body: fits })).status).toBe(200)
  })

  test('the codec server has no other path for payloads', async () => {
    for (const path of ['/encode', '/decode/', '//decode', '/v1/decode', '/__proto__'])
      expect([path, (await ask({ path, headers: bearer(good), body: json([plain(1)]) })).status]).toEqual([path, 404])
    for (const method of ['GET', 'PUT', 'DELETE', 'PATCH', 'HEAD']) expect((await ask({ method, headers: bearer(good) })).status).toBe(405)
  })
})

describe('a browser', () => {
  const origin = () => `http://127.0.0.1:${server.port}`
  const signIn = (token: string, headers: Record<string, string> = { origin: origin() }) =>
    ask({
      path: '/sign-in',
      headers: { 'content-type': 'application/x-www-form-urlencoded', ...headers },
      body: new URLSearchParams({ token }).toString(),
    })

  test('a browser signs in with a token, and decrypts by a cookie that no script can read', async () => {
    const { status, headers } = await signIn(good)
    const [set = ''] = headers['set-cookie'] ?? []
    expect([status, set]).toEqual([200, expect.stringMatching(/; Path=\/decode; Max-Age=\d{1,4}; HttpOnly; SameSite=Strict$/)])
    const [cookie = ''] = set.split(';')
    const answer = await ask({ headers: { cookie: `a=b; ${cookie}`, origin: ui }, body: json(await sealed()) })
    expect([answer.status, answer.headers['access-control-allow-credentials']]).toEqual([200, 'true'])
    // The header takes precedence over the cookie.
    expect((await ask({ headers: { cookie, ...bearer('x') }, body: json([]) })).status).toBe(401)
  })

  test('a browser behind TLS sends the cookie only over TLS', async () => {
    const host = 'codec.example'
    expect((await signIn(good, { host, origin: `https://${host}` })).headers['set-cookie']?.[0]).toMatch(/; Secure$/)
  })

  test('a browser gets no cookie for a bad token, nor by the form of another page', async () => {
    for (const token of ['', 'x', expired]) {
      const { status, headers } = await signIn(token)
      expect([status, headers['set-cookie']]).toEqual([401, undefined])
    }
    // A browser sends a cookie to every port of its host, so only tokens of level read may sign in.
    for (const level of ['write', 'sign', 'admin'] as const) {
      const { status, headers, text } = await signIn(await makeToken({ dataFolder: folder }, { level }))
      expect([status, headers['set-cookie'], text]).toEqual([403, undefined, expect.stringContaining('level read')])
    }
    for (const foreign of [ui, 'null', 'http://evil.example']) {
      const { status, headers } = await signIn(good, { origin: foreign })
      expect([status, headers['set-cookie']]).toEqual([403, undefined])
    }
  })

  test('a browser sees a page without scripts that no other page can frame', async () => {
    const { headers, text } = await ask({ path: '/', method: 'GET' })
    expect(headers['content-security-policy']).toMatch(/default-src 'none'.*frame-ancestors 'none'/)
    expect(text).not.toMatch(/<script/i)
  })
})

test('a token of a removed key is refused', async () => {
  // Use separate keys, because the other tests' tokens must stay valid.
  const dataFolder = temporaryFolder()
  const file = keyFile({ dataFolder })
  const before = await makeToken({ dataFolder })
  const of = await open(dataFolder)
  onTestFinished(() => of.close())
  const [old] = (await readKeys(file)) ?? []
  await rotateKeys(file)
  const status = async () => (await ask({ of, headers: bearer(before), body: json([]) })).status
  expect(await status()).toBe(200)
  await removeKey(file, old?.kid ?? '')
  await expect.poll(status, { timeout: 40_000 }).toBe(401)
})

test('no payload and no token is logged', async () => {
  await ask({ headers: bearer(good), body: json(await sealed()) })
  await ask({ headers: bearer(`${good}x`), body: json(await sealed()) })
  await ask({ headers: bearer(good), body: json([plain(secret), ...(await sealed())]).replace('"data":"', '"data":"!') })
  expect(log).toContain('payloads were decrypted')
  for (const text of [good, secret.recipient, Buffer.from(JSON.stringify(secret)).toString('base64').slice(0, 16), key])
    expect(log).not.toContain(text)
})
