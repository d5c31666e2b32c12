import fc from 'fast-check'
import { AbiCoder, concat, getBytes, hexlify, keccak256, toBeHex } from 'ethers'
import { circle } from '@wormhole-foundation/sdk-base'
import { CircleBridge } from '@wormhole-foundation/sdk-definitions'
import { describe, expect, test } from 'vitest'
import { readCarried, writeCarried } from '../../bridges/cctp/carried.ts'
import { decodeReceive, receiveIntent, receiveSelector, sentMessage, sentTopic } from '../../bridges/cctp/calls.ts'
import {
  type CctpMessage,
  type CctpVersion,
  isFinalEnough,
  loggedBytes,
  readBurn,
  readMessage,
  usedNonceKey,
  zeroWord,
} from '../../bridges/cctp/message.ts'
import { contentOf, createDecode, createRoutes } from '../../bridges/cctp/routes.ts'
import { mayDeliver } from '../../bridges/cctp/verify.ts'
import { writeMessage } from '../../lab/devnet/cctp/write-message.ts'
import { RelayerError } from '../../domain/catalogue/errors.ts'
import { attest, burnBody, burnBytes, burnMessage, carriedOf, cctpChains, cctpRoutes, word } from '../helpers/cctp.ts'
import { codeOf } from '../helpers/refusals.ts'
import { altered } from '../helpers/vaa.ts'

const versions = [1, 2] as const
const u32 = fc.nat({ max: 0xffffffff })
const hex = (length: number) => fc.uint8Array({ minLength: length, maxLength: length }).map((bytes) => hexlify(bytes))
const bytes = fc.uint8Array({ maxLength: 600 })
const messages = (version: CctpVersion): fc.Arbitrary<CctpMessage> => {
  const finality = version === 1 ? fc.constant(2_000) : u32
  return fc.record({
    version: fc.constant(version),
    ...{ sourceDomain: u32, destinationDomain: u32, nonce: hex(version === 1 ? 8 : 32) },
    ...{ sender: hex(32), recipient: hex(32), destinationCaller: hex(32) },
    ...{ minFinality: finality, finalityExecuted: finality, body: bytes },
  })
}

describe.each(versions)('Messages of version %i', (version) => {
  test('every message reads as it was written', () => {
    fc.assert(
      fc.property(messages(version), (message) => {
        expect(readMessage(writeMessage(message))).toEqual(message)
      }),
    )
  })

  test('all bytes that are a message are written as they were read', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 400 }), (rest) => {
        const junk = getBytes(concat([toBeHex(version - 1, 4), rest]))
        const least = version === 1 ? 116 : 148
        if (junk.length < least) expect(codeOf(() => readMessage(junk))).toBe('CCTP_MESSAGE')
        else expect(hexlify(writeMessage(readMessage(junk)))).toBe(hexlify(junk))
      }),
    )
  })

  test('a burn has exactly the length and the version of its kind', () => {
    const body = burnBody(version)
    expect(readBurn({ version, body })).toMatchObject({ amount: 1_000_000n, maxFee: version === 1 ? 0n : 500n })
    const longer = getBytes(concat([body, '0x01']))
    expect(codeOf(() => readBurn({ version, body: longer }))).toBe(version === 1 ? 'CCTP_MESSAGE' : 'none')
    for (const bad of [new Uint8Array(), body.subarray(0, -1), altered(body, 3, version), altered(body, 0, 1)])
      expect(codeOf(() => readBurn({ version, body: bad }))).toBe('CCTP_MESSAGE')
  })
})

test.each([
  [new Uint8Array()],
  [getBytes('0x000000')],
  [getBytes(`0x00000002${'00'.repeat(300)}`)],
  [getBytes(`0x01000000${'00'.repeat(300)}`)],
])('bytes of no version are refused: %s', (junk) => expect(codeOf(() => readMessage(junk))).toBe('CCTP_MESSAGE'))

test('a v1 burn is read as by the Wormhole SDK', () => {
  const message = burnMessage(1, {}, { amount: 123_456n })
  const [read] = CircleBridge.deserialize(writeMessage(message))
  expect(read).toMatchObject({ sourceDomain: 0, destinationDomain: 6, nonce: 7n, payload: { amount: 123_456n } })
  expect(read.payload.mintRecipient.toString()).toBe(readBurn(message).mintRecipient)
  expect(circle.circleChainId('Mainnet', 'Base')).toBe(6)
})

