import { concat, hexlify, toBeHex } from 'ethers'
import { describe, expect, test } from 'vitest'
import { createProveCall, receiveIntent } from '../../bridges/cctp/calls.ts'
import type { CctpMessage } from '../../bridges/cctp/message.ts'
import { createRoutes } from '../../bridges/cctp/routes.ts'
import { createVerify, type VerifyOptions } from '../../bridges/cctp/verify.ts'
import { selectorOf } from '../../bridges/kit/calls.ts'
import {
  attest,
  attesters,
  baseTransmitters,
  type BurnFields,
  burnBytes,
  cctpChains,
  cctpRoutes,
  headsAt,
  transmitterReader,
  word,
} from '../helpers/cctp.ts'

const lane = `0x${'1a'.repeat(20)}`
const [v1, v2] = baseTransmitters as [string, string]

function network(options: Partial<VerifyOptions> = {}) {
  const { chain, state } = transmitterReader()
  const base = { chain: { ...chain, heads: headsAt(100) }, routes: cctpRoutes, transmitters: baseTransmitters, lanes: [lane] }
  const { verify } = createVerify({ ...base, finality: 'fast', ownHeights: true, ...options })
  return { state, proveCall: createProveCall(verify) }
}

const signed = (version: 1 | 2, fields: Partial<CctpMessage> = {}, burn: Partial<BurnFields> = {}, by = attesters.slice(0, 2)) => {
  const bytes = burnBytes(version, fields, burn)
  return { bytes, attestation: attest(bytes, by) }
}
const fastFields = { minFinality: 1_000, finalityExecuted: 1_000 }

describe('The calls that a key signs for CCTP', () => {
  test.each([
    ['v1', receiveIntent(v1, signed(1))],
    ['v2', receiveIntent(v2, signed(2))],
    ['v2 with hook data', receiveIntent(v2, signed(2, {}, { hookData: '0xbeef' }))],
    ['a fast message that has not expired', receiveIntent(v2, signed(2, fastFields, { feeExecuted: 5n, expirationBlock: 102n }))],
    ['a message that names a lane as its caller', receiveIntent(v2, signed(2, { destinationCaller: word(lane) }))],
  ])('a key signs the CCTP call with %s', async (_, intent) =>
    expect(await network().proveCall(intent)).toMatchObject([
      { sourceChain: 'ethereum', parties: { recipient: expect.stringMatching(/^0x/) } },
    ]),
  )

  const good = signed(2)
  const call = receiveIntent(v2, good)
  const [longer, changed] = [concat([good.bytes, '0x00']), hexlify(good.bytes).replace('c2c2', 'c4c2')]
  const withBytes = (bytes: string) => receiveIntent(v2, { bytes: Buffer.from(bytes.slice(2), 'hex'), attestation: good.attestation })

  test.each([
    [
      'another function',
      'exactly encoded receiveMessage',
      { ...call, data: `${selectorOf('replaceMessage(bytes,bytes)')}${call.data.slice(10)}` },
    ],
    ['another contract', 'does not call the MessageTransmitter', { ...call, to: lane }],
    ['the transmitter of another version', 'does not call the MessageTransmitter', { ...call, to: v1 }],
    ['coins', 'carries coins', { ...call, value: '1' }],
    ['an attester that is not enabled', 'CCTP_ATTESTATION', receiveIntent(v2, signed(2, {}, {}, [attesters[0]!, attesters[2]!]))],
    ['too few attesters', 'CCTP_ATTESTATION', receiveIntent(v2, signed(2, {}, {}, [attesters[0]!]))],
    ['a changed body', 'CCTP_ATTESTATION', withBytes(changed)],
    ['bytes behind the message', 'CCTP_ATTESTATION', withBytes(longer)],
    ['bytes behind the call', 'exactly encoded receiveMessage', { ...call, data: `${call.data}${'00'.repeat(32)}` }],
    ['another encoding', 'exactly encoded receiveMessage', { ...call, data: call.data.replace('40', '60') }],
    [
      'another destination domain',
      'TARGET_CHAIN_UNSUPPORTED',
      receiveIntent(v2, signed(2, { destinationDomain: 0, recipient: cctpChains[0]!.contracts[2]!.tokenMessenger })),
    ],
    ['a destination outside the config', 'TARGET_CHAIN_UNSUPPORTED', receiveIntent(v2, signed(2, { destinationDomain: 5 }))],
    ['a sender that is no TokenMessenger', 'PAYLOAD_KIND', receiveIntent(v2, signed(2, { sender: word(lane) }))],
    ['a recipient that is no TokenMessenger', 'PAYLOAD_KIND', receiveIntent(v2, signed(2, { recipient: word(lane) }))],
    ['a caller that is no lane', 'CCTP_CALLER', receiveIntent(v2, signed(2, { destinationCaller: word(v1) }))],
    ['a message that Circle gave no nonce', 'CCTP_MESSAGE', receiveIntent(v2, signed(2, { nonce: toBeHex(0, 32) }))],
    [
      'a finality below what its sender asked for',
      'CCTP_NOT_ATTESTED',
      receiveIntent(v2, signed(2, { ...fastFields, minFinality: 2_000 })),
    ],
    ['no message', 'CCTP_MESSAGE', receiveIntent(v2, { bytes: new Uint8Array(), attestation: new Uint8Array() })],
  ])('a key does not sign %s: %s', (_, why, intent) =>
    expect(network().proveCall(intent)).rejects.toMatchObject({ code: 'CALL_UNJUSTIFIED', message: expect.stringContaining(why) }),
  )

  test('a key signs no expired CCTP message until it is attested again', async () => {
    const expired = receiveIntent(v2, signed(2, fastFields, { expirationBlock: 101n }))
    await expect(network().proveCall(expired)).rejects.toMatchObject({
      code: 'CALL_UNJUSTIFIED',
      message: expect.stringContaining('CCTP_EXPIRED'),
    })
    await network({ ownHeights: false }).proveCall(expired)
    await network().proveCall(receiveIntent(v2, signed(2, { minFinality: 1_000 })))
  })

  test('a key signs no fast CCTP message where the config asks for finalized ones', async () => {
    const { proveCall } = network({ finality: 'finalized' })
    await expect(proveCall(receiveIntent(v2, signed(2, fastFields)))).rejects.toMatchObject({ code: 'CALL_UNJUSTIFIED' })
    await proveCall(receiveIntent(v2, signed(2, { minFinality: 1_000 })))
  })

  test('a key signs no burn that the lists of the config leave out', async () => {
    const listed = (...senders: readonly string[]) => network({ routes: createRoutes(cctpChains, { senders, recipients: [] }) })
    await listed(word(`0x${'c3'.repeat(20)}`)).proveCall(call)
    await expect(listed(word(lane)).proveCall(call)).rejects.toMatchObject({
      code: 'CALL_UNJUSTIFIED',
      message: expect.stringContaining('CCTP_UNPAID'),
    })
  })

  test('a key signs no CCTP message while no node says who the attesters are, which is no refusal', async () => {
    const { proveCall, state } = network()
    state.up = false
    await expect(proveCall(call)).rejects.toMatchObject({ code: 'NODE_UNAVAILABLE' })
  })
})
