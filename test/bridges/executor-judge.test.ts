import { UniversalAddress } from '@wormhole-foundation/sdk-definitions'
import { concat, getBytes, SigningKey, toBeHex } from 'ethers'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { RequestForExecution } from '../../bridges/executor/event.ts'
import { exceeded, type ExecutorTerms, judge } from '../../bridges/executor/judge.ts'
import { costOf, encodeQuote, type Quote } from '../../bridges/executor/quote.ts'
import { decodeRequest, type RequestPrefix } from '../../bridges/executor/requests.ts'
import { devnetAccount } from '../../lab/devnet/chain/accounts.ts'
import { bytesOf, highestU64, type Instruction, key, price as anyPrice, quoter, signed, u128, u64 } from '../helpers/executor.ts'

const wanted = fc.record({ gasLimit: u128, msgValue: u128, dropOff: u128 })
const prices = fc.record({ baseFee: u64, gasPrice: u64, sourcePrice: anyPrice, targetPrice: u64 })

describe('the price', () => {
  test('the price is the least amount that is not below the exact one', () => {
    fc.assert(
      fc.property(prices, wanted, ({ baseFee, gasPrice, sourcePrice, targetPrice }, one) => {
        const cost = costOf({ baseFee, gasPrice, sourcePrice, targetPrice }, one)
        // The contract's formula for coins with 18 decimals, multiplied by `sourcePrice`, because a division would
        // round.
        const exact = baseFee * 10n ** 8n * sourcePrice + (one.gasLimit * gasPrice + one.msgValue + one.dropOff) * targetPrice
        expect(cost * sourcePrice).toBeGreaterThanOrEqual(exact)
        expect((cost - 1n) * sourcePrice).toBeLessThan(exact)
      }),
    )
  })

  test('the price never falls if more is wanted, or if the target or the gas become dearer', () => {
    fc.assert(
      fc.property(
        prices,
        wanted,
        u64,
        fc.constantFrom('gasLimit', 'msgValue', 'dropOff', 'gasPrice', 'targetPrice', 'baseFee'),
        (of, one, more, field) => {
          const dearer =
            field in one
              ? costOf(of, { ...one, [field]: one[field as keyof typeof one] + more })
              : costOf({ ...of, [field]: of[field as keyof typeof of] + more }, one)
          expect(dearer).toBeGreaterThanOrEqual(costOf(of, one))
          if (field !== 'baseFee' && of.sourcePrice + more <= highestU64)
            expect(costOf({ ...of, sourcePrice: of.sourcePrice + more }, one)).toBeLessThanOrEqual(costOf(of, one))
        },
      ),
    )
  })

  test('the price of an empty request is the base fee, or zero without a base fee', () => {
    const none = { gasLimit: 0n, msgValue: 0n, dropOff: 0n }
    const of = { baseFee: 1n, gasPrice: highestU64, sourcePrice: 1n, targetPrice: highestU64 }
    expect([costOf(of, none), costOf({ ...of, baseFee: 0n }, none)]).toEqual([10n ** 8n, 0n])
  })

  test('the price of 250,000 gas at 2 gwei for BNB at $600, paid in ETH at $3,000, is a fifth', () => {
    const of = { baseFee: 0n, gasPrice: 2_000_000_000n, sourcePrice: 3_000n * 10n ** 10n, targetPrice: 600n * 10n ** 10n }
    expect(costOf(of, { gasLimit: 250_000n, msgValue: 0n, dropOff: 0n })).toBe(100_000_000_000_000n)
  })

  test('the price of coins and gas together is the base fee and their worth', () => {
    const of = { baseFee: 5n, gasPrice: 10n, sourcePrice: 2n, targetPrice: 4n }
    expect(costOf(of, { gasLimit: 3n, msgValue: 7n, dropOff: 0n })).toBe(500_000_000n + 74n)
  })
})