describe('An attestation may change', () => {
  const logged = burnBytes(2, { nonce: zeroWord, finalityExecuted: 0, minFinality: 1_000 }, { hookData: '0xbeef' })
  const attested = burnBytes(
    2,
    { finalityExecuted: 1_000, minFinality: 1_000 },
    { feeExecuted: 100n, expirationBlock: 9n, hookData: '0xbeef' },
  )

  test('an attestation may change nonce, finality, fee and expiration of a v2 burn', () =>
    expect(hexlify(loggedBytes(attested))).toBe(hexlify(logged)))

  test('every other byte of a v2 burn shows in the logged bytes, and those four fields never do', () => {
    const free = (at: number) => (at >= 12 && at < 44) || (at >= 144 && at < 148) || (at >= 312 && at < 376)
    const digest = keccak256(loggedBytes(attested))
    for (let at = 0; at < attested.length; at++) {
      const changed = altered(attested, at, (attested[at] ?? 0) ^ 0x40)
      const same = codeOf(() => loggedBytes(changed)) === 'none' && keccak256(loggedBytes(changed)) === digest
      expect(same, `byte ${at}`).toBe(free(at))
    }
  })

  test('an attestation may change nothing of a v1 message', () => {
    const bytes = burnBytes(1)
    expect(loggedBytes(bytes)).toBe(bytes)
  })
})

test('the key of a used nonce is the nonce of v2, and the hash of domain and nonce of v1', () => {
  expect(usedNonceKey(burnMessage(2))).toBe(`0x${'5e'.repeat(32)}`)
  expect(usedNonceKey(burnMessage(1, { sourceDomain: 3 }))).toBe(keccak256('0x000000030000000000000007'))
})

test.each([
  [1_000, 1_000, true, false],
  [500, 1_000, true, false],
  [0, 999, false, false],
  [1_000, 2_000, true, true],
  [1_001, 1_000, false, false],
  [2_000, 2_000, true, true],
  [4_000, 2_000, true, true],
  [2_000, 0, false, false],
])(
  'a message for finality %i that is attested at %i is final enough: fast %s, finalized %s',
  (minFinality, finalityExecuted, ...expected) => {
    const message = burnMessage(2, { minFinality, finalityExecuted })
    expect([isFinalEnough(message, 'fast'), isFinalEnough(message, 'finalized')]).toEqual(expected)
  },
)

test('a message that names its caller is delivered only by the lane with this address', () => {
  const lane = `0x${'1a'.repeat(20)}`
  const deliver = (destinationCaller: string) => mayDeliver({ destinationCaller }, [lane])
  expect([zeroWord, word(lane), word(`0x${'1b'.repeat(20)}`), `0x01${word(lane).slice(4)}`].map(deliver)).toEqual([
    true,
    true,
    false,
    false,
  ])
})

describe('receiveMessage(bytes,bytes)', () => {
  const coder = AbiCoder.defaultAbiCoder()

  test('calls are encoded as by ethers, and read back', () => {
    fc.assert(
      fc.property(bytes, bytes, (message, attestation) => {
        const { data } = receiveIntent('0x', { bytes: message, attestation })
        expect(data).toBe(concat([receiveSelector, coder.encode(['bytes', 'bytes'], [message, attestation])]))
        const found = decodeReceive(data)
        expect(found && [hexlify(found.bytes), hexlify(found.attestation)]).toEqual([hexlify(message), hexlify(attestation)])
      }),
    )
    expect(receiveSelector).toBe('0x57ecfd28')
  })

  test('altered calls are read only if they encode to the same bytes', () => {
    fc.assert(
      fc.property(
        bytes,
        bytes,
        fc.nat(),
        fc.nat({ max: 255 }),
        fc.constantFrom('change', 'cut', 'append'),
        (message, attestation, at, value, how) => {
          const good = getBytes(receiveIntent('0x', { bytes: message, attestation }).data)
          const place = how === 'change' && at % 2 === 0 ? at % 100 : at % good.length
          const bad =
            how === 'cut'
              ? good.subarray(0, place)
              : how === 'append'
                ? getBytes(concat([good, toBeHex(0, (at % 40) + 1)]))
                : altered(good, place, value)
          const found = decodeReceive(hexlify(bad))
          if (found) expect(receiveIntent('0x', found).data).toBe(hexlify(bad))
          else expect(hexlify(bad)).not.toBe(hexlify(good))
        },
      ),
      { numRuns: 300 },
    )
  })
})

