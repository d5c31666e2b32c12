import { expect, test } from 'vitest'
import { adviceOf, ended as successors, knownChains, type Network, networks } from '../../cli/init/networks.ts'
import { wormholeTable } from '../../cli/init/wormhole-table.ts'
import { describeWormholeTable } from '../../scripts/docs/wormhole-table.ts'

const successorOf = ({ networkId }: { readonly networkId: number }) => successors.get(networkId)?.successor
const find = (network: Network, name: string) => knownChains(network).find((chain) => chain.name === name)

test('the table equals the installed Wormhole SDK (else: npm run docs)', () => {
  const generated = describeWormholeTable()
  for (const network of networks) expect(generated).toContain(wormholeTable[network])
  expect(knownChains('mainnet').length).toBeGreaterThan(15)
})

test.each(networks)('%s: each name, id and network id belongs to one chain, and every chain is complete', (network) => {
  const chains = knownChains(network)
  for (const field of ['name', 'wormholeChainId', 'networkId'] as const)
    expect(new Set(chains.map((chain) => chain[field])).size).toBe(chains.length)
  for (const { name, wormholeChainId, networkId, core, tokenBridge } of chains) {
    expect(name).toMatch(/^[a-z][a-z0-9-]{0,30}$/)
    for (const id of [wormholeChainId, networkId]) expect(Number.isInteger(id) && id > 0).toBe(true)
    for (const contract of [core, tokenBridge]) expect(contract).toMatch(/^0x[0-9a-fA-F]{40}$/)
  }
})

test('a row of the table gives a chain only the times that the SDK has', () => {
  expect(find('mainnet', 'bsc')).toEqual({
    name: 'bsc',
    wormholeChainId: 4,
    networkId: 56,
    core: '0x98f3c9e6E3fAce36bAAd05FE09d375Ef1464288B',
    tokenBridge: '0xB6F6D86a8f9879A9c87f643768d9efc38c1Da6E7',
    finalityBlocks: 15,
    blockTimeMs: 750,
  })
  expect(Object.keys(find('testnet', 'linea')!)).not.toContain('blockTimeMs')
})

test('each test network that was shut down names its successor, which exists', () => {
  const named = (networkId: number) => knownChains('testnet').find((chain) => chain.networkId === networkId)?.name
  const ended = knownChains('testnet').filter((chain) => successors.has(chain.networkId))
  expect(ended.map(({ name }) => name)).toEqual(['ethereum', 'polygon', 'celo', 'arbitrum', 'optimism', 'base', 'holesky'])
  expect(ended.map(successorOf)).toEqual([11155111, 80002, 0, 421614, 11155420, 84532, 11155111].map(named))
  expect(knownChains('mainnet').filter((chain) => successors.has(chain.networkId))).toEqual([])
})

test.each([
  ['mainnet', 'klaytn', { finality: { kind: 'instant' } }],
  ['testnet', 'klaytn', { finality: { kind: 'instant' } }],
  ...(['mainnet', 'testnet'] as const).flatMap((network) =>
    ['unichain', 'worldchain', 'ink'].map((name) => [network, name, { finality: { kind: 'tag' }, feeModel: 'op-stack' }] as const),
  ),
] as const)('%s: %s gets the finality and the fee model that its documentation says', (network, name, advice) => {
  expect(adviceOf(find(network, name)!)).toMatchObject(advice)
})
