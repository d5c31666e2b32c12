import fc from 'fast-check'
import { Signature, Transaction } from 'ethers'
import { expect, test } from 'vitest'
import { encodeTransaction } from '../../chains/evm/transactions/encode.ts'
import type { UnsignedTransaction } from '../../chains/signing-port.ts'
import { toWord } from '../../chains/crypto/curve.ts'
import { secp256k1 } from '../../chains/crypto/secp256k1.ts'

/** Includes numbers around the limits of RLP's short and long forms. */
const amount = fc.oneof(
  fc.bigInt({ min: 0n, max: 2n ** 96n }),
  fc.constantFrom(0n, 1n, 127n, 128n, 255n, 256n, 2n ** 64n, 2n ** 255n, 2n ** 256n - 1n),
)
const hex = (bytes: Uint8Array) => `0x${Buffer.from(bytes).toString('hex')}`
const data = fc.oneof(
  fc.uint8Array({ maxLength: 70 }),
  fc.uint8Array({ minLength: 250, maxLength: 300 }),
  fc.uint8Array({ minLength: 1_500, maxLength: 1_500 }),
)
const transactions = fc
  .record({
    networkId: fc.bigInt({ min: 1n, max: 2n ** 63n }),
    nonce: fc.oneof(fc.nat(), fc.constantFrom(0, 127, 128, Number.MAX_SAFE_INTEGER)),
    to: fc.uint8Array({ minLength: 20, maxLength: 20 }),
    data,
    value: amount,
    gasLimit: amount,
    tip: amount,
    above: amount,
  })
  .map(({ networkId, to, data, value, gasLimit, tip, above, nonce }): UnsignedTransaction => {
    const [low, high] = tip <= above ? [tip, above] : [above, tip]
    const fees = { maxFee: String(high), tip: String(nonce % 3 === 0 ? high : low) }
    return { networkId: String(networkId), nonce, to: hex(to), data: hex(data), value: String(value), gasLimit: String(gasLimit), ...fees }
  })

function byEthers({ networkId, nonce, to, data, value, gasLimit, maxFee, tip }: UnsignedTransaction): Transaction {
  const fees =
    maxFee === tip ? { type: 0, gasPrice: BigInt(maxFee) } : { type: 2, maxFeePerGas: BigInt(maxFee), maxPriorityFeePerGas: BigInt(tip) }
  return Transaction.from({ chainId: BigInt(networkId), nonce, to, data, value: BigInt(value), gasLimit: BigInt(gasLimit), ...fees })
}

test('a transaction has the bytes and hashes that ethers gives it, unsigned and signed', () => {
  fc.assert(
    fc.property(transactions, fc.bigInt({ min: 1n, max: 2n ** 250n }), (unsigned, key) => {
      const [ours, theirs] = [encodeTransaction(unsigned), byEthers(unsigned)]
      expect([ours.unsigned, ours.signingHash, hex(ours.digest)]).toEqual([
        theirs.unsignedSerialized,
        theirs.unsignedHash,
        theirs.unsignedHash,
      ])
      const signature = secp256k1().sign(ours.digest, toWord(key))
      const [r, s] = [hex(signature.compact.subarray(0, 32)), hex(signature.compact.subarray(32))]
      theirs.signature = Signature.from({ r, s, yParity: signature.yParity })
      expect(ours.signed(signature)).toEqual({ raw: theirs.serialized, hash: theirs.hash })
    }),
    { numRuns: 100 },
  )
})

const good = {
  networkId: '1337',
  nonce: 5,
  to: `0x${'ab'.repeat(20)}`,
  data: '0xabcd',
  value: '7',
  gasLimit: '50000',
  maxFee: '30',
  tip: '2',
}

test('an address in mixed case is taken with its checksum, and only with that', () => {
  const to = '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed'
  expect(encodeTransaction({ ...good, to }).unsigned).toBe(encodeTransaction({ ...good, to: to.toLowerCase() }).unsigned)
  expect(() => encodeTransaction({ ...good, to: to.replace('5aA', '5Aa') })).toThrow(TypeError)
})

test.each<[string, Partial<UnsignedTransaction>, RegExp]>([
  ['a tip above the fee', { tip: '31' }, /above the fee/],
  ['a nonce below 0', { nonce: -1 }, /whole number/],
  ['a broken nonce', { nonce: 0.5 }, /whole number/],
  ['a nonce that is too large', { nonce: 2 ** 53 }, /whole number/],
  ['a value below 0', { value: '-1' }, /below 0/],
  ['a value of 33 bytes', { value: String(2n ** 256n) }, /32 bytes/],
  ['a gas limit that is no number', { gasLimit: 'much' }, /BigInt/],
  ['a short address', { to: '0xabcd' }, /not an address/],
  ['no address', { to: '' }, /not an address/],
  ['half a byte', { data: '0xabc' }, /whole bytes/],
  ['data without 0x', { data: 'abcd' }, /whole bytes/],
])('%s is refused', (_, fields, text) => expect(() => encodeTransaction({ ...good, ...fields })).toThrow(text))
