import { describe, expect, test } from 'vitest'
import { type WormholeNetworkName, wormholeChains, wormholeNetworkNames } from '../../domain/wormhole-networks.ts'
import { describeWormholeTable } from '../../scripts/docs/wormhole-table.ts'
import { wormholeTable } from '../../domain/wormhole-table.ts'

const find = (network: WormholeNetworkName, name: string) => wormholeChains(network).find((chain) => chain.name === name)

test('the table is what the installed Wormhole SDK says (else: npm run docs)', () => {
  const generated = describeWormholeTable()
  for (const network of wormholeNetworkNames) expect(generated).toContain(wormholeTable[network])
  expect(wormholeChains('mainnet').length).toBeGreaterThan(25)
})

/** Wormhole's own list of known emitters: sdk/mainnet_consts.go and sdk/testnet_consts.go of wormhole-foundation/wormhole. One chain of each platform. */
const known = {
  mainnet: {
    solana: 'ec7372995d5cc8732397fb0ad35c0121e0eaa90d26f828a534cab54391b3a4f5',
    ethereum: '0000000000000000000000003ee18b2214aff97000d974cf647e7c347e8fa585',
    algorand: '67e93fa6c8ac5c819990aa7340c0c16b508abb1178be9b30d024b8ac25193d45',
    near: '148410499d3fcda4dcfd68a1ebfcdddda16ab28326448d4aae4d2f0465cdfcb7',
    injective: '00000000000000000000000045dbea4617971d93188eda21530bc6503d153313',
    sei: '86c5fd957e2db8389553e1728f9c27964b22a8154091ccba54d75f4b10c61f5e',
    wormchain: 'aeb534c45c3049d380b9d9b966f9895f53abd4301bfaff407fa09dea8ae7a924',
    aptos: '0000000000000000000000000000000000000000000000000000000000000001',
    sui: 'ccceeb29348f71bdd22ffef43a2a19c1f5b5e17c5cca5411529120182672ade5',
  },
  testnet: {
    solana: '3b26409f8aaded3f5ddca184695aa6a0fa829b0c85caf84856324896d214ca98',
    algorand: '6241ffdc032b693bfb8544858f0403dec86f2e1720af9f34f8d65fe574b6238c',
    near: 'c2c0b6ecbbe9ecf91b2b7999f0264018ba68126c2e83bf413f59f712f3a1df55',
    injective: '00000000000000000000000003f3e7b2e363f51cf6e57ef85f43a2b91dbce501',
    sei: '9328673cb5de3fd99974cefbbd90fea033f4c59a572abfd7e1a4eebcc5d18157',
    sui: '40440411a170b4842ae7dee4f4a7b7a58bc0a98566e998850a7bb87bf5dc05b9',
    sepolia: '000000000000000000000000db5492265f6038831e89f495670ff909ade94bd9',
  },
} as const

describe.each(wormholeNetworkNames)('%s', (network) => {
  test.each(Object.entries(known[network]))('the emitter of %s is the one that Wormhole lists', (name, emitter) => {
    expect(find(network, name)?.emitter).toBe(emitter)
  })

  test('names and numbers are of one chain each, and every chain is complete', () => {
    const chains = wormholeChains(network)
    for (const field of ['name', 'id'] as const) expect(new Set(chains.map((chain) => chain[field])).size).toBe(chains.length)
    for (const { name, id, emitter, core, tokenBridge } of chains) {
      expect(name).toMatch(/^[a-z][a-z0-9-]{0,30}$/)
      expect(id).toBeGreaterThan(0)
      expect(emitter).toMatch(/^[0-9a-f]{64}$/)
      expect([core, tokenBridge]).not.toContain('')
    }
  })
})

test('a chain is read with its times, and without those that the SDK does not have', () => {
  expect(find('mainnet', 'bsc')).toEqual({
    name: 'bsc',
    id: 4,
    platform: 'Evm',
    nativeId: '56',
    core: '0x98f3c9e6E3fAce36bAAd05FE09d375Ef1464288B',
    tokenBridge: '0xB6F6D86a8f9879A9c87f643768d9efc38c1Da6E7',
    emitter: '000000000000000000000000b6f6d86a8f9879a9c87f643768d9efc38c1da6e7',
    finalityBlocks: 15,
    blockTimeMs: 750,
  })
  expect(Object.keys(find('testnet', 'linea')!)).not.toContain('blockTimeMs')
})
