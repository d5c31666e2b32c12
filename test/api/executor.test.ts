import { afterAll, beforeAll, expect, test } from 'vitest'
import { createProvider, type ProviderOptions } from '../../bridges/executor/provider.ts'
import { decodeQuote } from '../../bridges/executor/quote.ts'
import type { RequestsOf } from '../../bridges/executor/status.ts'
import { RelayerError } from '../../domain/catalogue/errors.ts'
import { freePort } from '../../lab/devnet/ports.ts'
import { devnetAccount } from '../../lab/devnet/chain/accounts.ts'
import { recordingLogger } from '../helpers/recording-logger.ts'
import { deadConfig, openApi, type OpenApi } from './setting.ts'

const address = (digits: string) => `0x${digits.repeat(20)}`
const caps = { maxGasLimit: 1_000_000n, maxMsgValue: 10n, maxGasDropOff: 10n }
const chainOf = (name: string, payee: string) => ({ name, payee, baseFee: 5n, caps, prefixes: ['ERV1' as const] })
const gas = (limit: bigint) => `0x01${limit.toString(16).padStart(32, '0')}${'0'.repeat(32)}`

const asked = { signatures: 0, gasPrices: 0 }
const pricesAsked = new Set<string>()
let failing: RelayerError | undefined
const options: ProviderOptions = {
  ...{ quoter: devnetAccount(20).address, expirySeconds: 600, marginPercent: 10, now: () => 1_000_000 },
  chains: new Map([2, 4, 5, 6].map((id) => [id, chainOf(`chain-${id}`, address('ab'))])),
  sign: async () => {
    asked.signatures += 1
    return new Uint8Array(65)
  },
  priceOf: async (chain, end) => {
    pricesAsked.add(`${chain} as ${end}`)
    return (chain === 'chain-2' ? 3n : 10n) * 10n ** 10n
  },
  assertOpen: () => {},
  dataFeeOf: async (chain) => (chain === 'chain-5' ? 600_000_000n : 0n),
  gasPriceOf: async () => {
    asked.gasPrices += 1
    if (failing) throw failing
    return 7n
  },
}

/** Transaction hashes that were looked up. A test replaces `reading` to delay the lookups. */
const readHashes: string[] = []
let reading: Promise<void> = Promise.resolve()
const requestsOf: RequestsOf = async (txHash) => {
  readHashes.push(txHash)
  await reading
  return []
}

const logs = recordingLogger()
let setting: OpenApi
beforeAll(async () => {
  const config = deadConfig(await freePort())
  setting = await openApi(config, logs.logger, { executor: createProvider(options), requestsOf })
})
afterAll(() => setting.close())

const quote = (payload: object | string, headers: Record<string, string> = {}) =>
  setting.bare.inject({
    method: 'POST',
    url: '/v0/quote',
    headers: { 'content-type': 'application/json', ...headers },
    payload: typeof payload === 'string' ? payload : JSON.stringify(payload),
  })
const pair = { srcChain: 2, dstChain: 4 }

test('a quote needs no token, and has a price only with relay instructions', async () => {
  const bare = await quote(pair)
  expect([bare.statusCode, Object.keys(bare.json<object>())]).toEqual([200, ['signedQuote']])
  const { signedQuote } = bare.json<{ signedQuote: string }>()
  expect(decodeQuote(Buffer.from(signedQuote.slice(2), 'hex'))).toEqual({
    ...{ quoter: options.quoter, payee: `${'0'.repeat(24)}${'ab'.repeat(20)}`, sourceChain: 2, targetChain: 4 },
    ...{ expiry: 1_600n, baseFee: 5n, gasPrice: 7n, sourcePrice: 3n * 10n ** 10n, targetPrice: 11n * 10n ** 10n },
  })
  expect([...pricesAsked]).toEqual(['chain-2 as source', 'chain-4 as target'])
  // Base fee: 5 × 10^8 wei. Gas: 100,000 × 7 wei × 11/3 (the ratio of the coins' prices), rounded up.
  const withGas = await quote({ ...pair, relayInstructions: gas(100_000n), more: 'ignored' })
  expect(withGas.json()).toEqual({ signedQuote, estimatedCost: '502566667' })
})

