import { expect, test } from 'vitest'
import { parse } from '../../cli/arguments/options.ts'
import { limitText } from '../../cli/commands/settings/fees.ts'
import { noSettings } from '../../domain/settings/settings.ts'
import { feeOrders } from '../../operations/orders/fees.ts'
import type { OrderContext } from '../../operations/orders/spec.ts'

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

test.each<[string, string | undefined, string]>([
  ['chain:bsc', '2000000000000000000', '2BNB'],
  ['call:bsc/0x11', '2000000000000000000', '2 bnb'],
  ['lane:evm-56:0x52908400098527886e0f7030069857d2e4169ee7', '2000000000000000000', '2BNB'],
  ['chain:bsc', undefined, '2ETH'],
  ['global', undefined, '2BNB'],
  ['global', '2000000000000000000', '2ether'],
])('fees set --scope %s takes the coin of its chain: %s wei of %s', async (scope, wei, amount) => {
  const config = { chains: { bsc: { networkId: 56 } } } as unknown as OrderContext['config']
  const given = { scope: parse.feeScope(scope), maxFeePerTransaction: parse.amount(amount) }
  const asked = feeOrders(given as never, async () => noSettings, { config })
  if (wei === undefined)
    await expect(asked).rejects.toMatchObject({ code: 'INPUT_INVALID', message: expect.stringContaining('wei, gwei and ether') })
  else expect(await asked).toEqual([{ kind: 'setFees', scope: given.scope, policy: { maxFeePerTransaction: wei } }])
})
