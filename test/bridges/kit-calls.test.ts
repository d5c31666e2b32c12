import { AbiCoder, concat, id, toBeHex } from 'ethers'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { decodeCall, encodeCall } from '../../bridges/kit/calls.ts'
import { allShow, encodedAnswer, readView, shows } from '../../bridges/kit/views.ts'
import { codeOfAsync } from '../helpers/refusals.ts'

const coder = AbiCoder.defaultAbiCoder()
const hex = (bytes: number) => fc.uint8Array({ minLength: bytes, maxLength: bytes }).map((one) => `0x${Buffer.from(one).toString('hex')}`)
const anyHex = fc.uint8Array({ maxLength: 100 }).map((one) => `0x${Buffer.from(one).toString('hex')}`)

const kinds: readonly (readonly [string, fc.Arbitrary<unknown>])[] = [
  ['bytes32', hex(32)],
  ['uint256', fc.bigInt({ min: 0n, max: 2n ** 256n - 1n })],
  ['uint16', fc.bigInt({ min: 0n, max: 65_535n })],
  ['bool', fc.boolean()],
  ['bytes', anyHex],
  ['address[]', fc.array(hex(20), { maxLength: 3 })],
  ['(bytes32,bytes32,bytes)', fc.tuple(hex(32), hex(32), anyHex)],
]
/** Calls with random arguments. Some of their function names are keywords of Solidity. */
const calls = fc.array(fc.constantFrom(...kinds), { minLength: 1, maxLength: 4 }).chain((chosen) =>
  fc.record({
    signature: fc.constantFrom('run', 'constructor', '$_', 'receive').map((name) => `${name}(${chosen.map(([type]) => type).join(',')})`),
    types: fc.constant(chosen.map(([type]) => (type.startsWith('(') ? `tuple${type}` : type))),
    args: fc.tuple(...chosen.map(([, value]) => value)),
  }),
)
const lower = (value: unknown) => JSON.stringify(value, (_, one: unknown) => (typeof one === 'bigint' ? String(one) : one)).toLowerCase()
const data = (signature: string, types: readonly string[], args: readonly unknown[]) =>
  concat([id(signature).slice(0, 10), coder.encode(types, args)])

describe('Calls and views of the kit', () => {
  test('arguments of all forms come back from their call, which ethers encodes in the same way', () => {
    fc.assert(
      fc.property(calls, ({ signature, types, args }) => {
        const call = encodeCall({ function: signature, args })
        expect(call).toBe(data(signature, types, args))
        const back = decodeCall(signature, call)
        // A lone `bytes` argument comes back as a Uint8Array.
        const shown = back?.map((one) => (one instanceof Uint8Array ? `0x${Buffer.from(one).toString('hex')}` : one))
        expect(lower(shown)).toBe(lower(args))
      }),
    )
  })

  test('a call that differs by one byte, is cut off, or is longer, is not the call of these arguments', () => {
    fc.assert(
      fc.property(calls, fc.nat(), fc.integer({ min: 1, max: 255 }), ({ signature, args }, place, change) => {
        const call = encodeCall({ function: signature, args })
        const bytes = Buffer.from(call.slice(2), 'hex')
        const at = place % bytes.length
        bytes[at] = (bytes[at] ?? 0) ^ change
        const changed = decodeCall(signature, `0x${bytes.toString('hex')}`)
        // Calldata that `decodeCall` accepts has exactly one encoding.
        if (changed) expect(encodeCall({ function: signature, args: changed })).toBe(`0x${bytes.toString('hex')}`)
        expect(decodeCall(signature, `${call}00`)).toBeUndefined()
        expect(decodeCall(signature, concat([call, toBeHex(0, 32)]))).toBeUndefined()
        expect(decodeCall(signature, call.slice(0, -2))).toBeUndefined()
      }),
    )
  })

  const bytesHead = (length: bigint, rest = '0x') => concat([id('run(bytes)').slice(0, 10), toBeHex(32, 32), toBeHex(length, 32), rest])
  test.each([
    ['nothing', 'run(bytes)', '0x'],
    ['no hex', 'run(bytes)', `${id('run(bytes)').slice(0, 10)}zz`],
    ['a selector alone', 'run(bytes32)', id('run(bytes32)').slice(0, 10)],
    ['another selector', 'run(bytes32)', data('walk(bytes32)', ['bytes32'], [toBeHex(1, 32)])],
    ['a length that no memory holds', 'run(bytes)', bytesHead(2n ** 255n)],
    ['a length without its bytes', 'run(bytes)', bytesHead(64n, toBeHex(0, 32))],
    ['dirty padding', 'run(bytes)', bytesHead(1n, toBeHex(2n ** 248n + 1n, 32))],
    ['another offset', 'run(bytes)', concat([id('run(bytes)').slice(0, 10), toBeHex(64, 32), toBeHex(0, 32), toBeHex(0, 32)])],
    ['dirty high bits of a number', 'run(uint16)', concat([id('run(uint16)').slice(0, 10), toBeHex(65_536, 32)])],
    ['an offset outside of a tuple', 'run((bytes32,bytes))', concat([id('run((bytes32,bytes))').slice(0, 10), toBeHex(2n ** 200n, 32)])],
  ])('hostile calldata is no call: %s', (_, signature, hostile) => {
    expect(decodeCall(signature, hostile)).toBeUndefined()
  })

  test('any bytes are decoded or refused, and never throw', () => {
    const signature = fc.constantFrom('run(bytes)', 'run(bytes32)', 'run(uint16,bytes32,(bytes32,bytes32,bytes))', 'run(address[])')
    fc.assert(
      fc.property(signature, fc.uint8Array({ maxLength: 300 }), (one, body) => {
        const call = concat([id(one).slice(0, 10), body])
        const back = decodeCall(one, call)
        expect(back && encodeCall({ function: one, args: back })).toBe(back && call)
      }),
    )
  })

  const shown = { contract: `0x${'a'.repeat(40)}`, view: 'place(bytes32)', args: [toBeHex(1, 32)], returns: 'tuple(uint72,uint64,address)' }
  const none = [[0n, 0n, `0x${'0'.repeat(40)}`]]
  const answering = (answer: string) => ({ name: 'bsc', call: async () => answer })

  test('a view shows an effect only with exactly the expected answer, of words or tuples', async () => {
    const is = { ...shown, is: none }
    expect(await shows(answering(toBeHex(0, 96)), is, 'latest')).toBe(true)
    expect(await shows(answering(toBeHex(1, 96)), is, 'latest')).toBe(false)
    expect(await allShow(answering(toBeHex(0, 96)), [is, is], 'latest')).toBe(true)
    expect(await allShow(answering(toBeHex(0, 96)), [is, { ...is, is: [[1n, 0n, none[0]![2]]] }], 'latest')).toBe(false)
    expect(encodedAnswer(shown.view, shown.returns, none)).toBe(toBeHex(0, 96))
  })

  test.each([
    ['no answer', '0x'],
    ['a short answer', toBeHex(0, 64)],
    ['an answer with dirty high bits', concat([toBeHex(0, 32), toBeHex(2n ** 64n, 32), toBeHex(0, 32)])],
  ])('a contract without the view is an error, not an effect: %s', async (_, answer) => {
    const code = await codeOfAsync(() => readView(answering(answer), shown, 'latest'))
    // ethers drops the dirty high bits of an answer without an error.
    expect(code).toBe(answer.length === 2 + 2 * 96 ? 'none' : 'NODE_REFUSED')
  })
})
