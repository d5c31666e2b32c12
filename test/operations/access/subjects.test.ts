import { expect, test } from 'vitest'
import { aboutSettings, aboutStream, aboutTransfer } from '../../../operations/access/subjects.ts'
import type { OrderSubject } from '../../../domain/access.ts'
import type { SettingsOrder } from '../../../domain/settings/settings.ts'

const everything: OrderSubject = {}
const chains = (...names: readonly string[]): OrderSubject => ({ chains: names })
const lane = `evm-56:0x${'Ab'.repeat(20)}`
const token = { name: 'alice', level: 'read', jti: 'j', kid: 'k', issuedAt: 0, expiresAt: 1, chains: ['bsc'] } as const

test.each<[SettingsOrder, OrderSubject]>([
  [{ kind: 'halt', scope: {} }, everything],
  [{ kind: 'halt', scope: { bridge: 'ntt' } }, everything],
  [{ kind: 'halt', scope: { chain: 'bsc' } }, chains('bsc')],
  [{ kind: 'unhalt', scope: { bridge: 'ntt', sourceChain: 'base', targetChain: 'bsc' } }, chains('base', 'bsc')],
  [{ kind: 'deny', what: 'recipient', value: 'bsc/0xaa' }, chains('bsc')],
  [{ kind: 'allow', what: 'recipient', value: 'bsc/0xaa' }, chains('bsc')],
  [{ kind: 'allow', what: 'recipient', value: '0xaa' }, everything],
  // The number is the chain of the token's origin. The token may arrive at any chain.
  [{ kind: 'deny', what: 'token', value: '4/aa' }, everything],
  [{ kind: 'setFees', scope: { kind: 'lane', lane }, policy: {} }, { lane: lane.toLowerCase() }],
  [{ kind: 'setFees', scope: { kind: 'chain', chain: 'bsc' }, policy: {} }, chains('bsc')],
  [{ kind: 'setFees', scope: { kind: 'call', chain: 'bsc', contract: '0xaa' }, policy: {} }, chains('bsc')],
  [{ kind: 'setFees', scope: { kind: 'transfer', id: 'x' }, policy: {} }, everything],
  [{ kind: 'setFees', scope: { kind: 'global' }, policy: {} }, everything],
  [{ kind: 'setTariff', scope: { kind: 'route', source: 'base', target: 'bsc' }, tariff: {} }, chains('base', 'bsc')],
  [{ kind: 'setTariff', scope: { kind: 'route', target: 'bsc' }, tariff: {} }, chains('bsc')],
  [{ kind: 'setTariff', scope: { kind: 'fee', chain: 'bsc', token: '0xaa' }, tariff: {} }, chains('bsc')],
  [{ kind: 'setTariff', scope: { kind: 'asset', token: '4/aa' }, tariff: {} }, everything],
  [{ kind: 'setNode', change: { chain: 'bsc', name: 'node-1', disabled: true } }, chains('bsc')],
  [{ kind: 'clearNode', chain: 'bsc', name: 'node-1' }, chains('bsc')],
  [{ kind: 'addToken', token }, everything],
  [{ kind: 'revokeToken', jti: 'j' }, everything],
])('an order concerns the chains or the lane that it names, and otherwise everything: %j', (order, subject) => {
  expect(aboutSettings([order])).toEqual(subject)
})

const ofBsc: SettingsOrder = { kind: 'halt', scope: { chain: 'bsc' } }
const ofBase: SettingsOrder = { kind: 'clearNode', chain: 'base', name: 'node-1' }
const ofLane: SettingsOrder = { kind: 'setFees', scope: { kind: 'lane', lane }, policy: {} }
test.each<[string, SettingsOrder[], OrderSubject]>([
  ['no order', [], chains()],
  ['chains', [ofBsc, ofBase, ofBsc], chains('bsc', 'base')],
  ['a chain, then everything', [ofBsc, { kind: 'halt', scope: {} }], everything],
  ['everything, then a chain', [{ kind: 'halt', scope: {} }, ofBsc], everything],
  ['a lane, which is on one chain, twice', [ofLane, ofLane], everything],
])('orders that are given together concern what all of them concern together: %s', (_, orders, subject) => {
  expect(aboutSettings(orders)).toEqual(subject)
})

test.each<[string, OrderSubject]>([
  ['native-bridge:base:bsc', chains('base', 'bsc')],
  [`wormhole-token-bridge:base:${'0'.repeat(64)}`, chains('base')],
  [`a-bridge:Base:bsc`, chains('bsc')],
  ['a-bridge', everything],
])("a stream's order concerns the chains in the stream's name, and else everything: %s", (stream, subject) => {
  expect(aboutStream(stream)).toEqual(subject)
})

test("a transfer's order concerns the target chain, and everything while the target is not known", () => {
  expect([aboutTransfer('bsc'), aboutTransfer(undefined)]).toEqual([chains('bsc'), everything])
})
