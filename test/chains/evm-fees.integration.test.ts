import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import type { EvmChain, EvmChainOptions } from '../../chains/evm/index.ts'
import { withPolicy } from '../../chains/evm/signers/policy.ts'
import { type Anvil, startAnvil } from '../../lab/devnet/chain/anvil.ts'
import { devnetSigner, networkId, payment, startManualAnvil, testChain } from '../helpers/evm.ts'
import { head } from '../helpers/heads.ts'
import { testPolicy } from '../helpers/signing-policy.ts'

const oracle = '0x420000000000000000000000000000000000000F'
/** getL1Fee(bytes) returns 16 wei per byte of its argument. Every other function reverts. */
const oracleCode = '0x5f3560e01c6349948e0e146011575f5ffd5b6024356010025f5260205ff3'
const gwei = 10n ** 9n

describe('The fees of a chain', () => {
  let anvil: Awaited<ReturnType<typeof startManualAnvil>>
  const chains: EvmChain[] = []

  beforeAll(async () => {
    anvil = await startManualAnvil()
  })

  afterEach(() => chains.splice(0).forEach((chain) => chain.close()))
  afterAll(() => anvil?.stop())

  async function connected(options: Partial<EvmChainOptions> = {}, at: Anvil = anvil): Promise<EvmChain> {
    const chain = testChain(at.url, options)
    chains.push(chain)
    await chain.connect()
    return chain
  }

  test('fees follow a spike of the base fee from block to block, and the cap of fees does not', async () => {
    const chain = await connected()
    const calm = await chain.quote()
    const spike = 300n * gwei
    await anvil.rpc('anvil_setNextBlockBaseFeePerGas', [`0x${spike.toString(16)}`])
    const height = chain.heads.current?.latest.height ?? 0
    await anvil.mine()
    await head(chain, ({ latest }) => latest.height > height)
    const dear = await chain.quote()
    expect(BigInt(dear.baseFee ?? '0')).toBe((spike * 7n) / 8n)
    expect(BigInt(dear.maxFee)).toBe(2n * BigInt(dear.baseFee ?? '0') + BigInt(dear.tip))
    expect(dear.cap).toBe(calm.cap)
  })

  test('the tip is at the percentile and over the number of blocks that the config sets', async () => {
    const signer = await devnetSigner(11)
    const [low, high] = await Promise.all([
      connected({ feeHistory: { blocks: 1, percentile: 5 } }),
      connected({ feeHistory: { blocks: 1, percentile: 95 } }),
    ])
    for (const [nonce, tip] of [2n * gwei, 9n * gwei].entries()) {
      const { raw } = await signer.sign(payment(signer, nonce, { tip: String(tip), maxFee: String(900n * gwei) }))
      expect(await low.send(raw)).toMatchObject({ kind: 'accepted' })
    }
    const height = low.heads.current?.latest.height ?? 0
    await anvil.mine()
    await Promise.all([low, high].map((chain) => head(chain, ({ latest }) => latest.height > height)))
    expect((await low.quote()).tip).toBe(String(2n * gwei))
    expect((await high.quote()).tip).toBe(String(9n * gwei))
  })

  test('fees of an OP stack chain include the data fee of its oracle with a margin', async () => {
    await anvil.rpc('anvil_setCode', [oracle, oracleCode])
    const chain = await connected({ feeModel: 'op-stack' })
    const fee = async (bytes: number) => BigInt(await chain.dataFee({ to: oracle, data: `0x${'ab'.repeat(bytes)}`, value: '0' }))
    // Each further byte costs 16 wei plus a margin of half as much.
    expect((await fee(160)) - (await fee(60))).toBe(100n * 16n + 100n * 8n)
    expect(await fee(60)).toBeGreaterThan(100n * 24n)
    expect(chain.raises).toBe(true)
    const key = await devnetSigner(10)
    const noop = { ...payment(key, 0), to: key.address, value: '0' }
    const wei = BigInt(await chain.dataFee({ to: key.address, data: '0x', value: '0' }))
    const within = (most: bigint) =>
      withPolicy(key, testPolicy({ dataFee: chain.dataFee, limits: { maxDataFeePerTransactionWei: String(most) } }))
    await expect(within(wei - 1n).sign(noop)).rejects.toMatchObject({
      code: 'SIGNING_REFUSED',
      facts: { limit: 'maxDataFeePerTransactionWei' },
    })
    const allowed = within(wei)
    await allowed.sign(noop)
    expect(allowed.spending?.()[0]?.spent).toBe(BigInt(noop.gasLimit) * BigInt(noop.maxFee) + wei)
  })

  test('an OP stack chain without its oracle is refused with that reason', async () => {
    await anvil.rpc('anvil_setCode', [oracle, '0x'])
    const chain = await connected({ feeModel: 'op-stack' })
    await expect(chain.dataFee({ to: oracle, data: '0x', value: '0' })).rejects.toMatchObject({ code: 'NODE_REFUSED' })
  })

  test('Arbitrum raises nothing, charges no data fee in addition to gas, and has dearer no-ops', async () => {
    const signer = await devnetSigner(12)
    const chain = await connected({ feeModel: 'arbitrum' })
    expect(chain.raises).toBe(false)
    expect(await chain.dataFee({ to: oracle, data: '0xabcd', value: '0' })).toBe('0')
    expect(await chain.noopGas(signer.address)).toBe('50000')
    expect(await (await connected()).noopGas(signer.address)).toBe('21000')
  })

  test('fees of a legacy chain are its gas price', async () => {
    const berlin = await startAnvil({ chainId: networkId, blockTimeSeconds: 86_400, hardfork: 'berlin' })
    try {
      const chain = await connected({}, berlin)
      const quote = await chain.quote()
      expect(quote.baseFee).toBeUndefined()
      expect(quote.maxFee).toBe(quote.tip)
      expect(BigInt(quote.maxFee)).toBe(BigInt(await berlin.rpc<string>('eth_gasPrice')))
      // A chain without EIP-1559 accepts only legacy transactions.
      const signer = await devnetSigner(13)
      const signed = await signer.sign(payment(signer, 0, { maxFee: quote.maxFee, tip: quote.tip }))
      expect(await chain.send(signed.raw)).toMatchObject({ kind: 'accepted' })
    } finally {
      await berlin.stop()
    }
  })
})
