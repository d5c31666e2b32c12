import { concat, dataSlice, getBytes, hexlify, keccak256, toBeHex } from 'ethers'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { readNttMessage, recipientManagerAt, targetChainAt } from '../../bridges/ntt/message.ts'
import { codeOf } from '../helpers/refusals.ts'
import { managerMessage, type NttFields, nttPayload } from '../helpers/ntt.ts'
import { altered } from '../helpers/vaa.ts'

const read = (payload: string, emitterChain = 2) => readNttMessage(getBytes(payload), emitterChain)
/** Code of the error, or `foreign` if the payload belongs to another product. */
const codeWith = (payload: string): string => {
  let isForeign = false
  const code = codeOf(() => (isForeign = read(payload) === undefined))
  return isForeign ? 'foreign' : code
}

/**
 * A transfer to Base, from Arbitrum's transaction 0xd8cec5a2163774b308d382442a59f3558f0e7d6ebf9817bc5953c27c3d98b671.
 */
const mainnetPayload = concat([
  '0x9945ff10000000000000000000000000bc51f76178a56811fdfe95d3897e6ac2b11dbb62',
  '0x000000000000000000000000bc51f76178a56811fdfe95d3897e6ac2b11dbb620091',
  '0x00000000000000000000000000000000000000000000000000000000000007e6',
  '0x000000000000000000000000023fa838682c115c2cfba96ef3791cb5bd931fc7',
  '0x004f994e545408000000028a3d178c',
  '0x00000000000000000000000046777c76dbbe40fabb2aab99e33ce20058e76c59',
  '0x0000000000000000000000000f8d3248a3df3a6ffd486f79e5c283e37a75a6b5001e0000',
])

const hex = (bytes: number) => fc.uint8Array({ minLength: bytes, maxLength: bytes }).map((value) => Buffer.from(value).toString('hex'))
const blob = fc.uint8Array({ maxLength: 80 }).map((value) => hexlify(value))
const fields: fc.Arbitrary<NttFields> = fc.record({
  prefix: fc.constant('0x9945ff10'),
  sourceManager: hex(32),
  recipientManager: hex(32),
  id: fc.bigInt({ min: 0n, max: 2n ** 256n - 1n }),
  sender: hex(32),
  transferPrefix: fc.constant('0x994e5454'),
  amount: fc.oneof(fc.constantFrom(0n, 2n ** 53n + 1n, 2n ** 64n - 1n), fc.bigInt({ min: 0n, max: 2n ** 64n - 1n })),
  decimals: fc.integer({ min: 0, max: 255 }),
  token: hex(32),
  to: fc.oneof(
    hex(32),
    hex(20).map((address) => address.padStart(64, '0')),
  ),
  toChain: fc.integer({ min: 0, max: 65_535 }),
  additional: fc.option(blob, { nil: undefined }),
  transceiverPayload: blob,
})

