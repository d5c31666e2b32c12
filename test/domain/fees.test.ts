import {
  bumpFees,
  costNow,
  type Fees,
  feeLimitReached,
  firstOffer,
  marketFor,
  nextOffer,
  pricedOut,
  worstCost,
  type FeePolicy,
} from '../../domain/fees/fees.ts'
import { finalizedHeight } from '../../domain/finality.ts'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'

const wei = fc.bigInt({ min: 0n, max: 10n ** 24n }).map(String)
const fees = fc.tuple(wei, wei).map(([a, b]) => (BigInt(a) >= BigInt(b) ? { maxFee: a, tip: b } : { maxFee: b, tip: a }))

describe('bumpFees', () => {
  test('bumped fees are 20 % above the highest of each field, rounded up', () => {
    const previous = [
      { maxFee: '101', tip: '1' },
      { maxFee: '90', tip: '7' },
    ]
    expect(bumpFees(previous, { maxFee: '50', tip: '1' })).toEqual({ maxFee: '122', tip: '9' })
  })

  test("bumped fees are the market's where that is more, field by field", () => {
    expect(bumpFees([{ maxFee: '100', tip: '1' }], { maxFee: '500', tip: '1' })).toEqual({ maxFee: '500', tip: '2' })
    expect(bumpFees([{ maxFee: '100', tip: '10' }], { maxFee: '110', tip: '50' })).toEqual({ maxFee: '120', tip: '50' })
  })

  test('bumping raises zero by a wei, and the cap with the tip', () => {
    expect(bumpFees([{ maxFee: '0', tip: '0' }], { maxFee: '0', tip: '0' })).toEqual({ maxFee: '1', tip: '1' })
    expect(bumpFees([{ maxFee: '10', tip: '10' }], { maxFee: '5', tip: '90' })).toEqual({ maxFee: '90', tip: '90' })
  })

  test('bumped fees replace earlier ones by the strictest rule of the nodes, with the tip within the cap', () => {
    fc.assert(
      fc.property(fc.array(fees, { minLength: 1, maxLength: 5 }), fees, fc.integer({ min: 10, max: 100 }), (previous, market, percent) => {
        const bumped = bumpFees(previous, market, percent)
        for (const field of ['maxFee', 'tip'] as const) {
          for (const before of previous) {
            // go-ethereum accepts a replacement only if it pays at least 10 % more (PriceBump), and at least 1 wei
            // more.
            expect(BigInt(bumped[field]) * 100n >= BigInt(before[field]) * BigInt(100 + percent)).toBe(true)
            expect(BigInt(bumped[field]) > BigInt(before[field])).toBe(true)
          }
          expect(BigInt(bumped[field]) >= BigInt(market[field])).toBe(true)
        }
        expect(BigInt(bumped.tip) <= BigInt(bumped.maxFee)).toBe(true)
      }),
    )
  })

  test('bumping keeps a legacy gas price a gas price', () => {
    fc.assert(
      fc.property(fc.array(wei, { minLength: 1, maxLength: 4 }), wei, (previous, market) => {
        const both = (price: string) => ({ maxFee: price, tip: price })
        const { maxFee, tip } = bumpFees(previous.map(both), both(market))
        expect(maxFee).toBe(tip)
      }),
    )
  })
})

describe('marketFor', () => {
  test('a fee policy multiplies the tip, and raises the highest fee by the same amount', () => {
    const quote = { baseFee: '100', maxFee: '210', tip: '10', cap: '1000' }
    expect(marketFor(quote, {})).toEqual(quote)
    expect(marketFor(quote, { tipFactor: 1.25 })).toEqual({ ...quote, maxFee: '213', tip: '13' })
    expect(marketFor(quote, { tipFactor: 0.5 })).toEqual({ ...quote, maxFee: '205', tip: '5' })
  })

  test('without a base fee, the factor applies to the gas price', () => {
    expect(marketFor({ maxFee: '70', tip: '70' }, { tipFactor: 2 })).toEqual({ maxFee: '140', tip: '140' })
  })

  test('an offer that a limit forbids names the limit', () => {
    const market = { maxFee: '30', tip: '1', baseFee: '10', cap: '500' }
    const reasonOf = (policy: FeePolicy) => {
      const offer = firstOffer(market, policy, { gasLimit: '100' })
      return offer.kind === 'wait' ? offer.reason : offer.kind
    }
    expect(reasonOf({ maxFeePerTransaction: '1' })).toContain('(by maxFeePerTransaction: 1 wei)')
    expect(reasonOf({ maxFeePerTransaction: '200', maxFeePerGas: '9' })).toContain('(by maxFeePerTransaction: 200 wei)')
    expect(reasonOf({ maxFeePerTransaction: '5000', maxFeePerGas: '9' })).toContain('(by maxFeePerGas: 9 wei)')
    expect(reasonOf({})).toBe('offer')
  })

  test('whatever the factor, no offer exceeds a limit of the policy', () => {
    fc.assert(
      fc.property(fees, wei, wei, fc.double({ min: 0.5, max: 10, noNaN: true }), (quote, maxFeePerGas, maxTip, tipFactor) => {
        const policy = { maxFeePerGas, maxTip, tipFactor }
        const offer = firstOffer(marketFor({ ...quote, baseFee: '1' }, policy), policy, { gasLimit: '1' })
        if (offer.kind !== 'offer') return
        expect([BigInt(offer.maxFee) <= BigInt(maxFeePerGas), BigInt(offer.tip) <= BigInt(maxTip)]).toEqual([true, true])
        expect(BigInt(offer.tip) <= BigInt(offer.maxFee)).toBe(true)
      }),
    )
  })
})