describe('MessageSent logs', () => {
  const log = (message: Uint8Array) => ({ topics: [sentTopic], data: AbiCoder.defaultAbiCoder().encode(['bytes'], [message]) })

  test('MessageSent logs are read if their data is exactly one encoded message', () => {
    fc.assert(
      fc.property(bytes, (message) => {
        expect(hexlify(sentMessage(log(message)))).toBe(hexlify(message))
      }),
    )
    expect(sentTopic).toBe('0x8c5261668696ce22758910d05bab8f186d6eb247ceac2af2e82c7dc17669b036')
  })

  test.each([
    ['another event', { topics: [zeroWord] }],
    ['another topic', { topics: [sentTopic, zeroWord] }],
    ['a word behind the message', { data: `${log(burnBytes(1)).data}${'00'.repeat(32)}` }],
    ['padding that is not zero', { data: log(burnBytes(1)).data.replace(/0$/, '1') }],
    ['a wrong offset', { data: log(burnBytes(1)).data.replace('20', '40') }],
    ['no data', { data: '0x' }],
  ])('MessageSent logs are refused with %s', (_, change) =>
    expect(codeOf(() => sentMessage({ ...log(burnBytes(1)), ...change }))).toBe('NODE_REFUSED'),
  )
})

describe('The message of a transfer', () => {
  const decode = createDecode(cctpRoutes)
  const logged = burnBytes(2, { nonce: zeroWord, finalityExecuted: 0 })
  const attested = burnBytes(2, {}, { feeExecuted: 100n })

  test('the message of a transfer is read as it was written', () => {
    for (const carried of [carriedOf(logged), carriedOf(attested, { attestation: attest(attested), twin: 2, twins: 3 })])
      expect(writeCarried(readCarried(writeCarried(carried)))).toEqual(writeCarried(carried))
  })

  test('the message of a transfer names the same transfer before and after it is attested', () => {
    const [before, after] = [carriedOf(logged), carriedOf(attested, { attestation: attest(attested) })].map((one) =>
      decode(writeCarried(one)),
    )
    expect({ ...after, message: '' }).toEqual({ ...before, message: '' })
    expect(before).toMatchObject({ bridge: 'cctp', sourceChain: 'ethereum', sourceId: '1337', targetChain: 'base', sequence: '12000003' })
    expect(contentOf(attested, cctpRoutes.of(readMessage(attested)))).toEqual({
      amount: '999900',
      token: `1337/${word(`0x${'c1'.repeat(20)}`).slice(2)}`,
      recipient: `0x${'c2'.repeat(20)}`,
    })
  })

  test.each([
    ['a nonce that no source logs', carriedOf(attested), 'CCTP_MESSAGE'],
    ['an attestation without a nonce', carriedOf(logged, { attestation: attest(logged) }), 'CCTP_MESSAGE'],
    ['a place above the count of equal logs', carriedOf(logged, { twin: 1 }), 'CCTP_MESSAGE'],
    [
      'a sender that is no TokenMessenger',
      carriedOf(burnBytes(2, { nonce: zeroWord, finalityExecuted: 0, sender: word('0x01') })),
      'PAYLOAD_KIND',
    ],
    ['another recipient', carriedOf(burnBytes(1, { recipient: word('0x01') })), 'PAYLOAD_KIND'],
    ['a source outside the config', carriedOf(burnBytes(1, { sourceDomain: 5 })), 'PAYLOAD_KIND'],
    ['a target outside the config', carriedOf(burnBytes(1, { destinationDomain: 5 })), 'TARGET_CHAIN_UNSUPPORTED'],
  ])('the message of a transfer is refused for %s', (_, carried, code) => expect(codeOf(() => decode(writeCarried(carried)))).toBe(code))

  test.each([
    ['a listed sender', { senders: [`0x${'c3'.repeat(20)}`], recipients: [] }, undefined],
    ['a listed recipient', { senders: [], recipients: [`0x${'c2'.repeat(20)}`] }, undefined],
    ['others alone', { senders: [`0x${'c2'.repeat(20)}`], recipients: [`0x${'c3'.repeat(20)}`] }, 'CCTP_UNPAID'],
  ])('with lists in the config, a burn is delivered for %s', (_, { senders, recipients }, code) => {
    const routes = createRoutes(cctpChains, { senders: senders.map(word), recipients: recipients.map(word) })
    expect(codeOf(() => createDecode(routes)(writeCarried(carriedOf(logged))))).toBe(code ?? 'none')
  })

  test('junk gets no error but those of the catalogue', () => {
    const good = writeCarried(carriedOf(attested, { attestation: attest(attested) }))
    const mutants = fc.tuple(fc.nat({ max: good.length - 1 }), fc.nat({ max: 255 }), fc.nat({ max: good.length }))
    fc.assert(
      fc.property(
        fc.oneof(
          fc.uint8Array({ maxLength: 700 }),
          mutants.map(([at, value, end]) => altered(good, at, value).subarray(0, end)),
        ),
        (junk) => {
          try {
            expect(decode(junk).message).toBe(Buffer.from(junk).toString('base64'))
          } catch (error) {
            expect(error).toBeInstanceOf(RelayerError)
          }
        },
      ),
      { numRuns: 500 },
    )
  })
})
