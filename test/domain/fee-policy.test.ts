import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { feeLimits } from '../../operations/orders/fees.ts'
import {
  type FeePolicy,
  type FeeRule,
  type FeeScope,
  type FeeSubject,
  firstOffer,
  nextOffer,
  type Offer,
  resolveFees,
  selectorOf,
} from '../../domain/fees/fees.ts'

const contract = `0x${'ab'.repeat(20)}`
const about: Required<FeeSubject> = {
  chain: 'alpha',
  transfer: 't:1',
  lane: 'evm-1:0xaa',
  contract,
  selector: '0x12345678',
  deliveries: 1,
  terms: {},
}
/** The scopes, from the least to the most specific. */
const scopes: readonly FeeScope[] = [
  { kind: 'global' },
  { kind: 'chain', chain: 'alpha' },
  { kind: 'call', chain: 'alpha', contract },
  { kind: 'call', chain: 'alpha', contract, selector: '0x12345678' },
  { kind: 'lane', lane: 'evm-1:0xaa' },
  { kind: 'transfer', id: 't:1' },
]
const strangers: readonly FeeScope[] = [
  { kind: 'chain', chain: 'beta' },
  { kind: 'call', chain: 'beta', contract },
  { kind: 'call', chain: 'alpha', contract: `0x${'cd'.repeat(20)}` },
  { kind: 'call', chain: 'alpha', contract, selector: '0x87654321' },
  { kind: 'lane', lane: 'evm-2:0xaa' },
  { kind: 'transfer', id: 't:2' },
]

const wei = fc.bigInt({ min: 0n, max: 10n ** 20n }).map(String)
const policy: fc.Arbitrary<FeePolicy> = fc.record(
  {
    maxFeePerGas: wei,
    maxTip: wei,
    maxFeePerTransaction: wei,
    baseFeeCeiling: wei,
    gasFactor: fc.double({ min: 1, max: 5 }),
    tipFactor: fc.double({ min: 0.5, max: 10 }),
    bumpPercent: fc.integer({ min: 10, max: 100 }),
    gasLimit: wei,
  },
  { requiredKeys: [] },
)

describe('resolveFees', () => {
  test('each field of a policy comes from the most specific scope that sets it, in any sequence of rules', () => {
    const rules = fc
      .shuffledSubarray(scopes.map((_, rank) => rank))
      .chain((ranks) => fc.tuple(...ranks.map((rank) => policy.map((one) => ({ rank, policy: one })))).map((list) => list))
    fc.assert(
      fc.property(rules, (given) => {
        const resolved = resolveFees(
          given.map(({ rank, policy: one }) => ({ scope: scopes[rank] as FeeScope, policy: one })),
          about,
        )
        for (const field of feeLimits) {
          const setting = given.filter(({ policy: one }) => one[field] !== undefined).sort((a, b) => b.rank - a.rank)[0]
          expect(resolved[field]).toBe(setting?.policy[field])
        }
      }),
    )
  })

  test('a rule for something else has no effect', () => {
    const rules = strangers.map((scope): FeeRule => ({ scope, policy: { maxFeePerGas: '1' } }))
    expect(resolveFees(rules, about)).toEqual({})
    // A payment has no selector, and a quote may have no lane yet.
    expect(
      resolveFees(
        scopes.slice(2).map((scope) => ({ scope, policy: { maxTip: '1' } })),
        { chain: 'alpha' },
      ),
    ).toEqual({})
  })

  test('the later of two rules with one scope wins for each field that it defines', () => {
    const scope: FeeScope = { kind: 'lane', lane: 'evm-1:0xAA' }
    const rules = [
      { scope, policy: { maxFeePerGas: '1', maxTip: '1' } },
      { scope, policy: { maxFeePerGas: '2', maxTip: undefined } },
    ]
    expect(resolveFees(rules, about)).toEqual({ maxFeePerGas: '2', maxTip: '1' })
  })

  test('contracts and selectors are compared in any case', () => {
    const rules: FeeRule[] = [
      { scope: { kind: 'call', chain: 'alpha', contract: contract.toUpperCase().replace('X', 'x') }, policy: { gasFactor: 2 } },
    ]
    expect(resolveFees(rules, about)).toEqual({ gasFactor: 2 })
    expect(selectorOf('0xABCDEF0123')).toBe('0xabcdef01')
    expect(selectorOf('0x')).toBeUndefined()
  })
})