describe('feeLimitReached', () => {
  const market = { maxFee: '100', tip: '10' }

  function raised(first: { maxFee: string; tip: string }, at: { maxFee: string; tip: string }) {
    const offered = [first]
    while (!feeLimitReached(offered, at) && offered.length < 1_000) offered.push(bumpFees(offered, at))
    return offered
  }

  test('raises end at five times the market or the first offer, whichever is dearer, plus one raise', () => {
    expect(raised(market, market).at(-1)).toEqual({ maxFee: '519', tip: '58' })
    expect(raised({ maxFee: '1000', tip: '1' }, market)).toHaveLength(10)
    expect(raised({ maxFee: '1', tip: '1' }, market).at(-1)?.maxFee).toBe('519')
  })

  test('a market that rises, in fee or in tip, lifts the limit of raises', () => {
    const offered = raised(market, market)
    expect(feeLimitReached(offered, { maxFee: '200', tip: '10' })).toBe(false)
    expect(feeLimitReached(offered, { maxFee: '100', tip: '1000' })).toBe(false)
  })

  test('the limit of raises does not hold for a first offer', () => {
    expect(feeLimitReached([], market)).toBe(false)
  })
})

describe('firstOffer', () => {
  const market = { baseFee: '100', maxFee: '210', tip: '10' }
  const cost = { gasLimit: '1000' }

  test('the first offer is the market where no limit is set', () => {
    expect(firstOffer(market, {}, cost)).toEqual({ kind: 'offer', maxFee: '210', tip: '10' })
  })

  test('the first offer is lowered to the caps as far as the next block can take it', () => {
    expect(firstOffer(market, { maxFeePerGas: '110' }, cost)).toEqual({ kind: 'offer', maxFee: '110', tip: '10' })
    expect(firstOffer(market, { maxTip: '3' }, cost)).toEqual({ kind: 'offer', maxFee: '210', tip: '3' })
    expect(firstOffer(market, { maxFeePerTransaction: '150500' }, cost)).toEqual({ kind: 'offer', maxFee: '150', tip: '10' })
    expect(firstOffer(market, { maxFeePerTransaction: '150500' }, { ...cost, dataFee: '30000' })).toMatchObject({ maxFee: '120' })
  })

  test('the first offer waits where the caps leave too little, and above the ceiling', () => {
    expect(firstOffer(market, { maxFeePerGas: '109' }, cost)).toMatchObject({ kind: 'wait', code: 'FEE_LIMIT' })
    expect(firstOffer(market, { maxFeePerGas: '103', maxTip: '3' }, cost)).toMatchObject({ kind: 'offer', maxFee: '103', tip: '3' })
    expect(firstOffer(market, { maxFeePerTransaction: '5' }, { ...cost, dataFee: '6' })).toMatchObject({ kind: 'wait', code: 'FEE_LIMIT' })
    expect(firstOffer(market, { baseFeeCeiling: '99' }, cost)).toMatchObject({ kind: 'wait', code: 'FEE_CEILING' })
    expect(firstOffer(market, { baseFeeCeiling: '100' }, cost)).toMatchObject({ kind: 'offer' })
  })

  test('an offer for more gas than allowed is impossible', () => {
    expect(firstOffer(market, { gasLimit: '999' }, cost)).toMatchObject({ kind: 'impossible', code: 'GAS_LIMIT' })
    expect(firstOffer(market, { gasLimit: '1000' }, cost)).toMatchObject({ kind: 'offer' })
  })

  test('a legacy gas price stays one, is no tip, and counts as a base fee', () => {
    const price = { maxFee: '50', tip: '50' }
    expect(firstOffer(price, { maxTip: '1', maxFeePerGas: '50' }, cost)).toEqual({ kind: 'offer', ...price })
    expect(firstOffer(price, { maxFeePerGas: '49' }, cost)).toMatchObject({ kind: 'wait', code: 'FEE_LIMIT' })
    expect(firstOffer(price, { baseFeeCeiling: '49' }, cost)).toMatchObject({ kind: 'wait', code: 'FEE_CEILING' })
  })
})

