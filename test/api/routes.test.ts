import { concat, toBeHex, zeroPadValue } from 'ethers'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { wormholeTokenBridgeSchema } from '../../config/schema/bridge-schema.ts'
import { bearer } from '../../lab/devnet/access.ts'
import { devnetGuardians } from '../../lab/devnet/chain/accounts.ts'
import { freePort } from '../../lab/devnet/ports.ts'
import { signVaa } from '../../lab/devnet/wormhole/vaa.ts'
import { deadConfig, openApi } from './setting.ts'
import { cleanUp } from '../helpers/clean-up.ts'
import { metricValue } from '../helpers/metrics.ts'
import { listenHttp } from '../helpers/servers.ts'

const emitter = 'b'.repeat(40).padStart(64, '0')
const vaa = signVaa(
  {
    timestamp: 1_700_000_000,
    vaaNonce: 0,
    emitterChain: 2,
    emitter,
    sequence: 2n ** 64n - 1n,
    consistencyLevel: 1,
    payload: concat(['0x01', word(100n), word(0xdeadn), '0x0002', word(0xbeefn), '0x0004', word(0n)]),
  },
  devnetGuardians(1),
).bytes
const base64 = Buffer.from(vaa).toString('base64')

const native = { bridge: 'native-bridge', source: 'ethereum', target: 'bsc', nonce: '1' }

let setting: Awaited<ReturnType<typeof openApi>>
beforeAll(async () => {
  setting = await openApi(deadConfig(await freePort()))
})
afterAll(() => setting.close())

function word(value: bigint): string {
  return zeroPadValue(toBeHex(value), 32)
}

function post(body: object, query = '') {
  return setting.api.inject({ method: 'POST', url: `/v1/transfers${query}`, payload: body })
}