test('if the target charges for data, the price includes the data fee of a usual delivery', async () => {
  const { signedQuote, estimatedCost } = (await quote({ srcChain: 2, dstChain: 5, relayInstructions: gas(100_000n) })).json<
    Record<string, string>
  >()
  // 600,000,000 wei × 11/3 (the ratio of the coins' prices) are 22 units of 10^8 wei.
  expect(decodeQuote(Buffer.from(signedQuote!.slice(2), 'hex'))?.baseFee).toBe(5n + 22n)
  expect(estimatedCost).toBe('2702566667')
})

test('many quotes cost one signature and one read of the gas price', async () => {
  Object.assign(asked, { signatures: 0, gasPrices: 0 })
  const answers = await Promise.all(
    Array.from({ length: 50 }, (_, index) => quote({ srcChain: 4, dstChain: 2, relayInstructions: gas(100_000n + BigInt(index)) })),
  )
  expect(new Set(answers.map((one) => one.json<{ signedQuote: string }>().signedQuote)).size).toBe(1)
  expect(asked).toEqual({ signatures: 1, gasPrices: 1 })
})

test.each<[string, object | string, string]>([
  ['no chains', {}, 'srcChain'],
  ['a chain as text', { ...pair, srcChain: '2' }, 'srcChain'],
  ['a source that is not served', { ...pair, srcChain: 7 }, 'Unsupported source chain: 7, supported chains: 2,4,5,6'],
  ['a target that is not served', { ...pair, dstChain: 7 }, 'Unsupported destination chain: 7'],
  ['the source as the target', { ...pair, dstChain: 2 }, 'the same chain'],
  ['instructions that are no hex', { ...pair, relayInstructions: '0xzz' }, 'relayInstructions'],
  ['half a byte', { ...pair, relayInstructions: '0x010' }, 'relayInstructions'],
  ['half an instruction', { ...pair, relayInstructions: '0x0102' }, 'cannot be read'],
  ['no gas', { ...pair, relayInstructions: '0x' }, 'no gas limit'],
  ['gas above the cap', { ...pair, relayInstructions: gas(1_000_001n) }, 'the gas limit 1000001 is above 1000000'],
  ['instructions of 3 KB', { ...pair, relayInstructions: gas(1n).repeat(100) }, 'relayInstructions'],
  ['a body of 9 KB', { ...pair, more: 'x'.repeat(9_000) }, 'too large'],
  ['no JSON', '{', 'JSON'],
])("%s is refused in the form of a provider's API", async (_, body, part) => {
  const answer = await quote(body)
  expect([answer.statusCode, answer.headers['content-type']]).toEqual([400, 'application/json; charset=utf-8'])
  expect(answer.json()).toEqual({ message: expect.stringContaining(part), statusCode: 400 })
  expect(answer.headers['access-control-allow-origin']).toBe('*')
})

const statusOf = (txHash: string, chainId?: number) =>
  setting.bare.inject({ method: 'POST', url: '/v0/status/tx', payload: { txHash, chainId } })
const hashOf = (index: number) => `0x${index.toString(16).padStart(64, 'a')}`

test('many posts of one hash cost one read, even if the hash is unknown', async () => {
  readHashes.length = 0
  const spelled = (index: number) => (index % 2 ? hashOf(1) : hashOf(1).toUpperCase().replace('X', 'x'))
  const answers = await Promise.all(Array.from({ length: 100 }, (_, index) => statusOf(spelled(index))))
  answers.push(await statusOf(hashOf(1)))
  expect(new Set(answers.map(({ statusCode, body }) => `${statusCode} ${body}`))).toEqual(new Set(['200 []']))
  expect(readHashes).toEqual([hashOf(1)])
})

test('hashes are read four at a time, and a request is refused if the queue is long', async () => {
  readHashes.length = 0
  let end = () => {}
  reading = new Promise((resolve) => (end = resolve))
  const posts = Array.from({ length: 40 }, (_, index) => statusOf(hashOf(100 + index)))
  try {
    await expect.poll(() => readHashes.length).toBe(4)
    const refused = await Promise.race(posts)
    expect([refused.statusCode, refused.json()]).toEqual([503, { message: expect.any(String), statusCode: 503 }])
  } finally {
    end()
  }
  const codes = (await Promise.all(posts)).map(({ statusCode }) => statusCode)
  expect([codes.filter((one) => one === 200).length, readHashes.length]).toEqual([36, 36])
})

