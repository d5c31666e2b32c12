import { generateKeyPair, SignJWT } from 'jose'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { noSettings } from '../../domain/settings/settings.ts'
import { bearer } from '../../lab/devnet/access.ts'
import { freePort } from '../../lab/devnet/ports.ts'
import { silentLogger } from '../../observability/logger.ts'
import { watchSettings } from '../../temporal/client/settings/settings-watch.ts'
import { deadConfig, openApi, type OpenApi, type Route } from './setting.ts'

let setting: OpenApi
beforeAll(async () => {
  setting = await openApi(deadConfig(await freePort()))
})
afterAll(() => setting.close())

const ask = (...request: Parameters<OpenApi['ask']>) => setting.ask(...request)

const lane = `evm-1337:0x${'a'.repeat(40)}`

async function routes(): Promise<(Route & { isOpen: boolean })[]> {
  const { paths } = (await setting.api.inject('/v1/openapi.json')).json<{
    paths: Record<string, Record<string, { security?: object[] }>>
  }>()
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, { security }]) => ({
      method: method.toUpperCase() as Route['method'],
      path: path
        .replaceAll(/\{stream\}/g, 'native-bridge:ethereum:bsc')
        .replaceAll(/\{lane\}/g, lane)
        .replaceAll(/\{[^}]+\}/g, 'AQAA'),
      isOpen: security === undefined,
    })),
  )
}

const write = { method: 'POST', path: '/v1/transfers' } as const
const order = { method: 'POST', path: '/v1/settings' } as const
const halt = { reason: 'a test', orders: [{ kind: 'halt', scope: {} }] }

describe('without a good token', () => {
  test('without a token only health, readiness and metrics are answered, for every method', async () => {
    const all = await routes()
    expect(all.filter(({ isOpen }) => isOpen).map(({ path }) => path)).toEqual(['/health', '/ready', '/metrics'])
    expect(all.length).toBeGreaterThan(15)
    for (const route of all) {
      const { status, code, headers } = await ask(route)
      if (route.isOpen) expect(status).not.toBe(401)
      else {
        expect({ route, status, code }).toEqual({ route, status: 401, code: 'ACCESS_TOKEN_MISSING' })
        expect(headers['www-authenticate']).toBe('Bearer realm="portage"')
      }
    }
    // Fastify adds a HEAD route to every GET route.
    expect((await setting.bare.inject({ method: 'HEAD', url: '/v1/settings' })).statusCode).toBe(401)
  })

  test.each<[string, () => Promise<Record<string, string>>, string]>([
    ['nonsense', async () => bearer('nonsense'), 'ACCESS_TOKEN_INVALID'],
    ['another scheme', async () => ({ authorization: `Basic ${await setting.token()}` }), 'ACCESS_TOKEN_MISSING'],
    ['two tokens', async () => ({ authorization: `Bearer ${await setting.token()}, Bearer x` }), 'ACCESS_TOKEN_MISSING'],
    ['one that has expired', async () => bearer(await setting.token({ expiresAt: Date.now() - 1000 })), 'ACCESS_TOKEN_EXPIRED'],
    ['one of another key', async () => bearer(await foreign()), 'ACCESS_TOKEN_INVALID'],
    ['one of another deployment', async () => bearer(await foreign('portage/staging')), 'ACCESS_TOKEN_INVALID'],
  ])('%s is refused', async (_, headers, code) => {
    for (const route of [write, order, { method: 'GET', path: '/v1/transfers' } as const]) {
      expect(await ask(route, await headers())).toMatchObject({ status: 401, code })
    }
  })

  test('a token in the query is ignored', async () => {
    const path = `/v1/transfers?token=${await setting.token()}&access_token=${await setting.token()}`
    expect(await ask({ method: 'GET', path })).toMatchObject({ status: 401, code: 'ACCESS_TOKEN_MISSING' })
  })

  test('the token is checked before the body: a malformed body without a token is a 401', async () => {
    const headers = { 'content-type': 'application/json' }
    const refused = await setting.bare.inject({ method: 'POST', url: '/v1/transfers', headers, payload: '{' })
    expect(refused.statusCode).toBe(401)
  })

  async function foreign(audience = 'portage/default'): Promise<string> {
    const { privateKey } = await generateKeyPair('EdDSA')
    const jwt = new SignJWT({ level: 'admin' }).setProtectedHeader({ alg: 'EdDSA', typ: 'JWT', kid: 'x' }).setSubject('mallory')
    return jwt.setIssuer('portage').setAudience(audience).setJti('j').setIssuedAt().setExpirationTime('1h').sign(privateKey)
  }
})

