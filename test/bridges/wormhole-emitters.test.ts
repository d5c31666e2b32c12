import { describe, expect, test } from 'vitest'
import { createBridges } from '../../bridges/registry.ts'
import { sourcesWithoutNode, spySources } from '../../bridges/configured-emitters.ts'
import { tokenBridgeEmitters } from '../../bridges/wormhole-token-bridge/emitters.ts'
import { receiversSchema, wormholeTokenBridgeSchema } from '../../config/schema/bridge-schema.ts'
import { mainnetVaa, signVaa, transferPayload } from '../helpers/vaa.ts'

const emitterOf = (network: 'mainnet' | 'testnet', id: number) => tokenBridgeEmitters[network].find(([chain]) => chain === id)?.[2]

describe('the table of token bridges', () => {
  // From wormhole-foundation/wormhole (sdk/mainnet_consts.go, testnet_consts.go). Chains of several kinds, because each
  // kind derives the emitter differently.
  test.each([
    ['mainnet', 6, '0000000000000000000000000e082f06ff657d94310cb8ce8b0d9a04541d8052'],
    ['mainnet', 8, '67e93fa6c8ac5c819990aa7340c0c16b508abb1178be9b30d024b8ac25193d45'],
    ['mainnet', 15, '148410499d3fcda4dcfd68a1ebfcdddda16ab28326448d4aae4d2f0465cdfcb7'],
    ['mainnet', 19, '00000000000000000000000045dbea4617971d93188eda21530bc6503d153313'],
    ['mainnet', 21, 'ccceeb29348f71bdd22ffef43a2a19c1f5b5e17c5cca5411529120182672ade5'],
    ['mainnet', 22, '0000000000000000000000000000000000000000000000000000000000000001'],
    ['mainnet', 32, '86c5fd957e2db8389553e1728f9c27964b22a8154091ccba54d75f4b10c61f5e'],
    ['mainnet', 51, '289e998e357c96dbfd8490b853595e0d48639ede2d1aed4a819edcc00165904c'],
    ['testnet', 1, '3b26409f8aaded3f5ddca184695aa6a0fa829b0c85caf84856324896d214ca98'],
    ['testnet', 15, 'c2c0b6ecbbe9ecf91b2b7999f0264018ba68126c2e83bf413f59f712f3a1df55'],
    ['testnet', 21, '40440411a170b4842ae7dee4f4a7b7a58bc0a98566e998850a7bb87bf5dc05b9'],
  ] as const)('on %s the table of token bridges has the emitter of chain %i', (network, chain, emitter) =>
    expect(emitterOf(network, chain)).toBe(emitter),
  )

  test('the table of token bridges has the emitter that signed messages of Solana name', () => {
    expect(emitterOf('mainnet', 1)).toBe(mainnetVaa('transfer, payload 1, chain 1 to 2').emitterAddress)
  })

  test('the table of token bridges has each chain once, and emitters of 64 digits', () => {
    for (const rows of Object.values(tokenBridgeEmitters)) {
      expect(new Set(rows.map(([chain]) => chain)).size).toBe(rows.length)
      expect(rows.filter(([, , emitter]) => !/^[0-9a-f]{64}$/.test(emitter))).toEqual([])
    }
  })
})

