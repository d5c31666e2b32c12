import { expect, test } from 'vitest'
import { haltedBy } from '../../activities/route.ts'
import { createAdmit, createPrepare } from '../../activities/transfer/admit.ts'
import { showsEffect } from '../../activities/checks/effect.ts'
import type { Endpoint } from '../../bridges/port.ts'
import { createBridges } from '../../bridges/registry.ts'
import { wormholeTokenBridgeSchema } from '../../config/schema/bridge-schema.ts'
import { RelayerError } from '../../domain/catalogue/errors.ts'
import { type HaltScope, noSettings, type Settings } from '../../domain/settings/settings.ts'
import type { Mismatch } from '../../intake/submit/halt-route.ts'
import { nativeTransfer } from '../helpers/native-transfer.ts'
import { signVaa, transferPayload } from '../helpers/vaa.ts'
import { bridgesWith, fakeDelivery, fakeEndpoint } from './fake-bridge.ts'
import { inItsRun } from './its-run.ts'

const contracts = { core: `0x${'c0'.repeat(20)}`, tokenBridge: `0x${'b0'.repeat(20)}` }
const chainOf = (networkId: number, wormholeChainId: number) => ({ networkId, wormholeChainId, contracts })
const bridges = createBridges(
  {
    chains: { ethereum: chainOf(1, 2), bsc: chainOf(56, 4), base: chainOf(8453, 30) },
    bridges: { 'wormhole-token-bridge': wormholeTokenBridgeSchema.parse({ spies: [{ address: 'spy:7073' }] }) },
  },
  new Map(),
)
const fromEthereum = bridges
  .get('wormhole-token-bridge')!
  .decode(signVaa({ emitterChain: 2, payload: transferPayload({ toChain: 4 }) }).bytes)

const halted = (scope: HaltScope, transfer: typeof fromEthereum) =>
  haltedBy({ bridges, settings: () => ({ ...noSettings, halts: [{ scope, by: 'ops', reason: 'a test', at: 0 }] }) }, transfer)?.code

test.each<HaltScope>([{ sourceChain: 'ethereum' }, { chain: 'ethereum' }, { bridge: 'wormhole-token-bridge', sourceChain: 'ethereum' }])(
  'a halt of %o holds a transfer whose own field names another source, or a former name of it',
  (scope) => {
    expect(halted(scope, fromEthereum)).toBe('HALTED')
    expect(halted(scope, { ...fromEthereum, sourceChain: 'base' })).toBe('HALTED')
    expect(halted({ ...scope, targetChain: 'base' }, fromEthereum)).toBeUndefined()
  },
)

test('a halt of another source holds no transfer that only claims to come from there', () => {
  expect(halted({ sourceChain: 'base' }, { ...fromEthereum, sourceChain: 'base' })).toBeUndefined()
  // Bytes that cannot be decoded name no source, so the field `sourceChain` decides.
  expect(halted({ sourceChain: 'ethereum' }, { ...fromEthereum, message: 'junk' })).toBe('HALTED')
})

test('contracts that contradict each other halt the route of the message, whatever the transfer says', async () => {
  const routes: Mismatch[] = []
  const native = bridgesWith(
    fakeEndpoint({
      delivered: async () => {
        throw new RelayerError('NATIVE_NONCE_MISMATCH')
      },
    }),
  ).get('native-bridge')!
  const deps = {
    bridges: new Map([['native-bridge', { ...native, decode: () => nativeTransfer() }]]),
    chains: new Map(),
    haltRoute: async (route: Mismatch) => void routes.push(route),
  }
  await expect(showsEffect(deps, { ...nativeTransfer(), sourceChain: 'base' })).rejects.toMatchObject({ code: 'NATIVE_NONCE_MISMATCH' })
  expect(routes).toMatchObject([{ bridge: 'native-bridge', sourceChain: 'ethereum', targetChain: 'bsc' }])
})

const steps = [
  ['admit', createAdmit],
  ['prepare', createPrepare],
] as const

function step(create: typeof createAdmit | typeof createPrepare, own: Partial<Endpoint>, denied: Settings['denied'] = []) {
  const one = new Map([['bsc', { name: 'bsc' }]])
  const deps = { bridges: bridgesWith(fakeEndpoint(own)), chains: one, lanes: one, settings: () => ({ ...noSettings, denied }) }
  return inItsRun(create(deps as never, undefined as never))
}

test.each(steps)("%s passes an operator's last retry to the bridge before it asks the bridge about the transfer", async (_, create) => {
  const heard: unknown[] = []
  const asked = async () => {
    heard.push('asked')
    throw new RelayerError('NODE_UNAVAILABLE')
  }
  const own = step(create, { retry: ({ sequence }, at) => heard.push([sequence, at]), validate: asked, demandSigned: asked })
  for (const retriedAt of [5, undefined])
    await expect(own({ transfer: nativeTransfer(), ...(retriedAt !== undefined && { retriedAt }) })).rejects.toMatchObject({
      code: 'NODE_UNAVAILABLE',
    })
  expect(heard).toEqual([['1', 5], 'asked', ['1', undefined], 'asked'])
})

test('a recipient whose denial names a chain that the config lacks waits, and is not declined', async () => {
  const rule = { kind: 'recipient', value: '0x1', waits: true, by: 'me', reason: 'a test', at: 0 } as const
  const own = step(createAdmit, { validate: async () => ({ kind: 'valid' }), delivery: fakeDelivery({}) }, [rule])
  expect(await own({ transfer: nativeTransfer() })).toMatchObject({ kind: 'waiting', code: 'DENIAL_UNCLEAR', retryInMs: 300_000 })
})