describe('POST /v1/transfers', () => {
  test.each([
    ['a VAA that is not base64', { vaa: '%%%' }, 400, 'MESSAGE_ENCODING'],
    ['half a byte', { vaa: 'AQAAA' }, 400, 'MESSAGE_ENCODING'],
    ['an empty text', { vaa: '' }, 400, 'INPUT_INVALID'],
    ['an empty body', {}, 400, 'INPUT_INVALID'],
    ['a VAA with a place', { vaa: base64, chain: 2, emitter, sequence: '1' }, 400, 'INPUT_INVALID'],
    ['a sequence as a number', { chain: 2, emitter, sequence: 1 }, 400, 'INPUT_INVALID'],
    ['a sequence beyond u64', { chain: 2, emitter, sequence: '18446744073709551616' }, 400, 'INPUT_INVALID'],
    ['a sequence of 1,000 digits', { chain: 2, emitter, sequence: '9'.repeat(1000) }, 400, 'INPUT_INVALID'],
    ['a negative sequence', { chain: 2, emitter, sequence: '-1' }, 400, 'INPUT_INVALID'],
    ['a short emitter', { chain: 2, emitter: 'bb', sequence: '1' }, 400, 'INPUT_INVALID'],
    ['an unknown chain', { chain: 'solana', emitter, sequence: '1' }, 400, 'INPUT_INVALID'],
    ['chain 0', { chain: 0, emitter, sequence: '1' }, 400, 'INPUT_INVALID'],
    [
      'a native transfer of a bridge that is not there',
      { bridge: 'ferry', source: 'ethereum', target: 'bsc', nonce: '1' },
      400,
      'INPUT_INVALID',
    ],
    ['a native transfer with a VAA', { ...native, vaa: base64 }, 400, 'INPUT_INVALID'],
    ['a native transfer without its target', { ...native, target: undefined }, 400, 'INPUT_INVALID'],
    ['a native transfer of nonce 0', { ...native, nonce: '0' }, 400, 'INPUT_INVALID'],
    ['a native transfer beyond u64', { ...native, nonce: '18446744073709551616' }, 400, 'INPUT_INVALID'],
    ['a native transfer the wrong way', { ...native, source: 'bsc', target: 'ethereum' }, 400, 'INPUT_INVALID'],
    ['a native transfer while no node answers', native, 503, 'NODE_UNAVAILABLE'],
    ['a truncated VAA', { vaa: base64.slice(0, 40) }, 422, 'VAA_TRUNCATED'],
    ['a VAA of another version', { vaa: `02${Buffer.from(vaa).toString('hex').slice(2)}` }, 422, 'VAA_VERSION'],
    ['a sequence that no guardian has', { chain: 'ethereum', emitter, sequence: '18446744073709551615' }, 503, 'VAA_NOT_FOUND'],
    ['a good VAA while no node answers', { vaa: base64 }, 503, 'NODE_UNAVAILABLE'],
    ['a good VAA in hex while no node answers', { vaa: `0x${Buffer.from(vaa).toString('hex')}` }, 503, 'NODE_UNAVAILABLE'],
  ])('POST /v1/transfers refuses %s', async (_, body, status, code) => {
    const response = await post(body)
    expect(response.json()).toMatchObject({
      ...{ type: `urn:portage:error:${code}`, status, code },
      ...{ title: expect.any(String), detail: expect.any(String), remedy: expect.any(String), facts: expect.any(Object) },
    })
    expect(response.statusCode).toBe(status)
    expect(response.headers['content-type']).toBe('application/problem+json; charset=utf-8')
    expect(response.headers['retry-after'] !== undefined).toBe(status === 503)
    expect(response.body).not.toContain('secret-path')
  })

  test('POST /v1/transfers names the wrong field', async () => {
    const response = await post({ chain: 2, emitter, sequence: '18446744073709551616' })
    expect(response.json()).toMatchInlineSnapshot(`
      {
        "code": "INPUT_INVALID",
        "detail": "body.sequence: must be a whole number below 2^64 in quotes",
        "errors": [
          {
            "message": "must be a whole number below 2^64 in quotes",
            "path": "body.sequence",
          },
        ],
        "facts": {},
        "remedy": "Correct the part that the message names, and send the request again.",
        "status": 400,
        "title": "The request has a problem.",
        "type": "urn:portage:error:INPUT_INVALID",
      }
    `)
  })

  test('POST /v1/transfers refuses an unknown bridge and names the configured ones', async () => {
    const response = await post({ vaa: base64 }, '?bridge=ferry')
    expect([response.statusCode, response.json<{ detail: string }>().detail]).toEqual([
      400,
      expect.stringContaining('configured: wormhole-token-bridge, native-bridge'),
    ])
  })

  test('POST /v1/transfers refuses a body that is not JSON or too long', async () => {
    const broken = await setting.api.inject({
      method: 'POST',
      url: '/v1/transfers',
      headers: { 'content-type': 'application/json' },
      payload: '{',
    })
    expect([broken.statusCode, broken.json<{ code: string }>().code]).toEqual([400, 'INPUT_INVALID'])
    const long = await post({ vaa: 'A'.repeat(300_000) })
    expect([long.statusCode, long.json<{ code: string }>().code]).toEqual([400, 'INPUT_INVALID'])
  })

  test('POST /v1/transfers counts received and refused messages', async () => {
    const { metrics } = setting
    const labels = { via: 'api', bridge: 'wormhole-token-bridge' }
    const received = () => metricValue(metrics, 'portage_intake_messages_total', labels)
    const refused = () => metricValue(metrics, 'portage_intake_refused_total', { ...labels, code: 'VAA_TRUNCATED' })
    const before = [await received(), await refused()] as const
    await post({ vaa: base64.slice(0, 40) })
    expect(await received()).toBe(before[0] + 1)
    expect(await refused()).toBe(before[1] + 1)
  })
})

