import { expect, test } from 'vitest'
import { withPolicy } from '../../chains/evm/signers/policy.ts'
import type { ProvedSource } from '../../bridges/port.ts'
import type { SignedTransaction } from '../../chains/signing-port.ts'
import { signingLimitsSchema } from '../../config/schema/lane-schema.ts'
import type { Config } from '../../config/schema/schema.ts'
import { type DenyRule, type HaltScope, noSettings, type Settings } from '../../domain/settings/settings.ts'
import { unread } from '../../temporal/client/settings/settings-watch.ts'
import { signingPolicy } from '../../workers/roles/signer.ts'
import { settingsInForce } from '../../workers/roles/settings-in-force.ts'
import { self } from '../helpers/limited-key.ts'
import { temporaryFolder } from '../helpers/folders.ts'
import { silentLogger } from '../../observability/logger.ts'

const contract = `0x${'a1'.repeat(20)}`
const [fromEthereum, fromBase, fromBoth, toAlice] = ['0x11111111', '0x22222222', '0x33333333', '0x44444444'] as const
const alice = `0x${'a7'.repeat(20)}`
const [payee, token] = [`0x${'a8'.repeat(20)}`, `2/${'c3'.repeat(32)}`]
const sources: Record<string, readonly ProvedSource[]> = {
  [fromEthereum]: ['ethereum'],
  [fromBase]: ['base'],
  [fromBoth]: ['ethereum', 'base', { bridge: 'cctp', sourceChain: 'polygon' }],
  [toAlice]: ['base', { sourceChain: 'ethereum', parties: { recipient: alice, payee, token } }],
}

const chainOf = (wormholeChainId: number) => ({ wormholeChainId, nodes: [], lanes: [] })
const config = {
  chains: { bsc: chainOf(4), ethereum: chainOf(2), base: chainOf(30), polygon: chainOf(5) },
  bridges: { ntt: {}, cctp: {}, receivers: {} },
} as unknown as Pick<Config, 'bridges' | 'chains'>

/** A key of bsc, with a bridge that proves for each call the sources in `sources`. */
function setting() {
  const now: { settings: Settings } = { settings: noSettings }
  const watch = { current: () => now.settings, subscribe: () => () => true }
  const policy = signingPolicy({
    chainName: 'bsc',
    chain: { family: 'evm', networkId: 56, lanes: [], signing: signingLimitsSchema.parse({}) },
    lane: { address: self },
    dataFee: async () => '0',
    finalNonce: async () => 0,
    bridges: [{ bridge: 'ntt', calls: { [contract]: Object.keys(sources) }, proveCall: async ({ data }) => sources[data] ?? [] }],
    settings: settingsInForce(watch, { config, logger: silentLogger() }),
    spendingFolder: temporaryFolder(),
  })
  const key = { address: self, sign: () => Promise.resolve({ raw: '0x' } as SignedTransaction) }
  const signer = withPolicy(key, policy)
  const transaction = { networkId: '56', gasLimit: '100000', maxFee: '10', tip: '1', to: contract, value: '0' }
  const sign = (data: string, nonce = 1, fee = '10') =>
    signer.sign({ ...transaction, data, nonce, maxFee: fee }).then(
      () => 'signed',
      ({ code }) => code,
    )
  const check = (data: string) =>
    signer.check!({ ...transaction, data }).then(
      () => 'passed',
      ({ code }) => code,
    )
  const halt = (...scopes: readonly HaltScope[]) =>
    (now.settings = { ...noSettings, halts: scopes.map((scope) => ({ scope, by: 'ops', reason: 'a test', at: 0 })) })
  const deny = (...rules: readonly Pick<DenyRule, 'kind' | 'value'>[]) =>
    (now.settings = { ...noSettings, denied: rules.map((rule) => ({ ...rule, by: 'ops', reason: 'a test', at: 0 })) })
  return { now, sign, check, halt, deny }
}

