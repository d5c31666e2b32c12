import { deserializeLayout, serializeLayout } from '@wormhole-foundation/sdk-base'
import { quoteLayout, signedQuoteLayout } from '@wormhole-foundation/sdk-definitions'
import { concat, getBytes, id, toBeHex, zeroPadValue } from 'ethers'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { executorAbi, readRequest, type RequestForExecution, requestTopics } from '../../bridges/executor/event.ts'
import { readMessage } from '../../bridges/executor/message.ts'
import { decodeQuote, encodeQuote, isSignedBy } from '../../bridges/executor/quote.ts'
import { decodeInstructions, decodeRequest } from '../../bridges/executor/requests.ts'
import { devnetAccount } from '../../lab/devnet/chain/accounts.ts'
import { bytesOf, hex, highestU64, instruction, quoter, quotes, signed, u16 } from '../helpers/executor.ts'
import { codeOf } from '../helpers/refusals.ts'

describe("the bytes of Wormhole's Executor, with its SDK as the judge", () => {
  test('a quote is encoded as the SDK encodes it, and is read again from its signed bytes', () => {
    fc.assert(
      fc.property(quotes, (quote) => {
        const bytes = signed(quote)
        const { quote: theirs, signature } = deserializeLayout(signedQuoteLayout, Uint8Array.from(bytes)) as never as {
          quote: Record<string, unknown>
          signature: Uint8Array
        }
        expect(theirs).toEqual({
          prefix: 'EQ01',
          quoterAddress: getBytes(quote.quoter),
          payeeAddress: getBytes(`0x${quote.payee}`),
          srcChain: quote.sourceChain,
          dstChain: quote.targetChain,
          expiryTime: new Date(Number(quote.expiry) * 1_000),
          baseFee: quote.baseFee,
          dstGasPrice: quote.gasPrice,
          srcPrice: quote.sourcePrice,
          dstPrice: quote.targetPrice,
        })
        expect(Buffer.from(serializeLayout(quoteLayout, { quote: theirs } as never))).toEqual(encodeQuote(quote))
        expect(Buffer.from(signature)).toEqual(bytes.subarray(100))
        expect(decodeQuote(bytes)).toEqual(quote)
        expect([isSignedBy(quoter, bytes), isSignedBy(devnetAccount(21).address, bytes)]).toEqual([true, false])
      }),
    )
  })

  test('no changed bit of a quote leaves its signature valid', () => {
    fc.assert(
      fc.property(quotes, fc.nat(100 * 8 - 1), (quote, bit) => {
        const bytes = signed(quote)
        bytes[bit >> 3]! ^= 1 << (bit & 7)
        expect(isSignedBy(quoter, bytes)).toBe(false)
      }),
    )
  })

  test('a number above 64 bits is not encoded', () => {
    const quote = { ...fc.sample(quotes, 1)[0]!, gasPrice: highestU64 + 1n }
    expect(() => encodeQuote(quote)).toThrow(RangeError)
  })

  test('relay instructions are read as the SDK writes them: gas adds up, the first drop-off counts', () => {
    fc.assert(
      fc.property(fc.array(instruction, { maxLength: 40 }), (all) => {
        const gas = all.flatMap((one) => (one.type === 'GasInstruction' ? [one] : []))
        const drop = all.find((one) => one.type === 'GasDropOffInstruction')
        expect(decodeInstructions(bytesOf(all))).toEqual({
          gasLimit: gas.reduce((sum, one) => sum + one.gasLimit, 0n),
          msgValue: gas.reduce((sum, one) => sum + one.msgValue, 0n),
          dropOff: drop?.dropOff ?? 0n,
          ...(drop && { recipient: drop.recipient.toString().slice(2) }),
        })
      }),
    )
  })

  test.each([
    [
      'ERV1',
      concat([Buffer.from('ERV1'), '0x0002', `0x${'ab'.repeat(32)}`, toBeHex(highestU64, 8)]),
      { chain: 2, emitter: 'ab'.repeat(32), sequence: '18446744073709551615' },
    ],
    [
      'ERN1',
      concat([Buffer.from('ERN1'), '0xffff', `0x${'cd'.repeat(32)}`, `0x${'ef'.repeat(32)}`]),
      { sourceChain: 65_535, manager: 'cd'.repeat(32), messageId: 'ef'.repeat(32) },
    ],
    ['ERC1', concat([Buffer.from('ERC1'), '0xffffffff', toBeHex(7, 8)]), { sourceDomain: 4_294_967_295, nonce: '7' }],
    ['ERC2', concat([Buffer.from('ERC2'), '0x01']), {}],
  ])('a request %s is read, but no part of it, and not with a byte more', (prefix, bytes, fields) => {
    const whole = getBytes(bytes)
    expect(decodeRequest(whole)).toEqual({ prefix, ...fields })
    for (let length = 0; length < whole.length; length++) expect(decodeRequest(whole.subarray(0, length))).toBeUndefined()
    expect(decodeRequest(getBytes(concat([bytes, '0x00'])))).toBeUndefined()
  })

  test.each(['0x45524231', '0x4552423101', '0x4552433202', '0x45524d31', '0x', '0x00'])('a request %s is not read', (bytes) => {
    expect(decodeRequest(getBytes(bytes))).toBeUndefined()
  })

  test('bytes of every length are read or refused, and never throw', () => {
    const prefixes = ['EQ01', 'EQ02', 'ERV1', 'ERN1', 'ERC1', 'ERC2', '\u0001', '\u0002', ''].map((one) => Buffer.from(one))
    fc.assert(
      fc.property(
        fc.constantFrom(...prefixes),
        fc.integer({ min: 0, max: 400 }),
        fc.uint8Array({ minLength: 400, maxLength: 400 }),
        (prefix, length, rest) => {
          const bytes = Buffer.concat([prefix, rest]).subarray(0, length)
          const quote = decodeQuote(bytes)
          if (quote) expect(encodeQuote(quote)).toEqual(bytes.subarray(0, 100))
          expect(isSignedBy(quoter, bytes)).toBe(false)
          decodeRequest(bytes)
          const wanted = decodeInstructions(bytes)
          if (wanted && length > 0) expect([1, 2]).toContain(bytes[0])
        },
      ),
      { numRuns: 2_000 },
    )
  })

  test('instructions of Stacks, which have the type 3, are not read as instructions of EVM', () => {
    expect(decodeInstructions(getBytes(`0x03${'00'.repeat(18)}`))).toBeUndefined()
  })
})

