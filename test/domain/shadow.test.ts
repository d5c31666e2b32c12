import fc from 'fast-check'
import { expect, test } from 'vitest'
import { shadowCallOf, shadowReason } from '../../domain/transfer/shadow.ts'

const number = fc.bigInt(0n, 10n ** 30n).map(String)
const call = fc.record({
  lane: fc.constant(`evm-1:0x${'a'.repeat(40)}`),
  to: fc.constant(`0x${'b'.repeat(40)}`),
  selector: fc.constantFrom('0x12345678', '0x'),
  gasLimit: fc.bigInt(0n, 10n ** 12n).map(String),
  maxFee: number,
  cost: number,
})

test('the status of a shadow transfer gives its figures back, to the wei, and its reason says them', () => {
  fc.assert(
    fc.property(call, (one) => {
      expect(shadowCallOf({ reason: shadowReason(one), shadowCall: one })).toEqual(one)
    }),
  )
  const one = { lane: 'evm-1:0xa', to: '0xb', selector: '0x12345678', gasLimit: '21000', maxFee: '2000000000', cost: '1' }
  expect(shadowReason(one)).toBe('evm-1:0xa would call 0x12345678 of 0xb with 21000 gas at up to 2 gwei; it costs 1 wei now')
})

test.each([
  undefined,
  null,
  'x',
  {},
  { shadowCall: null },
  { shadowCall: { lane: 'x', cost: 'much' } },
  { reason: 'halted by ops: a test' },
])('%j has no figures', (status) => expect(shadowCallOf(status)).toBeUndefined())