describe('with a good token', () => {
  test('each route refuses tokens of a lower level', async () => {
    const levels = ['read', 'write', 'sign', 'admin'] as const
    const least: Record<string, (typeof levels)[number]> = {}
    // Leave out `/v1/events`, because its answer does not end.
    for (const route of (await routes()).filter(({ isOpen, path }) => !isOpen && path !== '/v1/events')) {
      const answers = []
      for (const level of levels) answers.push(await ask(route, bearer(await setting.token({ level })), {}))
      const refused = answers.filter(({ code }) => code === 'ACCESS_LEVEL')
      expect(refused.every(({ status }) => status === 403)).toBe(true)
      least[`${route.method} ${route.path}`] = levels[refused.length]!
    }
    const wanted = Object.entries(least).filter(([, level]) => level !== 'read')
    const ofStream = (name: string) => `streams/native-bridge:ethereum:bsc/${name}`
    expect(Object.fromEntries(wanted)).toEqual({
      'POST /v1/transfers': 'write',
      'POST /v1/transfers/bulk': 'write',
      ...levelOf('write', transferOrders),
      ...levelOf(
        'sign',
        [...modes, ...ledgerOrders, 'send', 'sweep', 'top-up'].map((name) => `lanes/${lane}/${name}`),
      ),
      'POST /v1/lanes/set-windows': 'sign',
      'POST /v1/transactions/AQAA/cancel': 'sign',
      'GET /relayvaa/AQAA': 'write',
      'POST /v1/audits': 'write',
      ...levelOf('write', ['backfill', 'unskip', 'audit', 'checkpoint'].map(ofStream)),
      ...levelOf('sign', ['skip', 'pause', 'resume', 'trust', 'reread', 'set-max-open'].map(ofStream)),
      'POST /v1/settings': 'admin',
      ...levelOf('admin', notifierOrders),
    })
  })

  function levelOf(level: string, paths: readonly string[]) {
    return Object.fromEntries(paths.map((path) => [`POST /v1/${path}`, level]))
  }

  const author = { reason: 'a test' }
  const transferOrders = ['retry', 'cancel', 'expedite'].flatMap((name) => [`transfers/${name}`, `transfers/AQAA/${name}`])
  const notifierOrders = ['test', 'replay', 'disable', 'enable'].map((name) => `notifications/AQAA/${name}`)
  const modes = ['pause', 'resume', 'drain', 'forbid', 'activate']
  const ledgerOrders = ['resync', 'fill', 'cancel-nonce', 'replace', 'republish', 'set-window', 'reset']
  const bodies: Readonly<Record<string, object>> = {
    fill: { nonce: 1 },
    'cancel-nonce': { nonce: 1 },
    replace: { nonce: 1 },
    'set-window': { window: 1 },
    reset: { chainReplaced: true },
    send: { to: `0x${'b'.repeat(40)}`, value: '1' },
    // The scope of a token applies to the lane that pays (`from`).
    'top-up': { from: lane, amount: '1' },
  }
  test.each<[string, Route, object]>([
    ['a halt of everything', order, halt],
    ['a halt of another chain', order, { ...author, orders: [{ kind: 'halt', scope: { chain: 'ethereum' } }] }],
    [
      'another after a good one',
      order,
      {
        ...author,
        orders: [
          { kind: 'clearNode', chain: 'bsc', name: 'a' },
          { kind: 'clearNode', chain: 'ethereum', name: 'a' },
        ],
      },
    ],
    ['a token', order, { ...author, orders: [{ kind: 'revokeToken', jti: '6d1b4c0c-5f0a-4e21-9c1e-0a2b3c4d5e6f' }] }],
    ...[...modes, ...ledgerOrders, 'send', 'top-up'].map((name): [string, Route, object] => [
      `${name} of a lane of another chain`,
      { method: 'POST', path: `/v1/lanes/${name === 'top-up' ? `evm-1337:0x${'d'.repeat(40)}` : lane}/${name}` },
      { ...author, ...bodies[name] },
    ]),
    [
      'the end of a transaction of such a lane',
      { method: 'POST', path: `/v1/transactions/operator-transaction:${lane}:0011223344556677/cancel` },
      author,
    ],
    ...['retry', 'cancel', 'expedite'].flatMap((name): [string, Route, object][] => [
      [
        `${name} of what waits, whatever its target`,
        { method: 'POST', path: `/v1/transfers/${name}` },
        { ...author, filter: { state: 'waiting' } },
      ],
      [
        `${name} of what goes to another chain`,
        { method: 'POST', path: `/v1/transfers/${name}` },
        { ...author, filter: { targetChain: 'ethereum' }, dryRun: true },
      ],
    ]),
    ['an audit of what is delivered on another chain', { method: 'POST', path: '/v1/audits' }, { chain: 'ethereum' }],
    ...['skip', 'unskip', 'backfill', 'pause', 'resume', 'trust', 'audit', 'checkpoint'].map((name): [string, Route, object] => {
      const body = {
        skip: { number: '1', ...author },
        unskip: { number: '1', ...author },
        backfill: { from: 1, to: 2, ...author },
        pause: author,
        resume: author,
        trust: { number: '1', ...author },
        audit: {},
        checkpoint: {},
      }[name]!
      return [`${name} of a stream from another chain`, { method: 'POST', path: `/v1/streams/native-bridge:ethereum:bsc/${name}` }, body]
    }),
  ])('a token for bsc is refused: %s', async (_, route, body) => {
    const mine = bearer(await setting.token({ chains: ['bsc'] }))
    expect(await ask(route, mine, body)).toMatchObject({ status: 403, code: 'ACCESS_SCOPE' })
    const lanes = bearer(await setting.token({ lanes: [`evm-1397:0x${'a'.repeat(40)}`] }))
    expect(await ask(route, lanes, body)).toMatchObject({ status: 403, code: 'ACCESS_SCOPE' })
    // No Temporal runs here, so an allowed request fails after the access checks.
    const { code } = await ask(route, bearer(await setting.token()), body)
    expect(code).toBe(/[/](send|top-up)$/.test(route.path) ? 'LANE_NOT_FOUND' : 'TEMPORAL_UNAVAILABLE')
  })

  test('a revocation of a malformed token id is refused, since it would only fill the list', async () => {
    const body = { reason: 'a test', orders: [{ kind: 'revokeToken', jti: 'x' }] }
    expect(await ask(order, bearer(await setting.token()), body)).toMatchObject({ status: 400 })
  })

  test('a body cannot name the author of an order', async () => {
    const answer = await ask(order, bearer(await setting.token()), { ...halt, by: 'somebody' })
    expect(answer).toMatchObject({ status: 400, code: 'INPUT_INVALID' })
  })

  test('a revoked token is refused at once, and every token while the settings are unknown', async () => {
    const token = await setting.token({ level: 'read' })
    const guarded = (await routes()).filter(({ isOpen }) => !isOpen)
    const jti = (JSON.parse(Buffer.from(token.split('.')[1]!, 'base64url').toString()) as { jti: string }).jti
    const read = () => ask({ method: 'GET', path: '/v1/openapi.json' }, bearer(token))
    expect(await read()).toMatchObject({ status: 200 })
    setting.settings.now = { ...noSettings, tokens: [{ jti, revoked: { by: 'bob', reason: 'stolen', at: 1 } }] }
    expect(await read()).toMatchObject({ status: 401, code: 'ACCESS_TOKEN_REVOKED' })
    const watch = await watchSettings({ client: setting.client, logger: silentLogger() })
    await watch.stop()
    setting.settings.now = watch.current()
    expect(await read()).toMatchObject({ status: 503, code: 'SETTINGS_UNREACHABLE' })
    for (const route of guarded) expect(await ask(route, bearer(token))).toMatchObject({ status: 503, code: 'SETTINGS_UNREACHABLE' })
    setting.settings.now = noSettings
    expect(await read()).toMatchObject({ status: 200 })
  })
})
