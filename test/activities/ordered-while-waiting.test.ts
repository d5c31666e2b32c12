import { expect, test } from 'vitest'
import { createBroadcast } from '../../activities/transfer/broadcast.ts'
import { withPolicy } from '../../chains/evm/signers/policy.ts'
import type { Chain } from '../../chains/port.ts'
import { signingLimitsSchema } from '../../config/schema/lane-schema.ts'
import { type Entry, laneId } from '../../domain/lane/lane.ts'
import type { Ask, LaneAnswer } from '../../domain/lane/messages.ts'
import { applySettingsOrders, noSettings, type Settings, type SettingsOrder } from '../../domain/settings/settings.ts'
import { LaneAgent } from '../../lanes/agent.ts'
import { callHash, type LaneDeps } from '../../lanes/deps.ts'
import type { NonceRequest } from '../../lanes/ledger/nonce-requests.ts'
import { silentLogger } from '../../observability/logger.ts'
import type { BroadcastInput } from '../../temporal/contracts/transfer-steps.ts'
import { signingPolicy } from '../../workers/roles/signer.ts'
import { temporaryFolder } from '../helpers/folders.ts'
import { self } from '../helpers/limited-key.ts'
import { nativeTransfer } from '../helpers/native-transfer.ts'
import { bridgesWith, fakeDelivery, fakeEndpoint, fakeParties } from './fake-bridge.ts'
import { scriptedChain } from './scripted-chain.ts'

const [contract, alice] = [`0x${'a1'.repeat(20)}`, `0x${'a7'.repeat(20)}`]
const intent = { to: contract, data: '0x11111111', value: '0' }
const lane = laneId('evm', 56, self)
const attempt = { kind: 'call', gasLimit: '100000', maxFee: '10', tip: '1' } as const

/**
 * `order` changes the settings while the step waits for its nonce. The key sees the new settings, the step only the old
 * ones. `released`: the ledger's answer when the step returns the nonce.
 */
function setting(order: SettingsOrder | undefined, released: 'free' | 'held' = 'free') {
  const now: { settings: Settings } = { settings: noSettings }
  const did: string[] = []
  const owner = { intentId: 'transfer-1/1', callHash: callHash(intent) }
  const entry: Entry = { nonce: 7, owner, grantedTo: 'x-1', maybeSent: false, sinceBlock: 0, claimedBlock: 0, attempts: [attempt] }
  const ledger = {
    subscribe: () => {},
    async ask({ kind }: Ask): Promise<LaneAnswer> {
      did.push(kind)
      if (kind === 'find') return { kind: 'granted', entry }
      return kind === 'release' && released === 'held' ? { kind: 'held', nonce: 7 } : { kind: 'free' }
    },
  }
  const endpoint = fakeEndpoint({
    delivery: fakeDelivery({ call: async () => intent, parties: { ...fakeParties, recipient: alice } }),
    delivered: async () => false,
  })
  const policy = signingPolicy({
    chainName: 'bsc',
    chain: { family: 'evm', networkId: 56, lanes: [], signing: signingLimitsSchema.parse({}) },
    lane: { address: self },
    dataFee: async () => '0',
    finalNonce: async () => 0,
    bridges: [
      {
        bridge: 'native-bridge',
        calls: { [contract]: ['0x11111111'] },
        proveCall: async () => [{ sourceChain: 'ethereum', parties: { recipient: alice, token: 'weth' } }],
      },
    ],
    settings: () => now.settings,
    spendingFolder: temporaryFolder(),
  })
  const sign = async () => (did.push('sign'), { raw: '0x01', hash: '0x02', signingHash: '0x03' })
  const watch = { inclusion: { kind: 'unseen' }, add: () => {}, onChange: () => {}, close: () => {} }
  const chain = {
    ...scriptedChain(() => '0xaa'),
    ...{ networkId: '56', raises: true, blockTimeMs: 1_000, watch: () => watch, send: async () => ({ kind: 'accepted' }) },
  } as unknown as Chain
  const signer = withPolicy({ address: self, sign }, policy)
  const agent = new LaneAgent({
    chain,
    signer,
    signedBelow: async () => undefined,
    ledger,
    config: { lane },
    logger: silentLogger(),
    bumpAfterBlocks: 1,
  } as unknown as LaneDeps)
  const waiting = {
    ...{ lane, view: undefined },
    async acquire(request: NonceRequest) {
      await agent.checkSigning(request)
      if (order) now.settings = applySettingsOrders(noSettings, { by: 'ops', reason: 'a test', orders: [order] }, 1)
      return agent.find(request)
    },
    giveUp: agent.giveUp.bind(agent),
  }
  const broadcast = createBroadcast({
    agent: waiting,
    chain,
    bridges: bridgesWith(endpoint),
    settings: () => noSettings,
    followMs: 0,
  } as never)
  const input: BroadcastInput = {
    ...{ lane, intentId: 'transfer-1/1', transfer: nativeTransfer(), callHash: callHash(intent), mode: 'new', priority: 3 },
    ...{ gasLimit: '100000', maxFee: '10', tip: '1' },
  }
  const info = { attempt: 1, currentAttemptScheduledTimestampMs: Date.now(), heartbeatTimeoutMs: 10_000 }
  const context = { cancellationSignal: new AbortController().signal, info }
  return { did, got: () => broadcast(input, context as never, () => {}) }
}

const orders = [
  ['HALTED', { kind: 'halt', scope: { sourceChain: 'ethereum' } }],
  ['RECIPIENT_DENIED', { kind: 'deny', what: 'recipient', value: alice }],
  ['TOKEN_DENIED', { kind: 'deny', what: 'token', value: 'weth' }],
] as const satisfies readonly (readonly [string, SettingsOrder])[]

test.each(orders)('an order (%s) during the wait for a nonce prevents the signature, and the nonce goes back', async (code, order) => {
  const { did, got } = setting(order)
  expect(await got()).toMatchObject({ kind: 'no-slot', code })
  expect(did).toEqual(['find', 'release'])
})

test.each(orders)('an order (%s) prevents the signature, and a nonce that cannot go back is filled and followed', async (_, order) => {
  const { did, got } = setting(order, 'held')
  expect(await got()).toMatchObject({ kind: 'pending', nonce: 7 })
  expect(did).toEqual(['find', 'release', 'fill'])
})

test('without an order, the nonce is signed and used', async () => {
  const { did, got } = setting(undefined)
  expect(await got()).toMatchObject({ kind: 'pending', nonce: 7 })
  expect(did).toEqual(['find', 'sign'])
})