describe("GET /relayvaa, spy_relayer's route", () => {
  test('GET /relayvaa accepts raw base64 with slashes, and escaped base64', async () => {
    const slashes = Buffer.concat([vaa.slice(0, 6), Buffer.alloc(9, 0xff)]).toString('base64')
    expect(slashes).toContain('//')
    for (const path of [slashes, encodeURIComponent(slashes)]) {
      const response = await setting.api.inject({ method: 'GET', url: `/relayvaa/${path}` })
      expect([response.statusCode, response.json()]).toEqual([
        400,
        { message: 'Request failed', code: 'VAA_TRUNCATED', error: expect.any(String) },
      ])
    }
  })

  test('GET /relayvaa answers a retriable error with 503', async () => {
    const response = await setting.api.inject({ method: 'GET', url: `/relayvaa/${base64}` })
    expect([response.statusCode, response.json()]).toEqual([
      503,
      { message: 'Request failed', code: 'NODE_UNAVAILABLE', error: expect.any(String) },
    ])
    expect(response.headers['retry-after']).toBeDefined()
  })

  test('GET /relayvaa refuses an empty path', async () => {
    const response = await setting.api.inject({ method: 'GET', url: '/relayvaa/' })
    expect([response.statusCode, response.json<{ code: string }>().code]).toEqual([400, 'MESSAGE_ENCODING'])
  })
})

describe('the rest', () => {
  const get = (url: string) => setting.api.inject({ method: 'GET', url })

  test('GET /v1/openapi.json describes the routes', async () => {
    const document = (await get('/v1/openapi.json')).json<{ openapi: string; paths: Record<string, { post?: { responses: object } }> }>()
    expect(document.openapi).toBe('3.1.0')
    expect(Object.keys(document.paths['/v1/transfers']?.post?.responses ?? {})).toEqual([
      '200',
      '202',
      '400',
      '401',
      '403',
      '404',
      '409',
      '422',
      '429',
      '431',
      '503',
    ])
  })

  test('GET /health reports a live process, GET /ready an unreachable Temporal', async () => {
    expect((await get('/health')).json()).toEqual({ status: 'ok' })
    const ready = await get('/ready')
    expect([ready.statusCode, ready.json()]).toEqual([
      503,
      { ready: false, checks: [{ name: 'temporal', ok: false, vital: true, problem: expect.stringContaining('cannot be reached') }] },
    ])
    // `/ready` needs no token, so its answer must not show addresses.
    expect(ready.body).not.toMatch(/127\.0\.0\.1/)
  })

  test('all requests for GET /ready in a second share one call to Temporal', async () => {
    const other = await openApi(deadConfig(await freePort()))
    try {
      const asked = vi.spyOn(other.client.workflowService, 'describeNamespace')
      const ask = () => other.bare.inject('/ready')
      const begun = performance.now()
      await Promise.all(Array.from({ length: 50 }, ask))
      await ask()
      // The API calls Temporal at most once per second, but on a busy machine the 51 requests take longer than a
      // second.
      const first = asked.mock.calls.length
      expect(first).toBeLessThanOrEqual(1 + (performance.now() - begun) / 1_000)
      await expect.poll(async () => (await ask(), asked.mock.calls.length)).toBeGreaterThan(first)
    } finally {
      await other.close()
    }
  })

  test('GET /metrics counts requests by route pattern', async () => {
    await get('/health')
    const counted = /^portage_api_requests_total\{route="GET \/health",status="200"\} [1-9]/m
    await expect.poll(async () => (await get('/metrics')).body).toMatch(counted)
    const { headers, body } = await get('/metrics')
    expect(headers['content-type']).toBe('text/plain; version=0.0.4; charset=utf-8')
    expect(body).not.toContain(base64.slice(0, 30))
  })

  test('GET /docs shows every route without a token, a script or a resource of another origin', async () => {
    const { headers, statusCode, body } = await setting.bare.inject('/docs')
    expect([statusCode, headers['content-type']]).toEqual([200, 'text/html; charset=utf-8'])
    expect(headers['content-security-policy']).toMatch(/^default-src 'none'; style-src 'self';/)
    const { paths } = (await get('/v1/openapi.json')).json<{ paths: Record<string, Record<string, object>> }>()
    for (const [path, methods] of Object.entries(paths)) {
      for (const method of Object.keys(methods)) expect(body).toContain(`${method.toUpperCase()}</span> <code>${path}</code>`)
    }
    expect(body).not.toMatch(/<script|style=|\son[a-z]+=|https?:\/\//i)
    const [, stylesheet] = /<link rel="stylesheet" href="([^"]+)">/.exec(body) ?? []
    expect((await setting.bare.inject(stylesheet!)).headers['content-type']).toBe('text/css; charset=utf-8')
  })

  test('an unknown route is 404', async () => {
    const response = await get('/v2/transfers')
    expect([response.statusCode, response.json<{ code: string }>().code]).toEqual([404, 'INPUT_INVALID'])
  })

  test.each(['/v1/transfers?state=lost', '/v1/transfers?limit=0', "/v1/transfers?chain=x'%20OR%201=1", '/v1/transfers?what=1'])(
    'GET %s is refused',
    async (url) => {
      const response = await get(url)
      expect([response.statusCode, response.json<{ code: string }>().code]).toEqual([400, 'INPUT_INVALID'])
    },
  )
})

