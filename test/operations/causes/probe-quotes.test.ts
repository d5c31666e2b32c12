import { rename, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { computeAddress, SigningKey } from 'ethers'
import { expect, test } from 'vitest'
import type { Config } from '../../../config/schema/schema.ts'
import { RelayerError } from '../../../domain/catalogue/errors.ts'
import { explain } from '../../../operations/causes/explain.ts'
import { probeQuotes } from '../../../operations/causes/probe-quotes.ts'
import { temporaryFolder } from '../../helpers/folders.ts'
import { at, config as explained, facts } from './facts.ts'

const path = join(temporaryFolder(), 'prices.json')

function configWith(signer: object | undefined, dollars: readonly string[]): Config {
  const chains = Object.fromEntries(dollars.map((name) => [name, { price: '3000' }]))
  const sources = [{ kind: 'file', path, maxAgeSeconds: 600 }]
  const priceFeed = { sources, everySeconds: 1, mostChangePercent: 50 }
  return { chains: {}, bridges: { executor: { quoter: { signer }, chains } }, priceFeed } as unknown as Config
}

const signer = { kind: 'environment', variable: 'KEY' }

test('portage stuck asks the sources of prices itself, and names the chains without a price', async () => {
  const config = configWith(signer, ['ethereum', 'bsc'])
  await writeFile(path, JSON.stringify({ at: Math.floor(Date.now() / 1_000), dollars: { ethereum: '3000' } }))
  const quotes = await probeQuotes({ config, environment: {} })
  expect(quotes?.missing).toEqual([{ name: 'bsc', why: expect.stringContaining('it has no price') as string }])
  await rename(path, `${path}.away`)
  expect((await probeQuotes({ config, environment: {} }))?.missing.map(({ name }) => name)).toEqual(['ethereum', 'bsc'])
})

test('a process that quotes reports the prices of its own feed', async () => {
  const config = configWith(signer, ['ethereum', 'bsc'])
  const priceOf = async (name: string) => {
    if (name === 'ethereum') throw new RelayerError('PRICE_MISSING', { detail: 'its price is 900 s old' })
    return 1n
  }
  const quotes = await probeQuotes({ config, environment: {}, priceOf })
  expect(quotes?.missing).toEqual([{ name: 'ethereum', why: 'its price is 900 s old' }])
})

test('a config without a quoter’s key gives no quotes, so none are missing', async () => {
  expect(await probeQuotes({ config: configWith(undefined, ['bsc']), environment: {} })).toBeUndefined()
})

test("the probe asks the quoter's signing service for its keys, and shows an outage", async () => {
  const key = new SigningKey(`0x${'17'.repeat(32)}`)
  let keys: readonly string[] | undefined = [key.publicKey]
  const server = createServer((_, answer) => void answer.writeHead(keys ? 200 : 503).end(JSON.stringify(keys)))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  const quoter = {
    address: computeAddress(key).toLowerCase(),
    signer: { kind: 'remote', url: `http://127.0.0.1:${port}`, timeoutMs: 1_000 },
  }
  const config = { chains: {}, bridges: { executor: { quoter, chains: { bsc: {} } } } } as unknown as Config
  const probe = async () => (await probeQuotes({ config, environment: {} }))?.offline
  try {
    expect(await probe()).toBeUndefined()
    // Another machine may have no access to the key.
    keys = []
    expect(await probe()).toBeUndefined()
    keys = undefined
    expect(await probe()).toContain('The remote signer answered with 503.')
  } finally {
    server.close()
  }
  expect(await probe()).toContain('The remote signer cannot be reached.')
})

test('a quoter whose signing service is away is a cause of its own', () => {
  const offline = 'The remote signer cannot be reached.'
  expect(explain(facts({ quotes: { asOf: at, missing: [], offline } }), explained)).toMatchObject([
    {
      code: 'SIGNER_OFFLINE',
      where: { kind: 'worker', id: 'executor' },
      what: 'The Executor provider gives no quotes, because its key cannot sign: The remote signer cannot be reached.',
      next: ['portage doctor'],
    },
  ])
})

test('missing prices are a cause of their own, with the chains for which there are no quotes', () => {
  const missing = [
    { name: 'ethereum', why: 'prices.json: not found' },
    { name: 'bsc', why: 'prices.json: not found' },
  ]
  expect(explain(facts({ quotes: { asOf: at, missing } }), explained)).toMatchObject([
    {
      code: 'PRICE_MISSING',
      where: { kind: 'worker', id: 'executor' },
      what: 'The Executor provider gives no quotes for requests from or to ethereum, bsc: prices.json: not found',
      next: ['portage transfer list --state waiting'],
    },
  ])
  expect(explain(facts({ quotes: { asOf: at, missing: [] } }), explained)).toEqual([])
})