test.each<[HaltScope, ...string[]]>([
  [{ sourceChain: 'ethereum' }, 'HALTED', 'signed', 'HALTED'],
  [{ chain: 'base' }, 'signed', 'HALTED', 'HALTED'],
  [{ bridge: 'ntt', sourceChain: 'base', targetChain: 'bsc' }, 'signed', 'HALTED', 'HALTED'],
  [{ bridge: 'receivers', sourceChain: 'ethereum' }, 'signed', 'signed', 'signed'],
  [{ targetChain: 'base' }, 'signed', 'signed', 'signed'],
  // The third call contains a message of CCTP.
  [{ bridge: 'cctp', targetChain: 'bsc' }, 'signed', 'signed', 'HALTED'],
  [{ chain: 'polygon' }, 'signed', 'signed', 'HALTED'],
  [{ bridge: 'ntt', sourceChain: 'polygon' }, 'signed', 'signed', 'signed'],
  [{}, 'HALTED', 'HALTED', 'HALTED'],
  // Names from before the chains got a node, or another name.
  [{ sourceChain: 'wormhole-30' }, 'signed', 'HALTED', 'HALTED'],
  [{ bridge: 'cctp', chain: 'wormhole-5' }, 'signed', 'signed', 'HALTED'],
  [{ sourceChain: 'mainnet' }, 'HALTED', 'HALTED', 'HALTED'],
  [{ bridge: 'cctp', sourceChain: 'matic' }, 'signed', 'signed', 'HALTED'],
  [{ bridge: 'former-plugin', targetChain: 'bsc' }, 'HALTED', 'HALTED', 'HALTED'],
  [{ bridge: 'former-plugin', targetChain: 'base' }, 'signed', 'signed', 'signed'],
])('a key applies the halt %o to the call that it signs', async (scope, ...wanted) => {
  const { sign, halt } = setting()
  halt(scope)
  const got = []
  for (const [nonce, data] of [fromEthereum, fromBase, fromBoth].entries()) got.push(await sign(data, nonce))
  expect(got).toEqual(wanted)
})

test('a proof from before the halt does not help, and the halt ends with the order', async () => {
  const { sign, check, halt } = setting()
  expect(await check(fromEthereum)).toBe('passed')
  halt({ sourceChain: 'ethereum' })
  expect([await check(fromEthereum), await sign(fromEthereum)]).toEqual(['HALTED', 'HALTED'])
  halt()
  expect(await sign(fromEthereum)).toBe('signed')
})

test('a call that was signed with its nonce before the halt gets higher fees, so that the nonce is mined', async () => {
  const { sign, halt } = setting()
  expect(await sign(fromEthereum, 7)).toBe('signed')
  halt({})
  expect([await sign(fromEthereum, 7, '20'), await sign(fromEthereum, 8)]).toEqual(['signed', 'HALTED'])
})

test.each([
  ['recipient', alice, 'RECIPIENT_DENIED'],
  ['recipient', `bsc/${alice}`, 'RECIPIENT_DENIED'],
  ['recipient', payee, 'RECIPIENT_DENIED'],
  ['token', token, 'TOKEN_DENIED'],
  ['recipient', `base/${alice}`, 'passed'],
  ['recipient', `bnb/${alice}`, 'DENIAL_UNCLEAR'],
  ['recipient', `bnb/${contract}`, 'passed'],
  ['recipient', contract, 'passed'],
] as const)('a key compares the denied %s %s with the parties in the proof of the call: %s', async (kind, value, wanted) => {
  const { sign, check, deny } = setting()
  expect(await check(toAlice)).toBe('passed')
  deny({ kind, value })
  expect([await check(toAlice), await check(fromEthereum)]).toEqual([wanted, 'passed'])
  expect(await sign(toAlice)).toBe(wanted === 'passed' ? 'signed' : wanted)
  deny()
  expect(await sign(toAlice, 7)).toBe('signed')
  deny({ kind, value })
  // The call was signed with this nonce before, so its fee may be raised.
  expect(await sign(toAlice, 7, '20')).toBe('signed')
})

test('no delivery is signed before the settings are read, and the refusal is an outage', async () => {
  const { sign, now } = setting()
  now.settings = unread
  expect(await sign(fromEthereum)).toBe('SETTINGS_UNREACHABLE')
})
