import { expect, test } from 'vitest'
import { executorOf } from '../../config/executor.ts'
import { crossCheck } from '../../config/load/cross-checks.ts'
import { executorSchema } from '../../config/schema/executor-schema.ts'
import { highestU64 } from '../helpers/executor.ts'

const address = (digits: string) => `0x${digits.repeat(20)}`
const quoter = { address: address('aB'), signer: { kind: 'environment', variable: 'QUOTER' } }
const own = { contract: address('Cc'), payee: address('dd'), price: '3000' }
const executor = { quoter, chains: { ethereum: own, bsc: { ...own, price: '600.5' } } }
const parsed = (fields: object) => executorSchema.safeParse({ ...executor, ...fields })
const ofChain = (fields: object) => parsed({ chains: { ...executor.chains, bsc: { ...own, ...fields } } })
const contracts = { core: address('cc'), tokenBridge: address('bb') }
const chain = { wormholeChainId: 2, contracts, lanes: [{ address: address('11') }] }
const chains = { ethereum: chain, bsc: { ...chain, wormholeChainId: 4, lanes: [{ address: address('22') }] } }

test('without further fields, deliveries carry no coins and expired quotes are not honoured', () => {
  expect(parsed({}).data).toMatchObject({ expirySeconds: 3_600, marginPercent: 10, honourExpired: false })
  expect(ofChain({}).data?.chains['bsc']).toEqual({
    ...{ contract: address('cc'), payee: address('dd'), price: '3000' },
    ...{ baseFee: '0', maxGasLimit: '1000000', maxMsgValue: '0', maxGasDropOff: '0', maxOpen: 200, receivers: {} },
  })
})

test('prices and base fees become the numbers of quotes, with 10 decimals', () => {
  const settings = executorOf({
    chains,
    bridges: { executor: ofChain({ price: '600.5', baseFee: '100000001', maxMsgValue: '7' }).data },
  })
  expect(settings).toMatchObject({ quoter: address('ab'), signer: quoter.signer, marginPercent: 10 })
  expect([...settings!.chains]).toMatchObject([
    [2, { name: 'ethereum', price: 30_000_000_000_000n, baseFee: 0n }],
    [4, { name: 'bsc', price: 6_005_000_000_000n, baseFee: 2n, caps: { maxGasLimit: 1_000_000n, maxMsgValue: 7n, maxGasDropOff: 0n } }],
  ])
})

test('the highest price with the highest margin, and the highest base fee, fit into a quote', () => {
  const highest = '99999999.9999999999'
  const baseFee = String((highestU64 + 1n) * 10n ** 8n - 10n ** 8n)
  const { data } = ofChain({ price: highest, baseFee })
  const settings = executorOf({ chains, bridges: { executor: data } })?.chains.get(4)
  expect((settings!.price * 1_100n) / 100n).toBeLessThanOrEqual(highestU64)
  expect(settings!.baseFee).toBe(highestU64)
  expect(ofChain({ baseFee: String(BigInt(baseFee) + 1n) }).success).toBe(false)
})

test.each([
  ['no price', { price: undefined }, 'price'],
  ['a price of nothing', { price: '0.0' }, 'price'],
  ['a price as a number', { price: 3_000 }, 'price'],
  ['a price with 11 decimals', { price: '1.00000000001' }, 'price'],
  ['a price of 9 digits', { price: '100000000' }, 'price'],
  ['a negative base fee', { baseFee: '-1' }, 'baseFee'],
  ['a highest gas limit that no request may have', { maxGasLimit: '99999' }, 'maxGasLimit'],
  ['coins above 128 bits', { maxMsgValue: String(2n ** 128n) }, 'maxMsgValue'],
  ['a payee that is no address', { payee: 'me' }, 'payee'],
  ['an unknown field', { margin: 1 }, undefined],
])('a chain with %s is refused, and the field is named', (_, fields, field) => {
  const [issue] = ofChain(fields).error?.issues ?? []
  expect(issue?.path).toEqual(['chains', 'bsc', ...(field ? [field] : [])])
})

