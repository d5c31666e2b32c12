import { expect, test } from 'vitest'
import { feeDefaults } from '../../config/chains.ts'
import { type ChainConfig, type Config, configSchema } from '../../config/schema/schema.ts'
import { createFeePolicyResolver } from '../../domain/fees/fees.ts'
import { type Settings, noSettings } from '../../domain/settings/settings.ts'

const contract = `0x${'ab'.repeat(20)}`
const lane = `0x${'cd'.repeat(20)}`
const chain = {
  family: 'evm',
  networkId: 5,
  wormholeChainId: 2,
  nodes: [{ url: 'http://127.0.0.1:1' }],
  blockTimeMs: 1000,
  contracts: { core: contract, tokenBridge: contract },
  fees: { maxFeePerGas: '2' },
  callFees: { [contract]: { '*': { maxFeePerGas: '3', maxTip: '3' }, '0x12345678': { maxFeePerGas: '4' } } },
  lanes: [{ address: lane, fees: { maxTip: '5' } }],
} satisfies Partial<Record<keyof ChainConfig, unknown>>

const config: Config = configSchema.parse({ chains: { alpha: chain }, fees: { gasFactor: 1.5, maxFeePerGas: '1' }, bridges: {} })

test('the limits of a config at each level, and the changes of operators on top of them', () => {
  let settings: Settings = noSettings
  const resolve = createFeePolicyResolver(feeDefaults(config), () => settings)
  const about = { chain: 'alpha', contract, selector: '0x12345678', lane: `evm-5:${lane}`, transfer: 't' }
  expect(resolve({ chain: 'beta' })).toEqual({ gasFactor: 1.5, maxFeePerGas: '1', gasLimit: '3000000' })
  expect(resolve({ chain: 'alpha' })).toMatchObject({ maxFeePerGas: '2' })
  expect(resolve({ chain: 'alpha', contract, selector: '0x00000000' })).toEqual({
    gasFactor: 1.5,
    maxFeePerGas: '3',
    maxTip: '3',
    gasLimit: '3000000',
  })
  expect(resolve(about)).toEqual({ gasFactor: 1.5, maxFeePerGas: '4', maxTip: '5', gasLimit: '3000000' })
  // The settings override the config's rule for the same scope, but not a rule for a more specific scope.
  settings = {
    ...noSettings,
    version: 1,
    fees: [{ scope: { kind: 'chain', chain: 'alpha' }, policy: { maxFeePerGas: '9', gasLimit: '7' } }],
  }
  expect(resolve({ chain: 'alpha' })).toMatchObject({ maxFeePerGas: '9' })
  expect(resolve(about)).toEqual({ gasFactor: 1.5, maxFeePerGas: '4', maxTip: '5', gasLimit: '7' })
  settings = { ...noSettings, version: 2, fees: [{ scope: { kind: 'transfer', id: 't' }, policy: { maxFeePerGas: '10' } }] }
  expect(resolve(about)).toMatchObject({ maxFeePerGas: '10' })
})

test('the default gas limit per delivery is ten times as high if gas includes the data fee', () => {
  const chains = { alpha: chain, arbitrum: { ...chain, networkId: 6, wormholeChainId: 23, feeModel: 'arbitrum' } }
  const limited = configSchema.parse({ chains, transfers: { maxGas: 200_000 }, bridges: {} })
  const resolve = createFeePolicyResolver(feeDefaults(limited), () => noSettings)
  const gasOf = (name: string, deliveries?: number) => resolve({ chain: name, deliveries }).gasLimit
  expect([gasOf('alpha'), gasOf('alpha', 20), gasOf('arbitrum')]).toEqual(['200000', '4000000', '2000000'])
  for (const maxGas of [99_999, 100_000_001, 0.5])
    expect(configSchema.safeParse({ chains, transfers: { maxGas }, bridges: {} }).success).toBe(false)
})