test.each(['', 'x', '0x12', `0x${'1'.repeat(63)}`, `0x${'g'.repeat(64)}`, '1'.repeat(64), `0x${'1'.repeat(64)} rate limit exceeded`])(
  'the invalid hash %j is not sent to a node, and the answer names the field',
  async (txHash) => {
    readHashes.length = 0
    const answer = await statusOf(txHash)
    expect(answer.json()).toEqual({ message: expect.stringContaining('txHash'), statusCode: 400 })
    expect([answer.statusCode, readHashes]).toEqual([400, []])
  },
)

test('a fault is answered with a 503 without details, and is logged', async () => {
  failing = new RelayerError('NODE_UNAVAILABLE', { facts: { node: 'secret.example' } })
  const answer = await quote({ srcChain: 5, dstChain: 6 })
  failing = new RelayerError('SIGNER_UNAVAILABLE', { facts: { file: '/secret' } })
  const lasting = await quote({ srcChain: 6, dstChain: 5 })
  failing = undefined
  for (const one of [answer, lasting]) {
    expect([one.statusCode, one.json<{ statusCode: number }>().statusCode]).toEqual([503, 503])
    expect(one.body).not.toContain('secret')
  }
  expect(answer.headers['retry-after']).toBeDefined()
  expect(logs.lines.filter(({ message }) => message === 'request failed')).toMatchObject([
    { code: 'NODE_UNAVAILABLE', route: '/v0/quote' },
    { code: 'SIGNER_UNAVAILABLE', route: '/v0/quote' },
  ])
})

test('web pages of every origin may call, also with the content type that the SDK sends with GET', async () => {
  const asking = {
    origin: 'https://app.example',
    'access-control-request-method': 'POST',
    'access-control-request-headers': 'content-type',
  }
  for (const url of ['/v0/quote', '/v0/capabilities']) {
    const { statusCode, headers } = await setting.bare.inject({ method: 'OPTIONS', url, headers: asking })
    expect([statusCode, headers['access-control-allow-origin'], headers['access-control-allow-headers']]).toEqual([
      204,
      '*',
      'content-type',
    ])
  }
  const answer = await setting.bare.inject({
    url: '/v0/capabilities',
    headers: { 'content-type': 'application/json', origin: 'https://app.example' },
  })
  expect([answer.statusCode, answer.headers['access-control-allow-origin'], answer.headers['access-control-allow-credentials']]).toEqual([
    200,
    '*',
    undefined,
  ])
  expect(Object.keys(answer.json<object>())).toEqual(['2', '4', '5', '6'])
  expect((await setting.api.inject('/v1')).headers['access-control-allow-origin']).toBeUndefined()
})

test('the OpenAPI document has the routes that exist, without a token', async () => {
  const { paths } = (await setting.api.inject('/v1/openapi.json')).json<{
    paths: Record<string, Record<string, { operationId: string; security?: object }>>
  }>()
  const executor = Object.entries(paths).flatMap(([path, methods]) =>
    path.startsWith('/v0') ? Object.entries(methods).map(([method, one]) => [method, path, one.operationId, one.security]) : [],
  )
  expect(executor).toEqual([
    ['get', '/v0/capabilities', 'getCapabilities', undefined],
    ['post', '/v0/quote', 'postQuote', undefined],
    ['post', '/v0/status/tx', 'statusTx', undefined],
  ])
})

test('requests without a token share the limit of their address, and are refused above it', async () => {
  const config = deadConfig(await freePort())
  const limited = await openApi({ ...config, api: { ...config.api, requestsPerMinute: 2 } }, undefined, {
    executor: createProvider(options),
  })
  try {
    const ask = () => limited.bare.inject('/v0/capabilities')
    expect([(await ask()).statusCode, (await ask()).statusCode]).toEqual([200, 200])
    const refused = await ask()
    expect([refused.statusCode, refused.json()]).toEqual([429, { message: expect.any(String), statusCode: 429 }])
    expect([refused.headers['access-control-allow-origin'], Number(refused.headers['retry-after']) > 0]).toEqual(['*', true])
  } finally {
    await limited.close()
  }
})

test('a process without the key of a quoter has no such routes', async () => {
  const other = await openApi(deadConfig(await freePort()))
  try {
    for (const [method, url] of [
      ['GET', '/v0/capabilities'],
      ['POST', '/v0/quote'],
      ['POST', '/v0/status/tx'],
      ['OPTIONS', '/v0/quote'],
    ] as const)
      expect((await other.bare.inject({ method, url })).statusCode).toBe(404)
  } finally {
    await other.close()
  }
})
