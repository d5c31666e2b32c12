import fc from 'fast-check'
import { computeAddress, hexlify, recoverAddress, Signature, SigningKey } from 'ethers'
import { describe, expect, test } from 'vitest'
import { native, pure, secp256k1 } from '../../../chains/crypto/secp256k1.ts'
import { curveOrder, toBigint, toWord } from '../../../chains/crypto/curve.ts'

const [quick, slow] = [native()!, pure()]

const words = fc.uint8Array({ minLength: 32, maxLength: 32 })
const digests = fc.oneof(words, fc.constantFrom(0n, 1n, curveOrder - 1n, curveOrder, curveOrder + 1n, 2n ** 256n - 1n).map(toWord))
const keys = fc
  .oneof(fc.bigInt({ min: 1n, max: curveOrder - 1n }), fc.constantFrom(1n, 2n, curveOrder - 1n, curveOrder / 2n, curveOrder / 2n + 1n))
  .map(toWord)
const numbers = fc.oneof(
  words,
  fc
    .constantFrom(0n, 1n, 2n, curveOrder / 2n, curveOrder / 2n + 1n, curveOrder - 1n, curveOrder, curveOrder + 1n, 2n ** 256n - 1n)
    .map(toWord),
)
const joined = (r: Uint8Array, s: Uint8Array) => new Uint8Array([...r, ...s])
const mirrored = (compact: Uint8Array) => joined(compact.subarray(0, 32), toWord(curveOrder - toBigint(compact.subarray(32))))

function caught(work: () => unknown): Error | undefined {
  try {
    work()
    return undefined
  } catch (error) {
    return error as Error
  }
}

const runs = { numRuns: 60 }

describe('native and pure secp256k1', () => {
  test('the native library is there on the machines that test', () => expect(secp256k1().name).toBe('native'))

  test('both libraries sign the same bytes (RFC 6979), with s in the lower half', () => {
    fc.assert(
      fc.property(digests, keys, (digest, key) => {
        const ours = quick.sign(digest, key)
        const theirs = slow.sign(digest, key)
        expect([hexlify(ours.compact), ours.yParity]).toEqual([hexlify(theirs.compact), theirs.yParity])
        const { r, s, yParity } = new SigningKey(hexlify(key)).sign(digest)
        expect([hexlify(ours.compact), ours.yParity]).toEqual([r + s.slice(2), yParity])
        expect(toBigint(ours.compact.subarray(32))).toBeLessThanOrEqual(curveOrder / 2n)
      }),
      runs,
    )
  })

  test('both libraries recover the signer from either form of a signature, and another with wrong parity', () => {
    fc.assert(
      fc.property(digests, keys, (digest, key) => {
        const address = computeAddress(hexlify(key)).toLowerCase()
        const { compact, yParity } = quick.sign(digest, key)
        for (const one of [quick, slow]) {
          expect(one.recover(digest, compact, yParity)).toBe(address)
          expect(one.recover(digest, mirrored(compact), 1 - yParity)).toBe(address)
          expect(one.recover(digest, compact, 1 - yParity)).not.toBe(address)
        }
        expect(quick.recover(digest, compact, 1 - yParity)).toBe(slow.recover(digest, compact, 1 - yParity))
      }),
      runs,
    )
  })

  test('both libraries agree on any r and s: 0, the curve order and above, and points off the curve', () => {
    fc.assert(
      fc.property(digests, numbers, numbers, fc.constantFrom<(0 | 1)[]>(0, 1), (digest, r, s, yParity) => {
        const found = quick.recover(digest, joined(r, s), yParity)
        expect(found).toBe(slow.recover(digest, joined(r, s), yParity))
        const isInRange = [r, s].every((word) => toBigint(word) > 0n && toBigint(word) < curveOrder)
        if (!isInRange) expect(found).toBeUndefined()
        if (found !== undefined && toBigint(s) <= curveOrder / 2n) {
          const signature = Signature.from({ r: hexlify(r), s: hexlify(s), yParity })
          expect(found).toBe(recoverAddress(digest, signature).toLowerCase())
        }
      }),
      { numRuns: 200 },
    )
  })

  test('both libraries recover nothing with another recovery id or from other lengths', () => {
    const key = toWord(7n)
    const digest = toWord(9n)
    const { compact, yParity } = quick.sign(digest, key)
    for (const one of [quick, slow]) {
      for (const id of [2, 3, 4, 27, 28, -1, 0.5, Number.NaN, 256, '0' as never, undefined as never])
        expect(one.recover(digest, compact, id)).toBeUndefined()
      for (const length of [0, 31, 33, 64]) expect(one.recover(new Uint8Array(length), compact, yParity)).toBeUndefined()
      for (const length of [0, 63, 65]) expect(one.recover(digest, new Uint8Array(length), yParity)).toBeUndefined()
    }
  })

  test('both libraries recover nothing if the key would be the point at infinity', () => {
    // With R = G (r is the x of G) and s = z, s·R − z·G is the point at infinity.
    const r = Buffer.from('79be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798', 'hex')
    for (const z of [1n, 5n, curveOrder - 1n]) {
      for (const one of [quick, slow]) expect(one.recover(toWord(z), joined(r, toWord(z)), 0)).toBeUndefined()
    }
  })

  test('both libraries refuse invalid keys and digests, and quote neither', () => {
    const secret = 'f'.repeat(64)
    const bad: readonly (readonly [Uint8Array, Uint8Array])[] = [
      [toWord(1n), toWord(0n)],
      [toWord(1n), toWord(curveOrder)],
      [toWord(1n), Buffer.from(secret, 'hex')],
      [toWord(1n), new Uint8Array(31).fill(0xff)],
      [new Uint8Array(31), toWord(1n)],
      [new Uint8Array(0), toWord(1n)],
    ]
    for (const one of [quick, slow]) {
      for (const [digest, key] of bad) {
        const error = caught(() => one.sign(digest, key))
        expect(error).toBeInstanceOf(Error)
        expect(`${error?.stack} ${JSON.stringify(error)} ${String(error?.cause)}`).not.toMatch(/f{20}|255,255/)
      }
    }
  })
})
