import fc from 'fast-check'
import { getBytes, hexlify, toBeHex } from 'ethers'
import { expect, test } from 'vitest'
import { decodeCompletion, encodeCompletion } from '../../bridges/native-bridge/calls.ts'
import { nativeBridgeAbi } from '../../bridges/native-bridge/contracts.ts'
import type { CompletionArguments } from '../../bridges/native-bridge/message.ts'

const bytes = (length: number) => fc.uint8Array({ minLength: length, maxLength: length }).map((value) => hexlify(value))
const number = fc.oneof(fc.bigInt({ min: 0n, max: 2n ** 256n - 1n }), fc.constantFrom(0n, 1n, 2n ** 64n - 1n, 2n ** 64n, 2n ** 256n - 1n))
const rows = fc.tuple(bytes(32), bytes(32), bytes(20), number, number).map((row): CompletionArguments => row)

/** Decodes with ethers. Undefined if the decoded values do not encode to the same call. */
function byEthers(data: string): readonly string[] | undefined {
  try {
    const call = nativeBridgeAbi.parseTransaction({ data })
    if (call?.name !== 'completeBridgeTransfer' || nativeBridgeAbi.encodeFunctionData(call.fragment, call.args) !== data.toLowerCase())
      return undefined
    return call.args.toArray().map((value) => String(value).toLowerCase())
  } catch {
    return undefined
  }
}

test('a completion is encoded as by ethers, and read back', () => {
  fc.assert(
    fc.property(rows, (row) => {
      const data = encodeCompletion(row)
      expect(data).toBe(nativeBridgeAbi.encodeFunctionData('completeBridgeTransfer', row))
      expect(decodeCompletion(data)).toEqual(row)
    }),
  )
})

test('altered call data is read as ethers reads it, and only if it encodes to the same bytes', () => {
  fc.assert(
    fc.property(rows, fc.nat(), fc.nat({ max: 255 }), fc.constantFrom('change', 'cut', 'append'), (row, at, value, how) => {
      const good = getBytes(encodeCompletion(row))
      const place = at % good.length
      const changed = good.map((byte, index) => (index === place ? value : byte))
      const bad = hexlify(how === 'cut' ? good.subarray(0, place) : how === 'append' ? new Uint8Array([...good, value]) : changed)
      expect(decodeCompletion(bad)?.map(String)).toEqual(byEthers(bad))
    }),
    { numRuns: 300 },
  )
})

test('a word with other bytes before its address is not read as an address', () => {
  const data = encodeCompletion([toBeHex(1, 32), toBeHex(2, 32), `0x${'ab'.repeat(20)}`, 5n, 6n])
  const dirty = `${data.slice(0, 10 + 128)}1${data.slice(10 + 129)}`
  expect([decodeCompletion(dirty), decodeCompletion(data)?.[2]]).toEqual([undefined, `0x${'ab'.repeat(20)}`])
})