describe('the judgement of a request', () => {
  const receivers = { [`0x${'cc'.repeat(20)}`]: {} }
  const caps = { maxGasLimit: 1_000_000n, maxMsgValue: 1_000n, maxGasDropOff: 600n }
  const terms: ExecutorTerms = {
    quoter,
    honourExpired: false,
    chains: new Map([2, 4].map((id) => [id, { caps, receivers, prefixes: ['ERV1' as const] }])),
  }
  const quote: Quote = {
    ...{ quoter, payee: '00'.repeat(32), sourceChain: 2, targetChain: 4, expiry: 2_000n },
    ...{ baseFee: 10n ** 9n, gasPrice: 1n, sourcePrice: 10n ** 10n, targetPrice: 10n ** 10n },
  }
  const gas = (gasLimit: bigint, msgValue = 0n): Instruction => ({ type: 'GasInstruction', gasLimit, msgValue })
  const drop = (dropOff: bigint): Instruction => ({
    type: 'GasDropOffInstruction',
    dropOff,
    recipient: new UniversalAddress('ab'.repeat(32)),
  })
  const message = concat([Buffer.from('ERV1'), '0x0002', `0x${'ab'.repeat(32)}`, toBeHex(7, 8)])
  const price = 10n ** 17n + 500_000n
  const request = (fields: Partial<RequestForExecution> = {}, of: Partial<Quote> = {}, by = key): RequestForExecution => ({
    ...{ quoter, amountPaid: price, targetChain: 4, targetAddress: `${'0'.repeat(24)}${'cc'.repeat(20)}`, refundAddress: quoter },
    ...{ signedQuote: signed({ ...quote, ...of }, by), request: getBytes(message), instructions: bytesOf([gas(500_000n)]) },
    ...fields,
  })
  const at = { requestedAt: 1_000, now: 1_500 }
  const judged = (one: RequestForExecution, times: Parameters<typeof judge>[2] = at, by = terms) => judge(one, 2, times, by)

  test('a good request is accepted with what it asks for, and its quote', () => {
    expect(judged(request())).toEqual({
      kind: 'accepted',
      wanted: { gasLimit: 500_000n, msgValue: 0n, dropOff: 0n },
      quote,
    })
  })

  test('a request for any contract is accepted where a record shows deliveries', () => {
    const other = request({ targetAddress: `${'0'.repeat(24)}${'dd'.repeat(20)}` })
    expect(judged(other)).toMatchObject({ code: 'EXECUTOR_UNSUPPORTED' })
    const recordContract = quoter
    expect(
      judged(other, at, { ...terms, chains: new Map([[4, { caps, receivers, recordContract, prefixes: ['ERV1' as const] }]]) }),
    ).toMatchObject({ kind: 'accepted' })
  })

  test.each<[string, RequestForExecution, string, string]>([
    ['a quoter that is not ours', request({ quoter: devnetAccount(21).address }), 'EXECUTOR_QUOTE_UNKNOWN', 'unsupported'],
    [
      'a quote of another quoter, under our name',
      request({}, { quoter: devnetAccount(21).address }),
      'EXECUTOR_QUOTE_UNKNOWN',
      'unsupported',
    ],
    [
      'a quote in our name that another key signed',
      request({}, {}, new SigningKey(devnetAccount(21).privateKey)),
      'EXECUTOR_QUOTE_UNKNOWN',
      'unsupported',
    ],
    ['a quote without a signature', request({ signedQuote: encodeQuote(quote) }), 'EXECUTOR_QUOTE_UNKNOWN', 'unsupported'],
    ['no quote', request({ signedQuote: new Uint8Array() }), 'EXECUTOR_QUOTE_UNKNOWN', 'unsupported'],
    ['a quote for another source', request({}, { sourceChain: 5 }), 'EXECUTOR_UNSUPPORTED', 'unsupported'],
    ['a quote for another target', request({}, { targetChain: 2 }), 'EXECUTOR_UNSUPPORTED', 'unsupported'],
    ['a target that is not served', request({ targetChain: 5 }, { targetChain: 5 }), 'EXECUTOR_UNSUPPORTED', 'unsupported'],
    ['the source as the target', request({ targetChain: 2 }, { targetChain: 2 }), 'EXECUTOR_UNSUPPORTED', 'unsupported'],
    ['an unknown kind of request', request({ request: getBytes('0x4552423101') }), 'EXECUTOR_UNSUPPORTED', 'unsupported'],
    ['a kind that is not delivered', request({ request: getBytes('0x4552433201') }), 'EXECUTOR_UNSUPPORTED', 'unsupported'],
    ['an address of another family', request({ targetAddress: 'cc'.repeat(32) }), 'EXECUTOR_UNSUPPORTED', 'unsupported'],
    ['a contract without a view', request({ targetAddress: `${'0'.repeat(24)}${'dd'.repeat(20)}` }), 'EXECUTOR_UNSUPPORTED', 'unsupported'],
    ['the address 0', request({ targetAddress: '00'.repeat(32) }), 'EXECUTOR_UNSUPPORTED', 'unsupported'],
    ['half an instruction', request({ instructions: bytesOf([gas(100_000n)]).subarray(0, 20) }), 'EXECUTOR_UNSUPPORTED', 'unsupported'],
    ['no gas limit', request({ instructions: bytesOf([drop(1n)]) }), 'EXECUTOR_UNSUPPORTED', 'unsupported'],
    ['less gas than any delivery needs', request({ instructions: bytesOf([gas(99_999n)]) }), 'EXECUTOR_UNSUPPORTED', 'unsupported'],
    [
      'gas above the cap, in two parts',
      request({ instructions: bytesOf([gas(600_000n), gas(400_001n)]) }),
      'EXECUTOR_UNSUPPORTED',
      'unsupported',
    ],
    ['coins above the cap', request({ instructions: bytesOf([gas(100_000n, 1_001n)]) }), 'EXECUTOR_UNSUPPORTED', 'unsupported'],
    ['a drop-off above the cap', request({ instructions: bytesOf([gas(100_000n), drop(601n)]) }), 'EXECUTOR_UNSUPPORTED', 'unsupported'],
    [
      'coins and a drop-off that are above the cap together',
      request({ instructions: bytesOf([gas(100_000n, 500n), drop(501n)]) }),
      'EXECUTOR_UNSUPPORTED',
      'unsupported',
    ],
    ['a payment of one wei too few', request({ amountPaid: price - 1n }), 'EXECUTOR_UNDERPAID', 'underpaid'],
    ['a quote that had expired in its block', request({}, { expiry: 1_000n }), 'EXECUTOR_EXPIRED', 'aborted'],
    ['a quote that has expired by now', request({}, { expiry: 1_500n }), 'EXECUTOR_EXPIRED', 'aborted'],
  ])('a request with %s is refused', (_, one, code, status) => {
    expect(judged(one)).toMatchObject({ kind: 'refused', code, status })
  })

  describe.each<[RequestPrefix, string]>([
    ['ERN1', concat([Buffer.from('ERN1'), '0x0002', `0x${'cd'.repeat(32)}`, `0x${'ef'.repeat(32)}`])],
    ['ERC1', concat([Buffer.from('ERC1'), toBeHex(0, 4), toBeHex(7, 8)])],
    ['ERC2', concat([Buffer.from('ERC2'), '0x01'])],
  ])('of the kind %s', (prefix, bytes) => {
    const paying: ExecutorTerms = {
      ...terms,
      chains: new Map([[4, { caps, receivers: {}, prefixes: [prefix], dropOffContracts: { [prefix]: quoter } }]]),
    }
    const asked = { request: getBytes(bytes) }

    test('a paid transfer needs no view of a contract, and may have a drop-off that its contract pays', () => {
      const one = request({ ...asked, instructions: bytesOf([gas(500_000n), drop(600n)]), amountPaid: 2n * price })
      expect(judged(one, at, paying)).toMatchObject({ kind: 'accepted' })
      expect(decodeRequest(one.request)).toMatchObject({ prefix })
      const unpaid = { ...terms, chains: new Map([[4, { caps, receivers: {}, prefixes: [prefix] }]]) }
      expect(judged(one, at, unpaid)).toMatchObject({ kind: 'refused', code: 'EXECUTOR_UNSUPPORTED' })
    })

    test.each<[string, RequestForExecution, string]>([
      ['with a quote that nobody signed', request({ ...asked, signedQuote: encodeQuote(quote) }), 'EXECUTOR_QUOTE_UNKNOWN'],
      ['with a quote that another key signed', request(asked, {}, new SigningKey(devnetAccount(21).privateKey)), 'EXECUTOR_QUOTE_UNKNOWN'],
      ['with an expired quote', request(asked, { expiry: 1_500n }), 'EXECUTOR_EXPIRED'],
      ['that is underpaid', request({ ...asked, amountPaid: price - 1n }), 'EXECUTOR_UNDERPAID'],
      ['that asks for msg.value', request({ ...asked, instructions: bytesOf([gas(100_000n, 1n)]) }), 'EXECUTOR_UNSUPPORTED'],
      ['with gas above the cap', request({ ...asked, instructions: bytesOf([gas(1_000_001n)]) }), 'EXECUTOR_UNSUPPORTED'],
      ['with less gas than any delivery needs', request({ ...asked, instructions: bytesOf([gas(99_999n)]) }), 'EXECUTOR_UNSUPPORTED'],
      ['with a byte too many', request({ request: getBytes(concat([bytes, '0x00'])) }), 'EXECUTOR_UNSUPPORTED'],
    ])('a request for a paid transfer is refused %s', (_, one, code) => {
      expect(judged(one, at, paying)).toMatchObject({ kind: 'refused', code })
    })
  })

  test('a transfer of NTT that starts on another chain than its request is refused', () => {
    const elsewhere = concat([Buffer.from('ERN1'), '0x0005', `0x${'cd'.repeat(32)}`, `0x${'ef'.repeat(32)}`])
    const ntt = { ...terms, chains: new Map([[4, { caps, receivers: {}, prefixes: ['ERN1' as const] }]]) }
    expect(judged(request({ request: getBytes(elsewhere) }), at, ntt)).toMatchObject({ code: 'EXECUTOR_UNSUPPORTED' })
  })

  test('an underpaid request names the missing amount', () => {
    expect(judged(request({ amountPaid: 5n }))).toMatchObject({ reason: expect.stringContaining(String(price - 5n)) })
  })

  test('a late message is delivered if the config honours expired quotes, but not one requested too late', () => {
    const honours = { ...terms, honourExpired: true }
    expect(judged(request(), { requestedAt: 1_999, now: 90_000 }, honours)).toMatchObject({ kind: 'accepted' })
    expect(judged(request(), { requestedAt: 2_000, now: 90_000 }, honours)).toMatchObject({ code: 'EXECUTOR_EXPIRED' })
  })

  test('instructions of more than 2,048 bytes are not read, however little they ask for', () => {
    const repeated = (count: number) => request({ instructions: bytesOf([gas(500_000n), ...Array<Instruction>(count).fill(gas(0n))]) })
    expect(judged(repeated(61))).toMatchObject({ kind: 'accepted' })
    expect(judged(repeated(62))).toMatchObject({ status: 'unsupported', code: 'EXECUTOR_UNSUPPORTED' })
  })

  test('the largest instructions that are read overflow nothing', () => {
    const all = Array.from({ length: 62 }, () => gas(2n ** 128n - 1n, 2n ** 128n - 1n))
    expect(judged(request({ instructions: bytesOf(all), amountPaid: 2n ** 256n - 1n }))).toMatchObject({ code: 'EXECUTOR_UNSUPPORTED' })
    const wide = { maxGasLimit: 2n ** 200n, maxMsgValue: 2n ** 200n, maxGasDropOff: 0n }
    const dear = request(
      { instructions: bytesOf(all), amountPaid: 2n ** 256n - 1n },
      { gasPrice: highestU64, targetPrice: highestU64, sourcePrice: 1n },
    )
    expect(judged(dear, at, { ...terms, chains: new Map([[4, { caps: wide, receivers, prefixes: ['ERV1' as const] }]]) })).toMatchObject({
      code: 'EXECUTOR_UNDERPAID',
    })
  })

  test('a request whose transfer has started may pay for less than the least gas limit, but not for no gas', () => {
    const asking = (gasLimit: bigint) => judged(request({ instructions: bytesOf([gas(gasLimit)]) }), { ...at, hasStarted: true })
    expect(asking(1n)).toMatchObject({ kind: 'accepted' })
    for (const gasLimit of [0n, 1_000_001n]) expect(asking(gasLimit)).toMatchObject({ code: 'EXECUTOR_UNSUPPORTED' })
  })

  test('hostile bytes in every field are judged, and never accepted', () => {
    const junk = fc.uint8Array({ maxLength: 300 })
    fc.assert(
      fc.property(fc.constantFrom('signedQuote' as const, 'request' as const, 'instructions' as const), junk, (field, bytes) => {
        expect(judged(request({ [field]: bytes })).kind).toBe('refused')
      }),
    )
  })

  test('a request exactly at the caps, or at the minimum gas limit, is accepted', () => {
    expect(exceeded({ gasLimit: 1_000_000n, msgValue: 400n, dropOff: 600n }, caps)).toBeUndefined()
    expect(exceeded({ gasLimit: 100_000n, msgValue: 0n, dropOff: 0n }, caps)).toBeUndefined()
    expect(exceeded({ gasLimit: 99_999n, msgValue: 0n, dropOff: 0n }, caps)).toBe('the gas limit 99999 is below 100000')
  })
})
