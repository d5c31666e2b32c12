import { expect, test } from 'vitest'
import { configuredStreams, streamNames } from '../../bridges/configured-emitters.ts'
import { configSchema } from '../../config/schema/schema.ts'

const [emitter, contract] = ['ab'.repeat(32), `0x${'cc'.repeat(20)}`]

function configWith(ethereum: string) {
  const chain = (networkId: number, wormholeChainId: number) => ({
    ...{ family: 'evm', networkId, wormholeChainId, nodes: [{ url: 'http://127.0.0.1:1' }], blockTimeMs: 1_000 },
    ...{ finality: { kind: 'instant' }, contracts: { core: contract, tokenBridge: contract } },
  })
  return configSchema.parse({
    temporal: {},
    chains: { [ethereum]: chain(1, 2), bsc: chain(56, 4) },
    bridges: {
      'native-bridge': { routes: [{ source: ethereum, target: 'bsc', sourceContract: contract, targetContract: contract }] },
      'wormhole-token-bridge': { emitters: { 1: emitter } },
    },
  })
}

test('ids of streams have the numbers of the chains, and names have their names in the config', () => {
  const tokenBridge = contract.slice(2).padStart(64, '0')
  expect(configuredStreams(configWith('ethereum'))).toEqual([
    { id: `wormhole-token-bridge:2:${tokenBridge}`, name: `wormhole-token-bridge:ethereum:${tokenBridge}` },
    { id: `wormhole-token-bridge:4:${tokenBridge}`, name: `wormhole-token-bridge:bsc:${tokenBridge}` },
    { id: `wormhole-token-bridge:1:${emitter}`, name: `wormhole-token-bridge:wormhole-1:${emitter}` },
    { id: 'native-bridge:1:56', name: 'native-bridge:ethereum:bsc' },
  ])
  const ids = (ethereum: string) => configuredStreams(configWith(ethereum)).map(({ id }) => id)
  expect(ids('eth')).toEqual(ids('ethereum'))
})

test('names and ids of streams are translated in both directions, and unknown ones are left as they are', () => {
  const { idOf, nameOf } = streamNames(configWith('ethereum'))
  const [id, name] = ['native-bridge:1:56', 'native-bridge:ethereum:bsc']
  expect([id, name].map(idOf)).toEqual([id, id])
  expect([id, name].map(nameOf)).toEqual([name, name])
  expect([idOf('native-bridge:9:9'), nameOf('native-bridge:9:9')]).toEqual(['native-bridge:9:9', 'native-bridge:9:9'])
})