describe('the terms of a submission', () => {
  const limit = fc.option(fc.bigInt(0n, 2n ** 200n).map(String), { nil: undefined })
  const limits = fc.record({ maxFeePerGas: limit, maxFeePerTransaction: limit })
  const market = { baseFee: '100', maxFee: '210', tip: '10', cap: '400' }
  const cost = { gasLimit: '21000' }
  const highest = (offer: Offer) => (offer.kind === 'offer' ? [BigInt(offer.maxFee), BigInt(offer.tip)] : [0n, 0n])

  test('terms must leave room for one raise above the price of gas; limits of operators need none', () => {
    const offer = (maxFeePerGas: string) => firstOffer(market, { terms: { maxFeePerGas } }, cost)
    expect(offer('110')).toMatchObject({
      kind: 'wait',
      code: 'FEE_LIMIT',
      reason: expect.stringContaining('132 wei with room for a raise'),
    })
    expect(offer('131')).toMatchObject({ kind: 'wait' })
    expect(offer('132')).toMatchObject({ kind: 'offer', maxFee: '132' })
    expect(firstOffer(market, { maxFeePerGas: '110' }, cost)).toMatchObject({ kind: 'offer', maxFee: '110' })
    const legacy = { maxFee: '100', tip: '100' }
    const policy = { terms: { maxFeePerGas: '120' } }
    expect(firstOffer(legacy, policy, cost)).toEqual({ kind: 'offer', ...legacy })
    expect(nextOffer([legacy], legacy, { ...cost, kind: 'call', policy })).toEqual({ maxFee: '120', tip: '120' })
  })

  test('terms lower the first offer and raise neither a limit nor a default cap', () => {
    fc.assert(
      fc.property(limits, limits, fc.constantFrom('90', '150', '400'), (set, terms, cap) => {
        const [without, withTerms] = [{}, { terms }].map((more) => highest(firstOffer({ ...market, cap }, { ...set, ...more }, cost)))
        expect(withTerms!.every((wei, index) => wei <= without![index]!)).toBe(true)
        expect(withTerms![0]! <= BigInt(terms.maxFeePerGas ?? 2n ** 200n)).toBe(true)
        expect(withTerms![0]! * 21_000n <= BigInt(terms.maxFeePerTransaction ?? 2n ** 250n)).toBe(true)
      }),
    )
  })

  test('terms never make a raise possible, and none goes above them', () => {
    const fees = fc.bigInt(1n, 10n ** 6n).map((wei) => ({ maxFee: String(wei * 2n), tip: String(wei) }))
    fc.assert(
      fc.property(limits, limits, fc.array(fees, { minLength: 1, maxLength: 4 }), (set, terms, offered) => {
        const [without, withTerms] = [{}, { terms }].map((more) =>
          nextOffer(offered, market, { ...cost, kind: 'call', policy: { ...set, ...more } }),
        )
        if (!withTerms) return
        expect(without).toBeDefined()
        expect(BigInt(withTerms.maxFee) <= BigInt(terms.maxFeePerGas ?? 2n ** 200n)).toBe(true)
      }),
    )
  })

  test('forged terms change nothing', () => {
    for (const forged of ['-1', '1e3', '', 5, null, {}])
      expect(firstOffer(market, { terms: { maxFeePerGas: forged as string } }, cost)).toEqual(firstOffer(market, {}, cost))
  })
})
