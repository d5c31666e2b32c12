import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { balanceText, coinOf, coinOfLane, coinText, gweiText, parseAmount } from '../../domain/amounts.ts'

describe('an amount as people type it', () => {
  test.each([
    ['5gwei', { wei: '5000000000' }],
    ['5 gwei', { wei: '5000000000' }],
    ['1.5GWEI', { wei: '1500000000' }],
    ['0.05 ETH', { wei: '50000000000000000', coin: 'ETH' }],
    ['0.05eth', { wei: '50000000000000000', coin: 'ETH' }],
    ['2bnb', { wei: '2000000000000000000', coin: 'BNB' }],
    ['0.05 ether', { wei: '50000000000000000' }],
    ['1000000 wei', { wei: '1000000' }],
    ['1000000', { wei: '1000000' }],
    ['1.000 wei', { wei: '1' }],
    ['0', { wei: '0' }],
  ])('%s', (text, amount) => {
    expect(parseAmount(text)).toEqual(amount)
  })

  test.each([
    '',
    '5 bitcoin',
    '-1',
    '1e18',
    '0x10',
    '1.5',
    '1.5wei',
    '0.0000000001gwei',
    '1,5 ETH',
    '5 gwei each',
    '.5 ETH',
    '9'.repeat(78),
    '5 toString',
  ])('%j is none', (text) => {
    expect(parseAmount(text)).toBeUndefined()
  })
})

test('what is shown exactly can be typed in again, to the last wei', () => {
  const isKept = fc.property(fc.bigInt({ min: 0n, max: 10n ** 30n }), (amount) => {
    const wei = String(amount)
    expect(parseAmount(gweiText(wei))).toEqual({ wei })
    expect(parseAmount(coinText(wei, 'AVAX'))).toEqual({ wei, coin: 'AVAX' })
    expect(parseAmount(coinText(wei, 'ether'))).toEqual({ wei })
  })
  fc.assert(isKept)
})

test('fees are gwei, exact; balances are coins, never more than there is', () => {
  expect(['1', '1500000001', '90000000000', '0'].map(gweiText)).toEqual(['0.000000001 gwei', '1.500000001 gwei', '90 gwei', '0 gwei'])
  const balances = ['9998765432109876543', '999999999999', '1000000000000', '20000000000000000000', '0']
  expect(balances.map((wei) => balanceText(wei, 'ETH'))).toEqual(['9.998765 ETH', '999999999999 wei', '0.000001 ETH', '20 ETH', '0 ETH'])
})

test('the coin is that of the network', () => {
  expect([coinOf(56), coinOf('43114'), coinOf(1), coinOf(1337), coinOf('constructor')]).toEqual(['BNB', 'AVAX', 'ETH', 'ETH', 'ETH'])
  expect(coinOfLane(`evm-137:0x${'a'.repeat(40)}`)).toBe('POL')
})