test('a guardian API that asks for a pause gets no request from a submission until the pause ends', async () => {
  const asked: string[] = []
  const url = await listenHttp(({ url: path = '' }, response) => {
    asked.push(path)
    response.writeHead(429, { 'retry-after': '3600' }).end()
  })
  const config = deadConfig(await freePort())
  const bridges = { ...config.bridges, 'wormhole-token-bridge': wormholeTokenBridgeSchema.parse({ guardianApis: [url] }) }
  const busy = await openApi({ ...config, bridges })
  cleanUp(busy.close)
  const submit = () => busy.api.inject({ method: 'POST', url: '/v1/transfers', payload: { chain: 2, emitter, sequence: '7' } })
  for (const { statusCode } of [await submit(), await submit()]) expect(statusCode).toBe(503)
  expect(asked).toEqual([`/v1/signed_vaa/2/${emitter}/7`])
})

test('each token has its own rate limit, which no other token or address uses up', async () => {
  const config = deadConfig(await freePort())
  const limited = await openApi({ ...config, api: { ...config.api, requestsPerMinute: 2 } })
  try {
    const get = (url: string, api = limited.api) => api.inject({ method: 'GET', url })
    expect([(await get('/v1')).statusCode, (await get('/v1')).statusCode]).toEqual([200, 200])
    const refused = await get('/v1')
    expect([refused.statusCode, refused.json<{ code: string }>().code]).toEqual([429, 'RATE_LIMITED'])
    expect(Number(refused.headers['retry-after'])).toBeGreaterThan(0)
    const second = bearer(await limited.token({ name: 'second' }))
    const asked = async (headers: Record<string, string>, url = '/v1') => (await limited.bare.inject({ url, headers })).statusCode
    const stranger = { authorization: 'Bearer forged' }
    expect([await asked(stranger), await asked({}), await asked(stranger), await asked({}, '/metrics')]).toEqual([401, 401, 429, 429])
    expect([await asked(second), await asked(second), await asked(second)]).toEqual([200, 200, 429])
    expect((await get('/health')).statusCode).toBe(200)
  } finally {
    await limited.close()
  }
})

test('GET /metrics renders once for many requests', async () => {
  const other = await openApi(deadConfig(await freePort()))
  try {
    const render = vi.spyOn(other.metrics, 'render')
    const texts = await Promise.all(Array.from({ length: 50 }, () => other.bare.inject('/metrics')))
    expect(new Set(texts.map(({ body }) => body)).size).toBe(1)
    expect(render).toHaveBeenCalledTimes(1)
  } finally {
    await other.close()
  }
})

test('HEAD /v1/events is refused, since it would occupy the place of a listener forever', async () => {
  const answer = await setting.api.inject({ method: 'HEAD', url: '/v1/events' })
  expect(answer.statusCode).toBe(404)
})