describe('nextOffer', () => {
  const market = { baseFee: '100', maxFee: '210', tip: '10' }
  const call = { kind: 'call' as const, gasLimit: '1000' }
  const noop = { kind: 'noop' as const, gasLimit: '21000' }

  test('the next offer is 20 % more or the market, lowered to the caps, never above them', () => {
    expect(nextOffer([{ maxFee: '100', tip: '1' }], market, { ...call, policy: {} })).toEqual({ maxFee: '210', tip: '10' })
    expect(nextOffer([{ maxFee: '100', tip: '1' }], market, { ...call, policy: { maxFeePerGas: '150', maxTip: '2' } })).toEqual({
      maxFee: '150',
      tip: '2',
    })
    expect(nextOffer([{ maxFee: '100', tip: '1' }], market, { ...call, policy: { maxFeePerGas: '119' } })).toBeUndefined()
    expect(nextOffer([{ maxFee: '100', tip: '1' }], market, { ...call, policy: { maxTip: '1' } })).toBeUndefined()
    expect(
      nextOffer([{ maxFee: '100', tip: '1' }], market, { ...call, dataFee: '1', policy: { maxFeePerTransaction: '120000' } }),
    ).toBeUndefined()
  })

  test('caps replace the limit of raises, which does not hold for urgent offers', () => {
    const dear = [
      { maxFee: '210', tip: '10' },
      { maxFee: '2000', tip: '100' },
    ]
    expect(nextOffer(dear, market, { ...call, policy: {} })).toBeUndefined()
    expect(nextOffer(dear, market, { ...call, policy: {}, urgent: true })).toEqual({ maxFee: '2400', tip: '120' })
    expect(nextOffer(dear, market, { ...call, policy: { maxFeePerGas: '2400' } })).toEqual({ maxFee: '2400', tip: '120' })
    expect(nextOffer(dear, market, { ...call, policy: { maxFeePerGas: '2399' }, urgent: true })).toBeUndefined()
  })

  test('a no-op exceeds the caps only as far as outbidding needs, and within the limit of raises', () => {
    const policy = { maxFeePerGas: '100', maxTip: '1' }
    expect(nextOffer([{ maxFee: '100', tip: '1' }], market, { ...noop, policy })).toEqual({ maxFee: '120', tip: '2' })
    expect(nextOffer([{ maxFee: '5000', tip: '50' }], market, { ...noop, policy })).toEqual({ maxFee: '6000', tip: '60' })
    const raised = [{ maxFee: '100', tip: '1' }]
    for (let fees; (fees = nextOffer(raised, market, { ...noop, policy }));) raised.push(fees)
    expect(BigInt(raised.at(-1)?.maxFee ?? '0')).toBeGreaterThanOrEqual(1050n)
    expect(BigInt(raised.at(-1)?.maxFee ?? '0')).toBeLessThanOrEqual(1260n)
  })

  test('an unknown transaction is outbid by a no-op up to the balance, by a call up to its caps', () => {
    const legacy = { maxFee: 99n, tip: 99n }
    const steep = { maxFee: 10_500n, tip: 10_500n }
    const until = (raising: Parameters<typeof nextOffer>[2], there: { maxFee: bigint; tip: bigint }) => {
      const offered = [{ maxFee: '210', tip: '10' }]
      const short = () => {
        const { maxFee, tip } = offered.at(-1) ?? { maxFee: '0', tip: '0' }
        return BigInt(maxFee) * 10n < there.maxFee * 11n || BigInt(tip) * 10n < there.tip * 11n
      }
      for (let fees; short() && (fees = nextOffer(offered, market, { ...raising, outpriced: true }));) offered.push(fees)
      return { enough: !short(), tries: offered.length, maxFee: BigInt(offered.at(-1)?.maxFee ?? '0') }
    }
    expect(until({ ...noop, policy: { maxFeePerGas: '100' } }, steep)).toMatchObject({ enough: true })
    expect(until({ ...noop, policy: { maxFeePerGas: '100' } }, steep).tries).toBeLessThan(25)
    // The balance suffices for 21,000 gas at 2,000 wei each.
    const poor = until({ ...noop, policy: {}, balance: '42000000' }, steep)
    expect(poor.enough).toBe(false)
    expect(poor.maxFee).toBeLessThanOrEqual(2_000n)
    expect(until({ ...call, policy: {} }, legacy)).toMatchObject({ enough: true })
    expect(until({ ...call, policy: {} }, { maxFee: 10n ** 9n, tip: 10n ** 9n })).toMatchObject({ enough: false })
    const capped = until({ ...call, policy: { maxFeePerGas: '3000' } }, steep)
    expect(capped.enough).toBe(false)
    expect(capped.maxFee).toBeLessThanOrEqual(3_000n)
    expect(until({ ...call, policy: {}, balance: '1000000', value: '1000000' }, legacy)).toMatchObject({ enough: false })
  })

  test("an operator's own fees exceed the caps, and still replace", () => {
    const policy = { maxFeePerGas: '100' }
    const raising = { ...call, policy, urgent: true, atLeast: { maxFee: '500' } }
    expect(nextOffer([{ maxFee: '100', tip: '1' }], market, raising)).toEqual({ maxFee: '500', tip: '10' })
    expect(nextOffer([{ maxFee: '450', tip: '1' }], market, raising)).toEqual({ maxFee: '540', tip: '10' })
  })

  test('an offer for a call never exceeds its caps, and always replaces', () => {
    fc.assert(
      fc.property(
        fc.array(fees, { minLength: 1, maxLength: 4 }),
        fees,
        wei,
        wei,
        fc.boolean(),
        fc.boolean(),
        (offered, quote, maxFeePerGas, maxTip, urgent, outpriced) => {
          const next = nextOffer(offered, { ...quote, baseFee: '1' }, { ...call, policy: { maxFeePerGas, maxTip }, urgent, outpriced })
          const replaces =
            ({ maxFee, tip }: Fees) =>
            (of: Fees) =>
              BigInt(maxFee) * 5n >= BigInt(of.maxFee) * 6n && BigInt(tip) * 5n >= BigInt(of.tip) * 6n
          const within = ({ maxFee, tip }: Fees) =>
            BigInt(maxFee) <= BigInt(maxFeePerGas) && BigInt(tip) <= BigInt(maxTip) && BigInt(tip) <= BigInt(maxFee)
          expect(next === undefined || (within(next) && offered.every(replaces(next)))).toBe(true)
        },
      ),
    )
  })
})

