import { expect, test } from 'vitest'
import { noSettings } from '../../../domain/settings/settings.ts'
import { explainChains } from '../../../operations/causes/explain-chains.ts'
import { probeChains } from '../../../operations/causes/probe-chain.ts'
import { startBlockNode } from '../../helpers/block-node.ts'
import { startHostileServer } from '../../helpers/hostile-server.ts'
import { startSecretNode } from '../../helpers/secret-node.ts'
import { config, read } from './facts.ts'

test('an added node is not asked while a variable of its URL is not set', async () => {
  const asked: string[] = []
  const url = await startHostileServer((body, response) => {
    asked.push(body)
    response.end()
  })
  const bsc = {
    ...config.chains['bsc'],
    nodes: [],
    urlVariables: ['NODE_KEY'],
    finality: { kind: 'distance', blocks: 1 },
    blockTimeMs: 500,
  }
  const change = { chain: 'bsc', name: 'spare', url: `${url}/\${NODE_KEY}`, disabled: false }
  const settings = Promise.resolve(read({ ...noSettings, nodes: [change] }))
  const [facts] = await probeChains({ config: { chains: { bsc } } as never, environment: {} }, settings)
  expect(facts?.nodes).toMatchObject([{ node: 'spare', added: true, head: { error: { code: 'CONFIG_INVALID' } } }])
  expect(asked).toEqual([])
})

test.each<[string, unknown]>([
  ['no list', 7],
  ['a list of nothing', [null]],
  ['a URL that is no text', [{ chain: 'bsc', name: 'spare', url: { match: 1 } }]],
])('forged settings whose nodes are %s leave the nodes of the config, and fail no report', async (_, forged) => {
  const url = await startBlockNode({ height: 100, timestamp: Math.floor(Date.now() / 1_000) })
  const nodes = [{ url, use: 'all' }]
  const bsc = { ...config.chains['bsc'], nodes, finality: { kind: 'tag' }, urlVariables: [], feeHistory: {}, blockTimeMs: 1_000 }
  const settings = Promise.resolve(read({ ...noSettings, nodes: forged as never }))
  const [facts] = await probeChains({ config: { chains: { bsc } } as never, environment: {} }, settings)
  expect(facts?.nodes).toMatchObject([{ node: 'node-1', head: { value: { finalized: 100 } } }])
})

test.each([
  ['the first second', 0],
  ['the year 2318', 11_000_000_000],
  ['the year 285428751', 2 ** 53 - 1],
])('one of three nodes cannot hide or fake a stalled chain with a higher block of %s', async (_, timestamp) => {
  const now = Date.now()
  const honest = { height: 100, timestamp: Math.floor(now / 1_000) }
  const liar = { height: 103, timestamp }
  const stuckAs = async (...heads: readonly (typeof honest)[]) => {
    const urls = await Promise.all(heads.map(startBlockNode))
    const nodes = urls.map((url) => ({ url, use: 'all' }))
    const bsc = { ...config.chains['bsc'], nodes, finality: { kind: 'tag' }, urlVariables: [], feeHistory: {}, blockTimeMs: 1_000 }
    const chains = await probeChains({ config: { chains: { bsc } } as never, environment: {} }, Promise.resolve(read(noSettings)))
    return explainChains({ at: Date.now(), chains }).map(({ row }) => row)
  }
  expect(await stuckAs(liar, honest, honest)).not.toContain('CHAIN_STALLED')
  const stalled = { height: 100, timestamp: honest.timestamp - 600 }
  expect(await stuckAs(liar, stalled, stalled)).toContain('CHAIN_STALLED')
})

test('one of three nodes cannot empty an account with an honest head', async () => {
  const honest = { height: 100, timestamp: Math.floor(Date.now() / 1_000), balance: '0x5' }
  const urls = await Promise.all([{ ...honest, balance: '0x0' }, honest, honest].map(startBlockNode))
  const nodes = urls.map((url) => ({ url, use: 'all' }))
  const bsc = { ...config.chains['bsc'], nodes, finality: { kind: 'tag' }, urlVariables: [], feeHistory: {}, blockTimeMs: 1_000 }
  const [facts] = await probeChains({ config: { chains: { bsc } } as never, environment: {} }, Promise.resolve(read(noSettings)))
  expect([...(facts?.balances.values() ?? [])]).toEqual(['5'])
})

test('the probe sends the authorization header of the node, and keeps the header out of the facts', async () => {
  const behind = await startBlockNode({ height: 100, timestamp: Math.floor(Date.now() / 1_000) })
  const { url, authorization } = await startSecretNode(behind, 'probe')
  const nodes = [{ url, authorization, use: 'all' }]
  const bsc = { ...config.chains['bsc'], nodes, finality: { kind: 'tag' }, urlVariables: [], feeHistory: {}, blockTimeMs: 1_000 }
  const [facts] = await probeChains({ config: { chains: { bsc } } as never, environment: {} }, Promise.resolve(read(noSettings)))
  expect(facts?.nodes).toMatchObject([{ node: 'node-1', head: { value: { finalized: 100 } } }])
  expect(JSON.stringify(facts)).not.toContain('secret-')
})
