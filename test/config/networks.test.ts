import { expect, test } from 'vitest'
import { coinOf, coinOfChain, coinOfLane } from '../../config/networks.ts'
import { configSchema } from '../../config/schema/schema.ts'
import { deadConfig } from '../api/setting.ts'

/** The result of parsing a config with this `coin` for a chain whose network Portage does not know. */
const withCoin = (coin?: unknown) => {
  const { chains, ...rest } = deadConfig(1)
  return configSchema.safeParse({ ...rest, chains: { ...chains, ethereum: { ...chains['ethereum'], coin } } })
}

test('the coin is the one in the config, else the usual coin of a known network, else unknown', () => {
  const none = { chains: {} }
  expect([56, '43114', 1, 1337, 'constructor', ''].map((id) => coinOf(none, id))).toEqual([
    ...['BNB', 'AVAX', 'ETH', undefined, undefined, undefined],
  ])
  expect(coinOfLane(none, `evm-137:0x${'a'.repeat(40)}`)).toBe('POL')
  const config = withCoin('frxETH').data!
  expect([coinOf(config, 1337), coinOfLane(config, `evm-1337:0x${'a'.repeat(40)}`), coinOfChain(config, 'ethereum')]).toEqual([
    ...['frxETH', 'frxETH', 'frxETH'],
  ])
  expect([coinOfChain(config, 'bsc'), coinOfChain(config, 'constructor')]).toEqual([undefined, undefined])
})

test.each(['gwei', 'Wei', 'ether', 'coins', 'x'.repeat(11), '', 'E TH', '\u001b[2J'])('the config refuses to call a coin %j', (coin) => {
  const { success, error } = withCoin(coin)
  expect([success, error?.issues.map(({ path }) => path.join('.'))]).toEqual([false, ['chains.ethereum.coin']])
})
