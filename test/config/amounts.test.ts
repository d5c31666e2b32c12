import { expect, test } from 'vitest'
import { parseConfig } from '../../config/load/load.ts'
import { env, least } from '../helpers/least-config.ts'

test('the highest amount of a config is below 2^256, so that it can mean no limit', () => {
  const most = String(2n ** 256n - 1n)
  expect(parseConfig(`${least}fees: { maxFeePerGas: '${most}' }\n`, env, 'portage.yaml').fees).toEqual({ maxFeePerGas: most })
})

test.each([
  ['50 gwei', '50000000000'],
  ['2.5gwei', '2500000000'],
  ['0.05 coins', '50000000000000000'],
  ['7 wei', '7'],
  ['7', '7'],
])('the amount %s of a config is %s wei', (text, wei) => {
  const { fees, chains } = parseConfig(
    `${least.replace('blockTimeMs', `signing: { maxPaymentWei: '${text}' }\n    blockTimeMs`)}fees: { maxFeePerGas: '${text}' }\n`,
    env,
    'portage.yaml',
  )
  expect(fees?.maxFeePerGas).toBe(wei)
  expect(chains['ethereum']?.signing.maxPaymentWei).toBe(wei)
})
