import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { devnetGuardians } from '../../lab/devnet/chain/accounts.ts'
import { quorumOf } from '../../lab/devnet/wormhole/vaa.ts'
import { parseVaa, quorum, toHex } from '../../domain/vaa.ts'
import { altered, bytesOf, mainnetVaas, signVaa } from '../helpers/vaa.ts'
import { codeOf } from '../helpers/refusals.ts'

const bodyHead = 51

describe('parseVaa', () => {
  test.each(mainnetVaas)('parseVaa reads $name', (vector) => {
    const vaa = parseVaa(bytesOf(vector))
    expect(vaa).toMatchObject({
      guardianSetIndex: vector.guardianSetIndex,
      timestamp: vector.timestamp,
      vaaNonce: vector.nonce,
      emitterChain: vector.emitterChain,
      emitter: vector.emitterAddress,
      sequence: vector.sequence,
      consistencyLevel: vector.consistencyLevel,
    })
    expect(vaa.signatures).toHaveLength(vector.signatures)
    expect([vaa.payload[0] ?? 0, vaa.payload.length]).toEqual([vector.payloadType, vector.payloadLength])
  })

  test('parseVaa refuses a VAA that ends before its payload at every length, by a code', () => {
    const whole = bytesOf(mainnetVaas[0]!)
    const payloadAt = whole.length - 133
    const codes = Array.from({ length: payloadAt }, (_, length) => codeOf(() => parseVaa(whole.subarray(0, length))))
    expect(new Set(codes)).toEqual(new Set(['VAA_TRUNCATED']))
    expect(parseVaa(whole.subarray(0, payloadAt)).payload).toHaveLength(0)
  })

  test.each([0, 2, 3, 255])('parseVaa refuses version %i', (version) => {
    expect(codeOf(() => parseVaa(altered(signVaa().bytes, 0, version)))).toBe('VAA_VERSION')
    expect(codeOf(() => parseVaa(new Uint8Array([version])))).toBe('VAA_VERSION')
  })

  test('parseVaa refuses guardians out of sequence, and one that signs twice', () => {
    const { bytes } = signVaa({}, { guardians: 19 })
    expect(codeOf(() => parseVaa(altered(bytes, 6, 1)))).toBe('VAA_SIGNATURE_ORDER')
    expect(codeOf(() => parseVaa(altered(bytes, 6, 18)))).toBe('VAA_SIGNATURE_ORDER')
    expect(codeOf(() => parseVaa(altered(bytes, 6 + 12 * 66, 3)))).toBe('VAA_SIGNATURE_ORDER')
  })

  test('parseVaa reads a view into a larger buffer at its own offset', () => {
    const { bytes } = signVaa({ sequence: 9n })
    const larger = new Uint8Array(bytes.length + 20)
    larger.set(bytes, 10)
    expect(parseVaa(larger.subarray(10, 10 + bytes.length)).sequence).toBe('9')
  })

  test.each([0n, 1n, 2n ** 53n, 2n ** 53n + 1n, 2n ** 63n, 2n ** 64n - 1n])('parseVaa keeps every digit of sequence %s', (sequence) => {
    expect(parseVaa(signVaa({ sequence }).bytes).sequence).toBe(String(sequence))
  })

  test('parseVaa reads back every written VAA', () => {
    const hex = (bytes: number) => fc.uint8Array({ minLength: bytes, maxLength: bytes }).map(toHex)
    const message = fc.record({
      timestamp: fc.integer({ min: 0, max: 2 ** 32 - 1 }),
      vaaNonce: fc.integer({ min: 0, max: 2 ** 32 - 1 }),
      emitterChain: fc.integer({ min: 0, max: 65_535 }),
      emitter: hex(32),
      sequence: fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }),
      consistencyLevel: fc.integer({ min: 0, max: 255 }),
      payload: fc.uint8Array({ maxLength: 200 }).map((bytes) => `0x${toHex(bytes)}`),
    })
    const signers = fc.uniqueArray(fc.integer({ min: 0, max: 18 }), { maxLength: 4 }).map((indices) => indices.toSorted((a, b) => a - b))
    fc.assert(
      fc.property(message, signers, fc.integer({ min: 0, max: 2 ** 32 - 1 }), (written, indices, setIndex) => {
        const { bytes } = signVaa(written, { guardians: 19, signers: indices, setIndex })
        const { payload, body, signatures, guardianSetIndex, ...rest } = parseVaa(bytes)
        expect(rest).toEqual({ ...without(written, 'payload'), sequence: String(written.sequence) })
        expect(`0x${toHex(payload)}`).toBe(written.payload)
        expect(body).toHaveLength(bodyHead + payload.length)
        expect(signatures.map(({ guardianIndex }) => guardianIndex)).toEqual(indices)
        expect(guardianSetIndex).toBe(setIndex)
      }),
      { numRuns: 50 },
    )
  })

  test('parseVaa answers any bytes with a VAA or a code of its own', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 400 }), fc.boolean(), (bytes, versionOne) => {
        const input = versionOne && bytes.length > 0 ? altered(bytes, 0, 1) : bytes
        expect(['VAA_TRUNCATED', 'VAA_VERSION', 'VAA_SIGNATURE_ORDER', 'none']).toContain(codeOf(() => parseVaa(input)))
      }),
    )
  })
})

describe('quorum', () => {
  test.each([
    [0, 1],
    [1, 1],
    [2, 2],
    [3, 3],
    [4, 3],
    [13, 9],
    [19, 13],
    [255, 171],
  ])('the quorum of %i guardians is %i', (guardians, needed) => {
    expect(quorum(guardians)).toBe(needed)
  })

  test('the quorum equals that of the devnet guardian, which is written separately', () => {
    const sizes = devnetGuardians(19).map((_, index) => index + 1)
    expect(sizes.map(quorum)).toEqual(sizes.map(quorumOf))
  })
})

function without<T extends object, K extends keyof T>(value: T, key: K): Omit<T, K> {
  const { [key]: _, ...rest } = value
  return rest
}
