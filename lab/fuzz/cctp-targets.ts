import { concat, toBeHex } from 'ethers'
import { checkAttestation } from '../../bridges/cctp/attesters.ts'
import { decodeReceive, receiveIntent, sentMessage, sentTopic } from '../../bridges/cctp/calls.ts'
import { readCarried, writeCarried } from '../../bridges/cctp/carried.ts'
import { readBurn, readMessage } from '../../bridges/cctp/message.ts'
import { explainRevert } from '../../bridges/cctp/reverts.ts'
import { createDecode, createRoutes } from '../../bridges/cctp/routes.ts'
import { writeMessage } from '../devnet/cctp/write-message.ts'
import { nearlyBytes, orLongBytes } from './arbitraries.ts'
import { type FuzzTarget, target } from './fuzz.ts'

const address = `0x${'ab'.repeat(20)}`
const word = `0x${'ab'.repeat(20).padStart(64, '0')}`
const contracts = { 1: { transmitter: address, tokenMessenger: word }, 2: { transmitter: address, tokenMessenger: word } }
const ends = ['ethereum', 'base'].map((chain, domain) => ({ chain, networkId: String(domain), domain, contracts }))
const routes = createRoutes(ends)
const decode = createDecode(routes)

const body = Buffer.from(
  concat(['0x00000001', word, word, ...[5, 0, 1, 0, 0].map((value) => toBeHex(value, 32)), '0xbeef']).slice(2),
  'hex',
)
const ofV2 = {
  version: 2,
  sourceDomain: 0,
  destinationDomain: 1,
  nonce: `0x${'11'.repeat(32)}`,
  minFinality: 1_000,
  finalityExecuted: 1_000,
} as const
/** A burn without attesters' signatures. */
export const goodBurn = Buffer.from(
  writeMessage({ ...ofV2, sender: word, recipient: word, destinationCaller: `0x${'00'.repeat(32)}`, body }),
)
const attestation = Buffer.alloc(130, 27)
const carried = Buffer.from(
  writeCarried({ number: '12000003', txHash: `0x${'cd'.repeat(32)}`, twin: 0, twins: 1, attestation, bytes: goodBurn }),
)
const call = Buffer.from(receiveIntent(address, { bytes: goodBurn, attestation }).data.slice(2), 'hex')
const data = Buffer.from(
  concat([toBeHex(32, 32), toBeHex(goodBurn.length, 32), goodBurn, `0x${'00'.repeat(32 - (goodBurn.length % 32))}`]).slice(2),
  'hex',
)

const bytesOf = (hex: string) => Buffer.from(hex, 'hex')
const near = (good: Buffer) => orLongBytes(nearlyBytes(good), good)

export const cctpTargets: readonly FuzzTarget[] = [
  target('cctp-transfer', near(carried), (hex) => decode(bytesOf(hex))),
  target('cctp-message', near(goodBurn), (hex) => {
    const message = readMessage(bytesOf(hex))
    return [readBurn(message), routes.of(message)]
  }),
  target('cctp-log', near(data), (hex) => readCarried(sentMessage({ topics: [sentTopic], data: `0x${hex}` }))),
  target('cctp-call', near(call), (hex) => {
    const received = decodeReceive(`0x${hex}`)
    // A key may sign only the exact bytes that encode the values that the reader returned.
    if (received && receiveIntent(address, received).data.toLowerCase() !== `0x${hex}`.toLowerCase()) throw new Error('other bytes')
  }),
  target('cctp-attestation', near(attestation), (hex) =>
    checkAttestation({ bytes: goodBurn, attestation: bytesOf(hex) }, { threshold: 2, enabled: new Set([address]) }),
  ),
  target(
    'cctp-revert',
    near(attestation),
    (hex) => explainRevert({ data: '0x', reason: bytesOf(hex).toString('latin1') }),
    () => false,
  ),
]