describe('pricedOut', () => {
  test('attempts are priced out only when none of them pays the base fee', () => {
    const offered = [{ maxFee: '99', tip: '1' }]
    expect(pricedOut(offered, '100')).toBe(true)
    expect(pricedOut([...offered, { maxFee: '100', tip: '1' }], '100')).toBe(false)
    expect(pricedOut(offered, undefined)).toBe(false)
  })
})

describe('worstCost', () => {
  test('the worst cost is gas limit × fee cap + value, also beyond a safe integer', () => {
    expect(worstCost({ gasLimit: '21000', maxFee: '3', tip: '1' })).toBe(63_000n)
    expect(worstCost({ gasLimit: '21000', maxFee: '3', tip: '1', dataFee: '7', value: '1' })).toBe(63_008n)
    expect(worstCost({ gasLimit: '30000000', maxFee: '1000000000000', tip: '1', value: '9007199254740993' })).toBe(
      30_009_007_199_254_740_993n,
    )
  })
})

describe('finalizedHeight', () => {
  test('the finalized height is the head, a depth below it, or the tag', () => {
    expect(finalizedHeight({ kind: 'instant' }, 10, 3)).toBe(10)
    expect(finalizedHeight({ kind: 'depth', blocks: 4 }, 10, 9)).toBe(6)
    expect(finalizedHeight({ kind: 'depth', blocks: 40 }, 10, undefined)).toBe(0)
    expect(finalizedHeight({ kind: 'tag' }, 10, 3)).toBe(3)
  })

  test('the finalized height is the first block where a node has no tag yet', () => {
    expect(finalizedHeight({ kind: 'tag' }, 10, undefined)).toBe(0)
  })
})

test('a call costs its gas at base fee and tip, or at the legacy price, and its data', () => {
  expect(costNow({ gasLimit: '100', dataFee: '7' }, { baseFee: '9', tip: '1', maxFee: '19' })).toBe(1_007n)
  expect(costNow({ gasLimit: '100' }, { tip: '5', maxFee: '5' })).toBe(500n)
})
