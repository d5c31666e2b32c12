import { AbiCoder, concat, Interface } from 'ethers'
import { describe, expect, test } from 'vitest'
import { createProveCall, selectorOf } from '../../bridges/kit/calls.ts'
import { createProve } from '../../bridges/kit/signed-messages.ts'
import { tokenBridgeMessages } from '../../lab/devnet/wormhole/token-bridge-messages.ts'
import { RelayerError } from '../../domain/catalogue/errors.ts'
import { unused } from '../helpers/unused.ts'
import { signVaa, transferPayload } from '../helpers/vaa.ts'

const address = (digit: string) => `0x${digit.repeat(40)}`
const [tokenBridge, redeemer, stranger] = ['a', 'b', 'c'].map(address) as [string, string, string]
const universal = (of: string) => of.slice(2).padStart(64, '0')
const call = 'redeem(bytes)'
const names = new Map([
  [2, 'ethereum'],
  [4, 'bsc'],
])

function message(kind: 1 | 3, to: string): Uint8Array {
  const payload = transferPayload({ kind, token: universal(address('d')), tokenChain: 4, toChain: 2, to: universal(to) })
  return signVaa({ emitterChain: 4, emitter: universal(address('e')), sequence: 7n, payload }).bytes
}

function encoded(signature: string, vaa: Uint8Array): string {
  return concat([selectorOf(signature), AbiCoder.defaultAbiCoder().encode(['bytes'], [vaa])])
}

describe('Which call of the token bridge a VAA justifies', () => {
  /** Proves calls, with `verify` in place of the check of signatures. Other tests verify real signatures. */
  const proving = (verify: () => Promise<void>, demandAccepted = verify, calls = {}) => {
    const { routes } = tokenBridgeMessages(names, { ethereum: { tokenBridge, calls } }).product
    const chain = { name: 'ethereum', call: unused('call') }
    return createProveCall({ chain, routes, chainNames: names, prove: createProve(chain, verify, demandAccepted) })
  }
  const proveCall = proving(async () => {}, undefined, { [redeemer]: call })
  const [plain, withCall, withOtherCall] = [message(1, stranger), message(3, redeemer), message(3, stranger)]

  test.each([
    ['a transfer by completeTransfer', { to: tokenBridge, data: encoded('completeTransfer(bytes)', plain) }],
    ['a transfer of the wrapped coin', { to: tokenBridge, data: encoded('completeTransferAndUnwrapETH(bytes)', plain) }],
    ['a payload 3 by the function of its recipient', { to: redeemer, data: encoded(call, withCall) }],
  ])('a VAA justifies %s', (_, intent) => expect(proveCall({ ...intent, value: '0' })).resolves.toEqual(['bsc']))

  const twoArguments = new Interface(['function redeem(bytes vaa, uint256 more)']).encodeFunctionData('redeem', [withCall, 1])
  // A second encoding of the same VAA: the offset points one word further, and the skipped word could hide data.
  const usual = encoded('completeTransfer(bytes)', plain)
  const shifted = `${usual.slice(0, 10)}${'40'.padStart(64, '0')}${'00'.repeat(32)}${usual.slice(74)}`
  test.each([
    ['a payload 3 by the token bridge', { to: tokenBridge, data: encoded('completeTransfer(bytes)', withCall) }],
    ['a payload 3 for another contract', { to: redeemer, data: encoded(call, withOtherCall) }],
    ['a payload 3 by another function', { to: redeemer, data: encoded('burn(bytes)', withCall) }],
    ['a payload 3 of a recipient without a configured call', { to: stranger, data: encoded(call, withOtherCall) }],
    ['a transfer by the function of another contract', { to: redeemer, data: encoded(call, plain) }],
    ['another function of the token bridge', { to: tokenBridge, data: encoded('upgrade(bytes)', plain) }],
    ['more arguments', { to: redeemer, data: twoArguments }],
    ['an encoding of its own', { to: tokenBridge, data: shifted }],
    ['coins', { to: tokenBridge, data: encoded('completeTransfer(bytes)', plain), value: '1' }],
  ])('a VAA does not justify %s', (_, intent) =>
    expect(proveCall({ value: '0', ...intent })).rejects.toMatchObject({ code: 'CALL_UNJUSTIFIED' }),
  )

  test.each([
    ['VAA_SIGNATURE_INVALID', 'CALL_UNJUSTIFIED'],
    ['EMITTER_UNKNOWN', 'CALL_UNJUSTIFIED'],
    ['GUARDIAN_SET_UNKNOWN', 'GUARDIAN_SET_UNKNOWN'],
    ['NODE_UNAVAILABLE', 'NODE_UNAVAILABLE'],
  ] as const)('%s of the message is %s of the call', async (found, code) => {
    const refuses = () => Promise.reject(new RelayerError(found))
    for (const proves of [proving(refuses, unused('demandAccepted')), proving(async () => {}, refuses)])
      await expect(proves({ to: tokenBridge, data: usual, value: '0' })).rejects.toMatchObject({ code })
  })
})
