import { expect, test } from 'vitest'
import { createRouteEndpoint } from '../../bridges/packages/endpoints.ts'
import { withPolicy } from '../../chains/evm/signers/policy.ts'
import type { SignedTransaction } from '../../chains/signing-port.ts'
import { signingLimitsSchema } from '../../config/schema/lane-schema.ts'
import { applySettingsOrders, denialOf, noSettings, type Settings, type SettingsOrder } from '../../domain/settings/settings.ts'
import { signingPolicy } from '../../workers/roles/signer.ts'
import { temporaryFolder } from '../helpers/folders.ts'
import { self } from '../helpers/limited-key.ts'
import { signVaa } from '../helpers/vaa.ts'

const [contract, alice] = [`0x${'aa'.repeat(20)}`, `0x${'a1'.repeat(20)}`]
const token = 'c3'.repeat(20).padStart(64, '0')
const [emitter, payload] = ['e'.repeat(64), `0x01${alice.slice(2)}${token}`]
const message = signVaa({ emitterChain: 2, emitter, sequence: 7n, payload }, { guardians: 1 }).bytes
const calls = [{ contract, function: 'take(bytes)', proof: 'message' as const }]

/** The endpoint in a process that has a key, and that does not run the plug-in's code. */
const endpoint = createRouteEndpoint({
  ...{ name: 'mine', routes: [{ from: [{ source: 'ethereum', emitter }], to: 'bsc', calls }], verify: async () => {} },
  chainNames: new Map([
    [2, 'ethereum'],
    [4, 'bsc'],
  ]),
  chain: { name: 'bsc', call: async () => '0x' },
})
const forged = { to: contract, function: 'take(bytes)', effect: [], recipient: `0x${'b0'.repeat(20)}`, token: 'harmless' }
const delivery = endpoint.planned!(forged).delivery({ message: Buffer.from(message).toString('base64') } as never)

const after = (...orders: readonly SettingsOrder[]) => applySettingsOrders(noSettings, { by: 'ops', reason: 'a test', orders }, 1)
const denied = (what: 'recipient' | 'token', value: string) => after({ kind: 'deny', what, value })

function keyOf(bridge: typeof endpoint) {
  const now: { settings: Settings } = { settings: noSettings }
  const policy = signingPolicy({
    chainName: 'bsc',
    chain: { family: 'evm', networkId: 56, lanes: [], signing: signingLimitsSchema.parse({}) },
    lane: { address: self },
    dataFee: async () => '0',
    finalNonce: async () => 0,
    bridges: [{ ...bridge, bridge: 'mine' }],
    settings: () => now.settings,
    spendingFolder: temporaryFolder(),
  })
  const signer = withPolicy({ address: self, sign: () => Promise.resolve({ raw: '0x' } as SignedTransaction) }, policy)
  const sign = async (nonce: number) =>
    signer.sign({ ...(await delivery.call()), networkId: '56', nonce, gasLimit: '100000', maxFee: '10', tip: '1' }).then(
      () => 'signed',
      ({ code }) => code,
    )
  return { now, sign }
}

const rules: readonly (readonly ['recipient' | 'token', string, boolean])[] = [
  ['recipient', alice, true],
  ['recipient', `bsc/${alice}`, true],
  ['recipient', `ethereum/${alice}`, false],
  ['recipient', contract, true],
  ['recipient', `0x${'dd'.repeat(20)}`, false],
  ['token', `2/${token}`, true],
  ['token', `2/${'dd'.repeat(32)}`, false],
]

test.each(rules)('a key does not sign a forged plan that hides the denied %s %s: %s', async (what, value, isDenied) => {
  const { now, sign } = keyOf(endpoint)
  expect(await sign(1)).toBe('signed')
  now.settings = denied(what, value)
  expect(await sign(2)).toBe(isDenied ? { recipient: 'RECIPIENT_DENIED', token: 'TOKEN_DENIED' }[what] : 'signed')
  // A denial must not keep the key from raising the fee of a signed call.
  expect(await sign(1)).toBe('signed')
})

test.each(rules)('the parties of a call end a transfer of the denied %s %s: %s', (what, value, isDenied) => {
  const denial = denialOf(denied(what, value), delivery.parties)
  expect(denial?.kind).toBe(isDenied ? 'declined' : undefined)
})

test("the calls of Portage's own products are not searched, because their proofs name the parties", async () => {
  const { planned: _, ...own } = endpoint
  const { now, sign } = keyOf(own)
  now.settings = denied('recipient', alice)
  expect(await sign(1)).toBe('signed')
})
