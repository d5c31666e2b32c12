import { concat, getBytes, toBeHex } from 'ethers'
import { expect, test } from 'vitest'
import { haltedBy } from '../../activities/route.ts'
import { writeMessage } from '../../bridges/executor/message.ts'
import { createBridges } from '../../bridges/registry.ts'
import { nttSchema, receiversSchema, wormholeTokenBridgeSchema } from '../../config/schema/bridge-schema.ts'
import { executorSchema } from '../../config/schema/executor-schema.ts'
import { type HaltScope, noSettings } from '../../domain/settings/settings.ts'
import { quoter } from '../helpers/executor.ts'
import { signVaa, transferPayload } from '../helpers/vaa.ts'

const address = (digits: string) => `0x${digits.repeat(20)}`
const word = (digits: string) => digits.repeat(20).padStart(64, '0')
const contracts = { core: address('c0'), tokenBridge: address('b0') }
const chainOf = (networkId: number, wormholeChainId: number) => ({ networkId, wormholeChainId, contracts })
const token = {
  peers: {
    polygon: { manager: address('77'), transceivers: [address('a1')] },
    bsc: { manager: address('78'), transceivers: [address('a2')] },
  },
}
const route = {
  source: 'polygon',
  emitter: address('e1'),
  target: 'bsc',
  contract: address('99'),
  delivered: { view: 'done(bytes32)' },
  free: true,
}
const end = { contract: address('44'), payee: address('45'), price: '1' }
const bridges = createBridges(
  {
    chains: { ethereum: chainOf(1, 2), bsc: chainOf(56, 4), polygon: chainOf(137, 5) },
    bridges: {
      'wormhole-token-bridge': wormholeTokenBridgeSchema.parse({ spies: [{ address: 'spy:7073' }] }),
      ntt: nttSchema.parse({ tokens: [token] }),
      receivers: receiversSchema.parse({ routes: [route] }),
      executor: executorSchema.parse({ quoter: { address: quoter }, chains: { ethereum: end, bsc: end } }),
    },
  },
  new Map(),
)

function requestOf(request: readonly string[], attested: readonly Uint8Array[] = []) {
  return bridges.get('executor')!.decode(
    writeMessage({
      ...{ sourceChain: 2, height: 9, logIndex: 3, txHash: `0x${'09'.repeat(32)}`, attested },
      request: {
        ...{ quoter, amountPaid: 1n, targetChain: 4, targetAddress: word('33'), refundAddress: quoter },
        ...{ signedQuote: new Uint8Array(), request: getBytes(concat([...request])), instructions: new Uint8Array() },
      },
    }),
  )
}

const forVaa = (chain: number, emitter: string, attested?: readonly Uint8Array[]) =>
  requestOf(['0x45525631', toBeHex(chain, 2), `0x${emitter}`, toBeHex(7, 8)], attested)
const ofStranger = signVaa({ emitterChain: 6, emitter: word('5a'), payload: transferPayload({ toChain: 4 }) }, { guardians: 1 }).bytes

const requests = {
  'a VAA of the token bridge of Polygon': [forVaa(5, word('b0')), 'wormhole-token-bridge', 'polygon'],
  'a VAA of a transceiver': [forVaa(5, word('a1')), 'ntt', 'polygon'],
  'a VAA of an emitter of the receivers': [forVaa(5, word('e1')), 'receivers', 'polygon'],
  'any VAA of Polygon': [forVaa(5, word('5a')), 'executor', 'polygon'],
  'a transfer of tokens from a chain that the config does not name': [
    forVaa(6, word('5a'), [ofStranger]),
    'wormhole-token-bridge',
    'wormhole-6',
  ],
  'a transfer of NTT': [requestOf(['0x45524e31', '0x0002', `0x${word('77')}`, toBeHex(7, 32)]), 'ntt', 'ethereum'],
  'a burn of CCTP v1': [requestOf(['0x45524331', toBeHex(0, 12)]), 'cctp', 'ethereum'],
  'a burn of CCTP v2': [requestOf(['0x4552433201']), 'cctp', 'ethereum'],
} as const

test.each(Object.entries(requests))(
  'a request for %s waits while what it names is halted, or the request itself',
  (_, [transfer, bridge, source]) => {
    const halted = (scope: HaltScope) =>
      haltedBy({ bridges, settings: () => ({ ...noSettings, halts: [{ scope, by: 'ops', reason: 'a test', at: 0 }] }) }, transfer)?.code
    const own = { bridge: 'executor', sourceChain: 'ethereum', targetChain: 'bsc' }
    for (const scope of [
      {},
      { bridge },
      { sourceChain: source },
      { chain: source },
      { bridge, sourceChain: source, targetChain: 'bsc' },
      own,
    ])
      expect(halted(scope)).toBe('HALTED')
    for (const scope of [{ bridge: 'native-bridge' }, { chain: 'base' }, { bridge, targetChain: 'ethereum' }])
      expect(halted(scope)).toBeUndefined()
  },
)
