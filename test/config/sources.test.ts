import { expect, test } from 'vitest'
import { crossCheck } from '../../config/load/cross-checks.ts'
import { parseConfig } from '../../config/load/load.ts'

const base = `
temporal: {}
chains:
  ethereum:
    family: evm
    networkId: 1
    wormholeChainId: 2
    nodes: [{ url: http://127.0.0.1:8545 }]
    finality: { kind: tag }
    blockTimeMs: 12000
    contracts: { core: '0x98f3c9e6E3fAce36bAAd05FE09d375Ef1464288B', tokenBridge: '0x3ee18B2214AFF97000D974cf647E7C347E8fa585' }
    lanes: []
bridges:
  wormhole-token-bridge:
`
const settings = (...lines: string[]) =>
  parseConfig(`${base}${lines.map((line) => `    ${line}\n`).join('')}`, {}, 'portage.yaml').bridges['wormhole-token-bridge']
const emitter = 'Cc'.repeat(32)

test('a config may name sources without a node: all that are known, or one by its number', () => {
  const parsed = settings(
    'everySource: testnet',
    `emitters: { 34: '0x${emitter}' }`,
    "streams: { wormhole-34: { first: '17' } }",
    'freeRoutes: [{ source: wormhole-34, target: ethereum }]',
  )
  expect(parsed).toMatchObject({
    everySource: 'testnet',
    emitters: { 34: 'cc'.repeat(32) },
    streams: { 'wormhole-34': { first: '17' } },
    freeRoutes: [{ source: 'wormhole-34', target: 'ethereum' }],
  })
})

test.each([
  ['an unknown network', 'everySource: devnet'],
  ['a number that is none of Wormhole', `emitters: { 65536: '${emitter}' }`],
  ['a name in place of the number', `emitters: { solana: '${emitter}' }`],
  ['an address in place of an emitter', "emitters: { 34: '0x24850c6f61C438823F01B7A3BF2B89B72174Fa9d' }"],
  ['a chain of the config, whose contracts have its token bridge', `emitters: { 2: '${emitter}' }`],
])('sources without a node are refused: %s', (_, line) => {
  expect(() => settings(line)).toThrow(/bridges\.wormhole-token-bridge\.(everySource|emitters)/)
})

test.each([
  ['minimumFees.ethereum', 'minimumFees: { ethereum: {} }'],
  ['calls.ethereum', 'calls: { ethereum: {} }'],
  ['streams.ethereum', "streams: { ethereum: { first: '1' } }"],
  ['freeRoutes[0].target', 'freeRoutes: [{ source: wormhole-1, target: ethereum }]', `emitters: { 1: '${emitter}' }`],
])('a chain without a token bridge may not have %s', (path, ...lines) => {
  const text = base.replace(/, tokenBridge: '.*?'/, '')
  const parse = (...more: string[]) => parseConfig(`${text}${more.map((line) => `    ${line}\n`).join('')}`, {}, 'portage.yaml')
  expect(parse('spies: []').chains['ethereum']?.contracts?.tokenBridge).toBeUndefined()
  expect(() => parse(...lines)).toThrow(`bridges.wormhole-token-bridge.${path} is for ethereum, which has no token bridge`)
})

test('a chain that `everySource` includes must name its token bridge, so that no source is lost', () => {
  const chain = (networkId: number) => ({ networkId, wormholeChainId: networkId, contracts: { core: '' } })
  const problems = (wormhole: object) =>
    crossCheck({
      chains: { polygon: chain(5), avalanche: chain(6), unlisted: chain(60_000) },
      bridges: { 'wormhole-token-bridge': wormhole },
    })
  const missing = (name: string) => ({
    path: `chains.${name}.contracts.tokenBridge`,
    problem: 'is missing, and everySource includes the token bridge of this chain',
    remedy: 'Add its address.',
  })
  expect(problems({ everySource: 'mainnet' })).toEqual([missing('polygon'), missing('avalanche')])
  expect(problems({})).toEqual([])
})

test('problems of tables do not show names that may be secrets', () => {
  const raw = { chains: {}, bridges: { 'wormhole-token-bridge': { minimumFees: { 'a:secret': { 'x:secret': '1', 'X:secret': '1' } } } } }
  const problems = crossCheck(raw)
  expect(problems.map(({ problem }) => problem)).toEqual(expect.arrayContaining(['names the token (a name that is not shown) twice']))
  expect(JSON.stringify(problems)).not.toContain('secret')
})

test('a chain of the config may not be in `emitters` as well', () => {
  const raw = { chains: { ethereum: { wormholeChainId: 2, contracts: {} } }, bridges: { 'wormhole-token-bridge': { emitters: { 2: '' } } } }
  expect(crossCheck(raw)).toEqual([
    {
      path: 'bridges.wormhole-token-bridge.emitters.2',
      problem: 'is the chain ethereum of this config',
      remedy: 'Remove it, and name the token bridge in chains.ethereum.contracts.',
    },
  ])
})
