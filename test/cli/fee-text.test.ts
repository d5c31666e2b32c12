import fc from 'fast-check'
import { expect, test } from 'vitest'
import { limitText, parseWei, weiText } from '../../cli/fee-scope.ts'

test.each([
  ['0', '0wei'],
  ['999999999', '999999999wei'],
  ['1000000000', '1gwei'],
  ['50000000000', '50gwei'],
  ['1500000001', '1.500000001gwei'],
  ['1000000000000000000', '1ether'],
  ['50000000000000000', '50000000gwei'],
])('%s wei is shown as %s', (wei, text) => {
  expect(weiText(wei)).toBe(text)
})

test('what is shown can be typed in again, to the last wei', () => {
  const amounts = fc.bigInt({ min: 0n, max: 10n ** 24n })
  const isKept = fc.property(amounts, (wei) => {
    expect(parseWei(weiText(String(wei)))).toBe(String(wei))
  })
  fc.assert(isKept)
})

test('gas and factors are no amounts', () => {
  expect([limitText('gasLimit', '3000000'), limitText('gasFactor', 1.5), limitText('maxTip', undefined)]).toEqual(['3000000', '1.5', '-'])
})