describe('The message of an NTT transfer', () => {
  test('the message of an NTT transfer is read from bytes of the mainnet', () => {
    expect(read(mainnetPayload, 23)).toEqual({
      sourceManager: '000000000000000000000000bc51f76178a56811fdfe95d3897e6ac2b11dbb62',
      messageId: dataSlice(mainnetPayload, 70, 102).slice(2),
      id: keccak256(concat(['0x0017', dataSlice(mainnetPayload, 70, 70 + 145)])),
      amount: '10909194124',
      decimals: 8,
      recipient: '0x0f8d3248a3df3a6ffd486f79e5c283e37a75a6b5',
    })
    expect(dataSlice(mainnetPayload, targetChainAt, targetChainAt + 2)).toBe('0x001e')
  })

  test('an NTT message is read as it was written, whatever its fields and the parts of free length', () => {
    fc.assert(
      fc.property(fields, fc.integer({ min: 0, max: 65_535 }), (one, emitterChain) => {
        const payload = nttPayload(one)
        expect(read(payload, emitterChain)).toEqual({
          sourceManager: one.sourceManager,
          messageId: toBeHex(one.id ?? 0n, 32).slice(2),
          id: keccak256(concat([toBeHex(emitterChain, 2), managerMessage(one)])),
          amount: String(one.amount),
          decimals: one.decimals,
          recipient: `0x${one.to.replace(/^0{24}/, '')}`,
        })
        expect(dataSlice(payload, targetChainAt, targetChainAt + 2)).toBe(toBeHex(one.toChain, 2))
        expect(dataSlice(payload, recipientManagerAt, recipientManagerAt + 32)).toBe(`0x${one.recipientManager}`)
      }),
    )
  })

  test('an NTT message has one id, whichever transceiver carries it and whatever it adds', () => {
    const id = read(nttPayload())?.id
    expect(read(nttPayload({ transceiverPayload: '0xc0ffee', sourceManager: '99'.repeat(32) }))?.id).toBe(id)
    expect(read(nttPayload({ id: 8n }))?.id).not.toBe(id)
    expect(read(nttPayload(), 3)?.id).not.toBe(id)
  })

  test.each([
    ['nothing', '0x'],
    ['a payload 1 of the token bridge', '0x01'],
    ['a prefix that ends early', '0x9945ff'],
    ['the data of a transceiver itself', '0x9c23bd3b'],
    ['the registration of a peer', '0x18fc67c2'],
    ['a message of a manager that is no transfer', nttPayload({ transferPrefix: '0x4d304954' })],
    ['a manager message without a payload', concat([dataSlice(nttPayload(), 0, 68), '0x0042', toBeHex(0, 66), '0x0000'])],
  ])('a payload is no NTT message: %s', (_, payload) => {
    expect(codeWith(payload)).toBe('foreign')
  })

  // The lengths in the payload are at 68 (manager message), 134 (transfer) and 215 (additional payload).
  const additional = nttPayload({ additional: '0xaabb' })
  test.each([
    ['a byte after its end', concat([nttPayload(), '0x00'])],
    ['one byte after the transfer, which is no length', shifted(nttPayload(), 136 + 79, '0x00')],
    [
      'a transfer that is cut',
      concat([
        dataSlice(nttPayload(), 0, 68),
        '0x0090',
        dataSlice(nttPayload(), 70, 134),
        '0x004e',
        dataSlice(nttPayload(), 136, 214),
        '0x0000',
      ]),
    ],
    ['a manager message that says it is longer', edited(nttPayload(), 69, 0x92)],
    ['a manager message that says it is shorter', edited(nttPayload(), 69, 0x90)],
    ['a manager message that says it is longest', edited(edited(nttPayload(), 68, 0xff), 69, 0xff)],
    ['a transfer that says it is longer', edited(nttPayload(), 135, 0x50)],
    ['a transfer that says it is shorter', edited(nttPayload(), 135, 0x4e)],
    ['an additional payload that says it is longer', edited(additional, 216, 3)],
    ['an additional payload that says it is shorter', edited(additional, 216, 1)],
    ['a transceiver part that says it is longer', edited(nttPayload(), 216, 1)],
    ['a transceiver part that says it is shorter', edited(nttPayload({ transceiverPayload: '0xaa' }), 216, 0)],
  ])('the message of an NTT transfer is refused with %s', (_, payload) => {
    expect(codeWith(payload)).toBe('PAYLOAD_LENGTH')
  })

  test('the message of an NTT transfer is refused at every shorter length', () => {
    const length = getBytes(additional).length
    const codes = Array.from({ length: length + 1 }, (_, end) => codeWith(dataSlice(additional, 0, end)))
    expect(new Set(codes.slice(0, 140))).toEqual(new Set(['foreign']))
    expect(new Set(codes.slice(140, -1))).toEqual(new Set(['PAYLOAD_LENGTH']))
    expect(codes.at(-1)).toBe('none')
  })

  test('an NTT message is read, or refused with a code, whatever bytes are changed and added', () => {
    const codes = ['none', 'foreign', 'PAYLOAD_LENGTH']
    const edit = fc.tuple(fc.nat({ max: 216 }), fc.integer({ min: 0, max: 255 }))
    fc.assert(
      fc.property(fields, fc.array(edit, { maxLength: 4 }), fc.uint8Array({ maxLength: 4 }), (one, edits, more) => {
        const payload = edits.reduce((bytes, [at, byte]) => altered(bytes, at, byte), getBytes(nttPayload(one)))
        expect(codes).toContain(codeWith(concat([payload, more])))
        if (edits.length === 0 && more.length > 0) expect(codeWith(concat([payload, more]))).toBe('PAYLOAD_LENGTH')
      }),
    )
  })
})

function edited(payload: string, at: number, byte: number): string {
  return hexlify(altered(getBytes(payload), at, byte))
}

/** Inserts `more`, and increases the two length fields around the transfer to match. */
function shifted(payload: string, at: number, more: string): string {
  const grown = concat([dataSlice(payload, 0, at), more, dataSlice(payload, at)])
  return edited(edited(grown, 69, 0x92), 135, 0x50)
}
