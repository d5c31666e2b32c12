import { bumpFees, feeLimitReached, worstCost } from '../../domain/fees.ts'
import { finalizedHeight } from '../../domain/finality.ts'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'

const wei = fc.bigInt({ min: 0n, max: 10n ** 24n }).map(String)
const fees = fc.tuple(wei, wei).map(([a, b]) => (BigInt(a) >= BigInt(b) ? { maxFee: a, tip: b } : { maxFee: b, tip: a }))

describe('bumpFees', () => {
  test('is 20 % above the highest of each field, rounded up', () => {
    const previous = [
      { maxFee: '101', tip: '1' },
      { maxFee: '90', tip: '7' },
    ]
    expect(bumpFees(previous, { maxFee: '50', tip: '1' })).toEqual({ maxFee: '122', tip: '9' })
  })

  test('is the market where that is more, field by field', () => {
    expect(bumpFees([{ maxFee: '100', tip: '1' }], { maxFee: '500', tip: '1' })).toEqual({ maxFee: '500', tip: '2' })
    expect(bumpFees([{ maxFee: '100', tip: '10' }], { maxFee: '110', tip: '50' })).toEqual({ maxFee: '120', tip: '50' })
  })

  test('raises zero by a wei, and the cap with the tip', () => {
    expect(bumpFees([{ maxFee: '0', tip: '0' }], { maxFee: '0', tip: '0' })).toEqual({ maxFee: '1', tip: '1' })
    expect(bumpFees([{ maxFee: '10', tip: '10' }], { maxFee: '5', tip: '90' })).toEqual({ maxFee: '90', tip: '90' })
  })

  test('replaces whatever was sent, by the strictest rule of the nodes, and never lets the tip pass the cap', () => {
    fc.assert(
      fc.property(fc.array(fees, { minLength: 1, maxLength: 5 }), fees, (previous, market) => {
        const bumped = bumpFees(previous, market)
        for (const field of ['maxFee', 'tip'] as const) {
          for (const before of previous) {
            // go-ethereum asks for 10 % (PriceBump) and for more than before.
            expect(BigInt(bumped[field]) * 100n >= BigInt(before[field]) * 110n).toBe(true)
            expect(BigInt(bumped[field]) > BigInt(before[field])).toBe(true)
          }
          expect(BigInt(bumped[field]) >= BigInt(market[field])).toBe(true)
        }
        expect(BigInt(bumped.tip) <= BigInt(bumped.maxFee)).toBe(true)
      }),
    )
  })

  test('keeps a legacy gas price a gas price', () => {
    fc.assert(
      fc.property(fc.array(wei, { minLength: 1, maxLength: 4 }), wei, (previous, market) => {
        const both = (price: string) => ({ maxFee: price, tip: price })
        const { maxFee, tip } = bumpFees(previous.map(both), both(market))
        expect(maxFee).toBe(tip)
      }),
    )
  })
})

describe('feeLimitReached', () => {
  const market = { maxFee: '100', tip: '10' }

  /** The raises until the limit, blocks that nothing gets into. */
  function raised(first: { maxFee: string; tip: string }, at: { maxFee: string; tip: string }) {
    const offered = [first]
    while (!feeLimitReached(offered, at) && offered.length < 1_000) offered.push(bumpFees(offered, at))
    return offered
  }

  test('ends the raises at five times the market or the first offer, whichever is dearer, plus one raise', () => {
    expect(raised(market, market).at(-1)).toEqual({ maxFee: '519', tip: '58' })
    expect(raised({ maxFee: '1000', tip: '1' }, market)).toHaveLength(10)
    expect(raised({ maxFee: '1', tip: '1' }, market).at(-1)?.maxFee).toBe('519')
  })

  test('is lifted by a market that rises, in fee or in tip', () => {
    const offered = raised(market, market)
    expect(feeLimitReached(offered, { maxFee: '200', tip: '10' })).toBe(false)
    expect(feeLimitReached(offered, { maxFee: '100', tip: '1000' })).toBe(false)
  })

  test('holds for no first offer', () => {
    expect(feeLimitReached([], market)).toBe(false)
  })
})

describe('worstCost', () => {
  test('is gas limit × fee cap + value, beyond what a number holds', () => {
    expect(worstCost({ gasLimit: '21000', maxFee: '3', tip: '1' })).toBe(63_000n)
    expect(worstCost({ gasLimit: '30000000', maxFee: '1000000000000', tip: '1', value: '9007199254740993' })).toBe(
      30_009_007_199_254_740_993n,
    )
  })
})

describe('finalizedHeight', () => {
  test('is the head, a depth below it, or the tag', () => {
    expect(finalizedHeight({ kind: 'instant' }, 10, 3)).toBe(10)
    expect(finalizedHeight({ kind: 'depth', blocks: 4 }, 10, 9)).toBe(6)
    expect(finalizedHeight({ kind: 'depth', blocks: 40 }, 10, undefined)).toBe(0)
    expect(finalizedHeight({ kind: 'tag' }, 10, 3)).toBe(3)
  })

  test('is the first block where a node has no tag yet', () => {
    expect(finalizedHeight({ kind: 'tag' }, 10, undefined)).toBe(0)
  })
})
