import fc from 'fast-check'
import { AbiCoder, concat, dataSlice, getBytes, hexlify } from 'ethers'
import { expect, test } from 'vitest'
import { decodeBytesCall, encodeBytesCall } from '../../bridges/kit/calls.ts'

const coder = AbiCoder.defaultAbiCoder()
const selector = '0xc6878519'
const bytes = fc.oneof(fc.uint8Array({ maxLength: 100 }), fc.uint8Array({ minLength: 1_000, maxLength: 1_100 }))

/** Decodes with ethers. Undefined if the decoded argument does not encode to the same call. */
function byEthers(data: string): string | undefined {
  try {
    const [argument] = coder.decode(['bytes'], dataSlice(data, 4)) as unknown as [string]
    return concat([dataSlice(data, 0, 4), coder.encode(['bytes'], [argument])]) === data.toLowerCase() ? argument : undefined
  } catch {
    return undefined
  }
}

const hexOf = ([found]: readonly Uint8Array[] = []) => found && hexlify(found)

test('a call with bytes is encoded as by ethers, and read back', () => {
  fc.assert(
    fc.property(bytes, (argument) => {
      const data = encodeBytesCall(selector, argument)
      expect(data).toBe(concat([selector, coder.encode(['bytes'], [argument])]))
      expect(hexOf(decodeBytesCall(data))).toBe(hexlify(argument))
      expect(hexOf(decodeBytesCall(data.toUpperCase().replace('0X', '0x')))).toBe(hexlify(argument))
    }),
  )
})

test('altered call data is read as ethers reads it, and only if it encodes to the same bytes', () => {
  fc.assert(
    fc.property(bytes, fc.nat(), fc.nat({ max: 255 }), fc.constantFrom('change', 'cut', 'append', 'odd'), (argument, at, value, how) => {
      const good = getBytes(encodeBytesCall(selector, argument))
      const place = how === 'change' && at % 2 === 0 ? at % 68 : at % good.length
      const bad =
        how === 'cut'
          ? hexlify(good.subarray(0, place))
          : how === 'append'
            ? `${hexlify(good)}${'00'.repeat(at % 64)}`
            : how === 'odd'
              ? hexlify(good).slice(0, -1)
              : hexlify(good.map((byte, index) => (index === place ? value : byte)))
      expect(hexOf(decodeBytesCall(bad))).toBe(byEthers(bad))
    }),
    { numRuns: 300 },
  )
})

test.each([
  '',
  '0x',
  'c6878519',
  `0xzz878519${'00'.repeat(64)}`,
  `${selector}${'ff'.repeat(64)}`,
  `${selector}${'20'.padStart(64, '0')}${'f'.repeat(64)}`,
])('junk is no call: %s', (data) => expect(decodeBytesCall(data)).toBeUndefined())
