import { expect, test } from 'vitest'
import { noSettings } from '../../../domain/settings/settings.ts'
import { probeChains } from '../../../operations/causes/probe-chain.ts'
import { startHostileServer } from '../../helpers/hostile-server.ts'
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