describe('the event of the Executor', () => {
  const fields = fc.record({
    quoter: hex(20).map((one) => `0x${one}`),
    amountPaid: fc.bigInt({ min: 0n, max: 2n ** 256n - 1n }),
    targetChain: u16,
    targetAddress: hex(32),
    refundAddress: hex(20).map((one) => `0x${one}`),
    signedQuote: fc.uint8Array({ maxLength: 200 }).map((one) => Buffer.from(one)),
    request: fc.uint8Array({ maxLength: 100 }).map((one) => Buffer.from(one)),
    instructions: fc.uint8Array({ maxLength: 100 }).map((one) => Buffer.from(one)),
  })
  const logOf = (one: RequestForExecution) => {
    const { quoter: by, amountPaid, targetChain, targetAddress, refundAddress, signedQuote, request, instructions } = one
    const values = [by, amountPaid, targetChain, `0x${targetAddress}`, refundAddress, signedQuote, request, instructions]
    return { address: `0x${'ee'.repeat(20)}`, ...executorAbi.encodeEventLog('RequestForExecution', values) }
  }
  const read = (log: { topics: readonly string[]; data: string }) => readRequest({ name: 'ethereum' }, { address: '0x', ...log })

  test('the event of the Executor has the topic of the contracts on 33 mainnets', () => {
    const topic = '0xd870d87e4a7c33d0943b0a3d2822b174e239cc55c169af14cc56467a4489e3b5'
    expect(requestTopics(quoter)).toEqual([topic, zeroPadValue(quoter, 32)])
    expect(id('RequestForExecution(address,uint256,uint16,bytes32,address,bytes,bytes,bytes)')).toBe(topic)
  })

  test('the event of the Executor is read as the contract logs it', () => {
    const asLogged = fc.property(fields, (one) => {
      expect(read(logOf(one))).toEqual(one)
    })
    fc.assert(asLogged)
  })

  test('the event of the Executor of more than 8 KiB is refused before it is decoded', () => {
    const [one] = fc.sample(fields, 1)
    const of = (bytes: number) => logOf({ ...one!, instructions: Buffer.alloc(bytes) })
    expect(read(of(7_000)).instructions).toHaveLength(7_000)
    expect(codeOf(() => read(of(8_192)))).toBe('MESSAGE_TOO_LARGE')
    expect(codeOf(() => read({ topics: [], data: `0x${'00'.repeat(8_193)}` }))).toBe('MESSAGE_TOO_LARGE')
  })

  test('the event of the Executor is refused unless it is encoded exactly', () => {
    fc.assert(
      fc.property(fields, fc.nat(), fc.constantFrom('cut', 'more', 'dirty number', 'dirty topic', 'no topic'), (one, place, how) => {
        const { topics, data } = logOf(one)
        const [digits, [topic = '', named = '']] = [data.slice(2), topics]
        const hostile = {
          cut: { topics, data: `0x${digits.slice(0, 2 * (place % (digits.length / 2)))}` },
          more: { topics, data: `${data}00` },
          // The chain is a uint16, but this word has a bit above the lower 16 bits.
          'dirty number': { topics, data: `0x${digits.slice(0, 64)}1${digits.slice(65)}` },
          'dirty topic': { topics: [topic, named.replace('0x0', '0x1')], data },
          'no topic': { topics: [topic], data },
        }[how]
        expect(codeOf(() => read(hostile))).toBe('NODE_REFUSED')
      }),
    )
  })
})

test('a message whose texts overlap is refused before it is decoded', () => {
  const word = (value: number) => value.toString(16).padStart(64, '0')
  const [texts, length, head] = [600, 18_000, 13 * 32]
  const offsets = [head, head + 32, head + 64, head + 96].map(word)
  const attested = [
    word(texts),
    ...Array.from({ length: texts }, () => word(texts * 32)),
    word(length),
    'ab'.repeat(length),
    '00'.repeat(16),
  ]
  const heads = [2, 9, 3, 1, 1, 1, 4, 1, 1].map(word)
  const bytes = Buffer.from([...heads, ...offsets, ...[0, 0, 0].map(word), ...attested].join(''), 'hex')
  const startedAt = performance.now()
  expect(codeOf(() => readMessage(bytes))).toBe('EXECUTOR_MESSAGE')
  // Decoded, the message has 10 MB, which takes many seconds.
  expect(performance.now() - startedAt).toBeLessThan(5_000)
})

test('a message whose list claims to be longer than the message is refused without memory for the list', () => {
  const bytes = Buffer.alloc(512)
  bytes.writeUIntBE(13 * 32, 12 * 32 + 26, 6)
  bytes.writeUIntBE(2 ** 25 - 1, 13 * 32 + 26, 6)
  const before = process.memoryUsage().heapTotal
  expect(codeOf(() => readMessage(bytes))).toBe('EXECUTOR_MESSAGE')
  // The whole list takes 256 MiB.
  expect(process.memoryUsage().heapTotal - before).toBeLessThan(64 * 1_048_576)
})
