import { AbiCoder } from 'ethers'
import { expect, test } from 'vitest'
import { accountIndex, devnetAccount } from '../../lab/devnet/chain/accounts.ts'
import { Script } from '../../lab/devnet/chain/contracts.ts'
import { compiledArtifact } from '../../lab/devnet/chain/solidity.ts'
import { createPriceFeed } from '../../operations/prices/price-feed.ts'
import { evmSetting } from './setting.ts'

const { anvil, connectBehind } = evmSetting(3)

test('the price of an oracle is the one that most nodes show, and follows the oracle', async () => {
  const { chain, behind } = await connectBehind(3)
  const artifact = await compiledArtifact('PriceOracle')
  const script = await Script.of(anvil, devnetAccount(accountIndex.deployer))
  const oracle = script.deploy('PriceOracle', [], artifact)
  script.call(oracle, artifact.abi, 'set', [3_000n * 10n ** 8n])
  await script.mine()
  const price = createPriceFeed(
    {
      sources: [{ kind: 'oracle', chain: chain.name, feeds: { ethereum: oracle }, maxAgeSeconds: 604_800 }],
      ...{ everySeconds: 0, expected: {}, mostChangePercent: 50 },
    },
    { expected: () => undefined, readerOf: () => chain },
  )
  const words = ['uint80', 'int256', 'uint256', 'uint256', 'uint80']
  const now = Math.floor(Date.now() / 1_000)
  const lie = AbiCoder.defaultAbiCoder().encode(words, [9, 1n, now, now, 9])
  for (const liar of behind) {
    liar.alter = (method) => (method === 'eth_call' ? lie : undefined)
    expect(await price('ethereum', 'source')).toBe(3_000n * 10n ** 10n)
    liar.alter = undefined
  }
  script.call(oracle, artifact.abi, 'set', [3_100n * 10n ** 8n])
  await script.mine()
  expect(await price('ethereum', 'source')).toBe(3_100n * 10n ** 10n)
})