test('if maxGasLimit is too low, the error names the lowest value, which is accepted', () => {
  expect(ofChain({ maxGasLimit: '99999' }).error?.issues[0]?.message).toMatch(/^must be at least 100000,/)
  expect(ofChain({ maxGasLimit: '100000' }).success).toBe(true)
})

test.each([
  ['expirySeconds', { expirySeconds: 59 }],
  ['marginPercent', { marginPercent: 1_001 }],
])('%s has limits', (field, fields) => {
  expect(parsed(fields).error?.issues[0]?.path).toEqual([field])
})

const problems = (changes: object, config: object = {}) =>
  crossCheck({ chains: { ...chains, ...config }, bridges: { executor: { ...executor, ...changes } } }).map(({ path }) => path)

test('a valid Executor has no problems', () => {
  expect(problems({})).toEqual([])
})

test('with a record contract, no other contract must pay drop-offs', () => {
  const paying = { ...own, maxMsgValue: '5', maxGasDropOff: '5', recordContract: address('ee') }
  expect(problems({ chains: { ...executor.chains, bsc: paying } })).toEqual([])
})

test.each<[string, object, object, string[]]>([
  ['one chain', { chains: { bsc: own } }, {}, ['bridges.executor.chains']],
  ['a chain that does not exist', { chains: { ...executor.chains, solana: own } }, {}, ['bridges.executor.chains.solana']],
  ['the key of a lane', { quoter: { address: address('22') } }, {}, ['bridges.executor.quoter.address']],
  ['a chain without a number of Wormhole', {}, { bsc: { contracts, lanes: chain.lanes } }, ['chains.bsc.wormholeChainId']],
  ['a chain without contracts', {}, { bsc: { ...chains.bsc, contracts: undefined } }, ['chains.bsc.contracts']],
  ['a chain in shadow mode', {}, { bsc: { ...chains.bsc, shadow: true } }, ['chains.bsc.shadow']],
  ['a chain without keys', {}, { bsc: { wormholeChainId: 4, contracts } }, ['chains.bsc.lanes']],
  [
    'more gas than the keys sign',
    { chains: { ...executor.chains, bsc: { ...own, maxGasLimit: '5000001' } } },
    { bsc: { ...chains.bsc, signing: { maxGasPerTransaction: 5_000_000 } } },
    ['bridges.executor.chains.bsc.maxGasLimit'],
  ],
  [
    'a drop-off above all coins',
    { chains: { ...executor.chains, bsc: { ...own, maxMsgValue: '5', maxGasDropOff: '6', dropOffContract: address('ee') } } },
    {},
    ['bridges.executor.chains.bsc.maxGasDropOff'],
  ],
  [
    'a drop-off that no contract pays',
    { chains: { ...executor.chains, bsc: { ...own, maxMsgValue: '5', maxGasDropOff: '5' } } },
    {},
    ['bridges.executor.chains.bsc.maxGasDropOff'],
  ],
  [
    'more coins than a key pays',
    { chains: { ...executor.chains, bsc: { ...own, maxMsgValue: '8' } } },
    { bsc: { ...chains.bsc, signing: { maxPaymentWei: '7' } } },
    ['bridges.executor.chains.bsc.maxMsgValue'],
  ],
  [
    'more coins than a key pays, in other units',
    { chains: { ...executor.chains, bsc: { ...own, maxMsgValue: '1 coins' } } },
    { bsc: { ...chains.bsc, signing: { maxPaymentWei: '7 gwei' } } },
    ['bridges.executor.chains.bsc.maxMsgValue'],
  ],
  ['junk', { chains: 7, quoter: [] }, {}, ['bridges.executor.chains']],
])('an Executor with %s is refused, and the field is named', (_, changes, config, paths) => {
  expect(problems(changes, config)).toEqual(paths)
})
