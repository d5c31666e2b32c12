import { expect, test } from 'vitest'
import { parse } from '../../cli/arguments/options.ts'
import { limitText } from '../../cli/commands/settings/fees.ts'

test('limits are shown as fees set accepts them: prices in gwei, costs in ether', () => {
  expect([limitText('maxTip', '1500000001'), limitText('maxFeePerTransaction', '50000000000000000')]).toEqual([
    '1.500000001 gwei',
    '0.05 ether',
  ])
  expect([parse.wei('1.500000001 gwei'), parse.wei('0.05 ether')]).toEqual(['1500000001', '50000000000000000'])
})

test('gas and factors have no unit', () => {
  expect([limitText('gasLimit', '3000000'), limitText('gasFactor', 1.5), limitText('maxTip', undefined)]).toEqual(['3000000', '1.5', '-'])
})

test('a price in the coin of one chain is refused, since it differs on other chains', () => {
  expect(() => parse.wei('2 BNB')).toThrow('with a unit')
})
