import { expect, test } from 'vitest'
import { checkServices } from '../../cli/doctor/services.ts'
import { configSchema } from '../../config/schema/schema.ts'

const token = `2/${'0'.repeat(24)}${'ab'.repeat(20)}`
const chain = (networkId: number, wormholeChainId: number) => ({
  ...{
    family: 'evm',
    networkId,
    wormholeChainId,
    nodes: [{ url: 'http://127.0.0.1:9' }],
    blockTimeMs: 1_000,
    finality: { kind: 'instant' },
  },
  contracts: { core: `0x${'aa'.repeat(20)}`, tokenBridge: `0x${'bb'.repeat(20)}` },
})

test('the doctor warns of a chain without a fee and without a free route', async () => {
  const config = configSchema.parse({
    chains: { ethereum: chain(1, 2), bsc: chain(56, 4), base: chain(8453, 30) },
    bridges: { 'wormhole-token-bridge': { minimumFees: { ethereum: { [token]: '1' } }, freeRoutes: [{ target: 'bsc' }] } },
  })
  const fees = (await checkServices(config)).filter(({ name }) => name.startsWith('fees of'))
  expect(fees).toMatchObject([
    { name: 'fees of ethereum', status: 'ok', detail: 'of 1 tokens' },
    { name: 'fees of bsc', status: 'ok', detail: 'of 0 tokens; routes to it are free' },
    { name: 'fees of base', status: 'warn', remedy: expect.stringContaining('minimumFees.base') },
  ])
})
