import { gunzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { chains, explorer, nativeChainIds } from '@wormhole-foundation/sdk-base/constants'
import { explorerOf, knownExplorers } from '../../config/networks.ts'
import { configSchema } from '../../config/schema/schema.ts'
import { freePort } from '../../lab/devnet/ports.ts'
import { deadConfig, openApi } from './setting.ts'

let setting: Awaited<ReturnType<typeof openApi>>
beforeAll(async () => {
  setting = await openApi(deadConfig(await freePort()))
})
afterAll(() => setting.close())

describe('the page at /', () => {
  const get = (url: string, headers = {}) => setting.bare.inject({ method: 'GET', url, headers })

  test('the page needs no token, and limits what a browser may do with it', async () => {
    const { statusCode, headers, body } = await get('/')
    expect(statusCode).toBe(200)
    expect(headers).toMatchObject({
      'content-type': 'text/html; charset=utf-8',
      'content-security-policy':
        "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; frame-ancestors 'none'; base-uri 'none'; form-action 'none'",
      'x-content-type-options': 'nosniff',
      'referrer-policy': 'no-referrer',
      'cache-control': 'no-cache',
    })
    expect(body).not.toMatch(/<style|style=|\son\w+=|<script(?![^>]*src=)/)
    expect([...body.matchAll(/(?:src|href)="([^"]*)"/g)].map(([, url = '']) => url).toSorted((a, b) => a.localeCompare(b))).toEqual([
      'page/icon.svg',
      'page/page.css',
      'page/page.js',
    ])
  })

  test.each([
    ['/page/page.js', 'text/javascript; charset=utf-8'],
    ['/page/page.css', 'text/css; charset=utf-8'],
    ['/page/icon.svg', 'image/svg+xml'],
  ])('%s is compressed for clients that accept it, and is not sent to a client that has it', async (url, type) => {
    const [plain, packed] = [await get(url), await get(url, { 'accept-encoding': 'br, gzip' })]
    expect([plain.headers['content-type'], packed.headers['content-encoding']]).toEqual([type, 'gzip'])
    expect(plain.headers['content-encoding']).toBeUndefined()
    expect(gunzipSync(packed.rawPayload).equals(plain.rawPayload)).toBe(true)
    const etag = String(plain.headers['etag'])
    const again = await get(url, { 'if-none-match': etag })
    expect([again.statusCode, again.body, again.headers['content-security-policy']]).toEqual([
      304,
      '',
      expect.stringContaining("default-src 'none'"),
    ])
  })

  test('the whole page takes less than 64 kB on the network', async () => {
    const sizes = await Promise.all(
      ['/', '/page/page.js', '/page/page.css', '/page/icon.svg'].map(
        async (url) => (await get(url, { 'accept-encoding': 'gzip' })).rawPayload.length,
      ),
    )
    expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThan(64_000)
  })

  test.each(['/page/', '/page/main.tsx', '/page/../package.json', '/page/%2e%2e/package.json', '/page/page.js/x', '/page/constructor'])(
    '%s is no file of the page',
    async (url) => expect((await get(url)).statusCode).toBe(404),
  )

  test('the page is not in the OpenAPI document, and its data needs a token', async () => {
    const { paths } = (await setting.api.inject('/v1/openapi.json')).json<{ paths: object }>()
    expect(Object.keys(paths).filter((path) => path === '/' || path.startsWith('/page'))).toEqual([])
    for (const url of ['/v1/links', '/v1/flow', '/v1/spending']) expect((await get(url)).statusCode).toBe(401)
  })
})

describe('GET /v1/links', () => {
  const config = async (more: object, chain: object) => {
    const { chains, ...rest } = deadConfig(await freePort())
    const { ethereum } = chains
    return configSchema.safeParse({ ...rest, chains: { ...chains, ethereum: { ...ethereum, ...chain } }, ...more })
  }

  test('GET /v1/links has the values of the config and of the tables of Wormhole', async () => {
    expect((await setting.api.inject('/v1/links')).json()).toEqual({
      namespace: 'default',
      chains: { ethereum: { networkId: 1337 }, bsc: { networkId: 1397 } },
    })
    expect(explorerOf({ networkId: 1 })).toBe('https://etherscan.io/')
    expect(explorerOf({ networkId: 1, explorer: 'https://eth.example/' })).toBe('https://eth.example/')
  })

  test('every known explorer is one of the SDK', () => {
    const ofSdk = (['Mainnet', 'Testnet'] as const).flatMap((network) =>
      chains.flatMap((chain) => {
        const id = nativeChainIds.networkChainToNativeChainId.get(network, chain)
        const { baseUrl } = explorer.explorerConfs.get(network, chain) ?? {}
        return typeof id === 'bigint' && baseUrl !== undefined ? [`${id} ${baseUrl}`] : []
      }),
    )
    expect(Object.keys(knownExplorers).length).toBeGreaterThan(15)
    expect(Object.entries(knownExplorers).filter(([id, url]) => !ofSdk.includes(`${id} ${url}`))).toEqual([])
  })

  test.each(['http://explorer.example/', 'javascript:alert(1)', 'https://user:secret@explorer.example/', 'explorer.example'])(
    'the config refuses to send people to %s',
    async (explorer) => {
      const { success, error } = await config({}, { explorer })
      expect([success, error?.issues.map(({ path }) => path.join('.'))]).toEqual([
        false,
        expect.arrayContaining(['chains.ethereum.explorer']),
      ])
    },
  )

  test.each(['https://explorer.example/eth', 'http://127.0.0.1:4000', 'http://localhost:4000/'])(
    'the config takes the explorer and the Web UI %s',
    async (explorer) => {
      expect((await config({ temporal: { webUi: explorer } }, { explorer })).success).toBe(true)
    },
  )
})

test('GET /v1/spending is empty in a process without keys', async () => {
  expect((await setting.api.inject('/v1/spending')).json()).toEqual({ asOf: expect.any(String), lanes: [] })
})

test('GET /v1/flow reports an unreachable Temporal, and refuses an unknown window', async () => {
  expect((await setting.api.inject('/v1/flow')).statusCode).toBe(503)
  expect((await setting.api.inject('/v1/flow?minutes=7')).statusCode).toBe(400)
})
