import fc from 'fast-check'
import { tokenText } from '../../domain/lane/tokens.ts'
import { describe, expect, test } from 'vitest'
import { amountText, exactAmountText, gasPriceText, gweiText, parseAmount } from '../../domain/text/amounts.ts'

describe('an amount as people type it', () => {
  test.each([
    ['5gwei', { wei: '5000000000' }],
    ['5 gwei', { wei: '5000000000' }],
    ['1.5GWEI', { wei: '1500000000' }],
    ['0.05 ETH', { wei: '50000000000000000', coin: 'ETH' }],
    ['0.05eth', { wei: '50000000000000000', coin: 'ETH' }],
    ['2bnb', { wei: '2000000000000000000', coin: 'BNB' }],
    ['0.05 ether', { wei: '50000000000000000' }],
    ['0.05 native coins', { wei: '50000000000000000' }],
    ['1coin', { wei: '1000000000000000000' }],
    // The parser accepts any coin name. A later check compares the name with the chain's coin.
    ['5 bitcoin', { wei: '5000000000000000000', coin: 'BITCOIN' }],
    ['1000000 wei', { wei: '1000000' }],
    ['1000000', { wei: '1000000' }],
    ['1.000 wei', { wei: '1' }],
    ['0', { wei: '0' }],
  ])('the amount %s is read as people type it', (text, amount) => {
    expect(parseAmount(text)).toEqual(amount)
  })

  test.each([
    '',
    '5 native eth',
    '5 of the moon',
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
    '5 constructors',
  ])('%j is no amount', (text) => {
    expect(parseAmount(text)).toBeUndefined()
  })
})

test('an amount that is shown exactly can be typed in again, to the last wei', () => {
  const isKept = fc.property(fc.bigInt({ min: 0n, max: 10n ** 30n }), fc.constantFrom('AVAX', 'ether', undefined), (amount, coin) => {
    const wei = String(amount)
    expect(parseAmount(gweiText(wei))).toEqual({ wei })
    const typed = parseAmount(exactAmountText(wei, coin))
    expect(typed?.wei).toBe(wei)
    expect([undefined, ...(coin === 'AVAX' ? [coin] : [])]).toContain(typed?.coin)
  })
  fc.assert(isKept)
})

test.each([
  ['0', '0 ETH', '0 ETH'],
  ['12', '12 wei', '12 wei'],
  ['999999', '999999 wei', '999999 wei'],
  ['1000000', '0.001 gwei', '0.001 gwei'],
  ['3200000000', '3.2 gwei', '3.2 gwei'],
  ['1500000001', '1.5 gwei', '1.500000001 gwei'],
  ['99999999999999', '99999.9 gwei', '99999.999999999 gwei'],
  ['100000000000000', '0.0001 ETH', '0.0001 ETH'],
  ['50000000000000000', '0.05 ETH', '0.05 ETH'],
  ['1234567890123456', '0.00123456 ETH', '0.001234567890123456 ETH'],
  ['999999999999999999', '0.999999 ETH', '0.999999999999999999 ETH'],
  ['9998765432109876543', '9.99876 ETH', '9.998765432109876543 ETH'],
  ['20000000000000000000', '20 ETH', '20 ETH'],
  ['1234567800000000000000000', '1234567 ETH', '1234567.8 ETH'],
])('%s wei are %s for people, and exactly %s', (wei, text, exact) => {
  expect([amountText(wei, 'ETH'), exactAmountText(wei, 'ETH')]).toEqual([text, exact])
})

test('an amount is never rounded up, and shows at most six significant digits', () => {
  const isCut = fc.property(fc.bigInt({ min: 0n, max: 10n ** 24n - 1n }), (amount) => {
    const text = amountText(String(amount), undefined)
    expect(BigInt(parseAmount(text)?.wei ?? -1)).toBeLessThanOrEqual(amount)
    expect(/^0*(\d*)$/.exec(text.replace(/[^\d]/g, ''))?.[1]?.length).toBeLessThanOrEqual(6)
  })
  fc.assert(isCut)
})

test('a coin without a known name is called native coins, and can be typed so', () => {
  expect([amountText('50000000000000000', undefined), amountText('0', undefined)]).toEqual(['0.05 native coins', '0 native coins'])
})

test('gas prices are shown in gwei, or in wei below a thousandth of a gwei', () => {
  expect(['0', '7', '1500000001', '123456789012', '90000000000'].map(gasPriceText)).toEqual([
    ...['0 gwei', '7 wei', '1.5 gwei', '123.456 gwei', '90 gwei'],
  ])
  expect(['1', '1500000001', '90000000000', '0'].map(gweiText)).toEqual(['0.000000001 gwei', '1.500000001 gwei', '90 gwei', '0 gwei'])
})

test('amounts of tokens are shown with their decimals, or else in the smallest unit', () => {
  const token = '0xab'
  expect(tokenText({ token, symbol: 'USDC', decimals: 6 }, '12500000')).toBe('12.5 USDC')
  expect(tokenText({ token, decimals: 0 }, '7')).toBe('7 0xab')
  expect(tokenText({ token, symbol: 'USDC' }, '12500000')).toBe('12500000 units of USDC')
})