describe('the sources of a config', () => {
  const contracts = { core: `0x${'c0'.repeat(20)}`, tokenBridge: `0x${'b0'.repeat(20)}` }
  const chains = { ethereum: { networkId: 1, wormholeChainId: 2, contracts } }
  const named = `0x${'AB'.repeat(32)}`
  const config = (more: object) => ({
    chains,
    bridges: { 'wormhole-token-bridge': wormholeTokenBridgeSchema.parse({ spies: [{ address: 'spy:7073' }], ...more }) },
  })
  const filters = (more: object) => spySources(config(more))[0]!.filters.map(({ chain }) => chain)

  test('each of several spies is asked for the same emitters, and none may be listed twice', () => {
    const spies = [{ address: 'one:7073' }, { address: 'two:7073', tls: { serverName: 'spy' } }]
    const [first, second, ...rest] = spySources(config({ spies }))
    expect([first, second]).toMatchObject(spies)
    expect(second?.filters).toEqual(first?.filters)
    expect(rest).toEqual([])
    expect(() => config({ spies: [spies[0], spies[0]] })).toThrow('must not name an address twice')
  })

  test('the sources of a config are its chains, unless it names more', () => expect(filters({})).toEqual([2]))

  test('a chain without a token bridge is neither a source nor a target of token transfers', () => {
    const bsc = { networkId: 56, wormholeChainId: 4, contracts: { core: contracts.core } }
    const both = { ...config({}), chains: { ...chains, bsc } }
    expect(spySources(both)[0]!.filters.map(({ chain }) => chain)).toEqual([2])
    const vaa = (toChain: number) =>
      signVaa({ payload: transferPayload({ toChain }), emitterChain: 2, emitter: 'b0'.repeat(20).padStart(64, '0') })
    const { decode } = createBridges(both, new Map()).get('wormhole-token-bridge')!
    expect(decode(vaa(2).bytes).targetChain).toBe('ethereum')
    expect(() => decode(vaa(4).bytes)).toThrow(expect.objectContaining({ code: 'TARGET_CHAIN_UNSUPPORTED' }))
  })

  test('with `everySource`, all known token bridges are sources, and the spy is asked for them', () => {
    const all = filters({ everySource: 'mainnet' })
    expect(all).toEqual(expect.arrayContaining([1, 2, 21]))
    expect(all).toHaveLength(tokenBridgeEmitters.mainnet.length)
    // The token bridge of a configured chain comes from the config, not from the table.
    expect(spySources(config({ everySource: 'mainnet' }))[0]!.filters[0]).toEqual({ chain: 2, emitter: 'b0'.repeat(20).padStart(64, '0') })
  })

  test('emitters in the config are sources, and take precedence over known emitters', () => {
    expect(filters({ emitters: { 1: named, 34: named } })).toEqual([2, 1, 34])
    const sui = { ...chains.ethereum, wormholeChainId: 21 }
    const heard = sourcesWithoutNode({ ...config({ everySource: 'testnet', emitters: { 1: named } }), chains: { sui } })
    expect(heard.find(({ emitterChain }) => emitterChain === 1)).toEqual({
      emitterChain: 1,
      emitter: 'ab'.repeat(32),
      sourceChain: 'wormhole-1',
    })
    expect(heard.some(({ emitterChain }) => emitterChain === 21)).toBe(false)
  })

  test('sources without a node have streams that begin where the config says', () => {
    const bridges = createBridges(
      config({ emitters: { 1: named }, streams: { 'wormhole-1': { first: '1000000', maxOpen: 7 } } }),
      new Map(),
    )
    const [source] = bridges.get('wormhole-token-bridge')!.sources
    expect(source).toMatchObject({
      config: { stream: `wormhole-token-bridge:wormhole-1:${'ab'.repeat(32)}`, first: '1000000', maxOpen: 7 },
      withoutNode: { judges: [] },
    })
  })

  test("bytes of a token transfer from a receiver's emitter belong to nobody, so their number is resolved", () => {
    const emitter = 'ee'.repeat(20)
    const route = {
      source: 'ethereum',
      emitter: `0x${emitter}`,
      where: { '0': '07' },
      target: 'ethereum',
      contract: `0x${'aa'.repeat(20)}`,
    }
    const receivers = receiversSchema.parse({ routes: [{ ...route, delivered: { view: 'isDone(bytes32)' }, free: true }] })
    const { chains, bridges } = config({})
    const { decode } = createBridges({ chains, bridges: { ...bridges, receivers } }, new Map()).get('wormhole-token-bridge')!
    const from = (of: string) => signVaa({ emitterChain: 2, emitter: of.padStart(64, '0'), payload: transferPayload({ toChain: 2 }) }).bytes
    expect(() => decode(from(emitter))).toThrow(expect.objectContaining({ code: 'PAYLOAD_KIND' }))
    expect(decode(from('cc'.repeat(20)))).toMatchObject({ bridge: 'wormhole-token-bridge' })
  })
})
