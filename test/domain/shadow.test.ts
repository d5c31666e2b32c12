import fc from 'fast-check'
import { expect, test } from 'vitest'
import { shadowCallIn, shadowReason } from '../../domain/transfer/shadow.ts'

const number = fc.bigInt(0n, 10n ** 30n).map(String)
const call = fc.record({
  lane: fc.constant(`evm-1:0x${'a'.repeat(40)}`),
  to: fc.constant(`0x${'b'.repeat(40)}`),
  selector: fc.constantFrom('0x12345678', '0x'),
  gasLimit: fc.bigInt(0n, 10n ** 12n).map(String),
  maxFee: number,
  cost: number,
})

test('the reason of a shadow transfer gives its figures back, to the wei', () => {
  fc.assert(
    fc.property(call, (one) => {
      expect(shadowCallIn(shadowReason(one))).toEqual(one)
    }),
  )
})

test.each(['', 'halted by ops: a test', 'x would call 0x of 0x1 with 1 gas at up to 1 gwei; it costs much now'])(
  '%j has no figures',
  (reason) => expect(shadowCallIn(reason)).toBeUndefined(),
)
