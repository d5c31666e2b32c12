import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { feeLimits } from '../../operations/orders/settings.ts'
import { type FeePolicy, type FeeRule, type FeeScope, type FeeSubject, lowered, resolveFees, selectorOf } from '../../domain/fees/fees.ts'

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
/** From the least specific to the most. */
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
    // Nor does a rule about what is not known: a payment has no selector, a quote may have no lane yet.
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

describe('lowered', () => {
  const limit = fc.option(fc.bigInt(0n, 2n ** 200n).map(String), { nil: undefined })
  const limits = fc.record({ maxFeePerGas: limit, maxFeePerTransaction: limit })

  test('terms lower the limits of a policy and never raise them; its other fields stay', () => {
    fc.assert(
      fc.property(limits, limits, (set, terms) => {
        const policy: FeePolicy = lowered({ ...set, gasLimit: '5' }, terms)
        for (const field of ['maxFeePerGas', 'maxFeePerTransaction'] as const) {
          const values = [set[field], terms[field]].filter((value) => value !== undefined).map(BigInt)
          const least = values.reduce<bigint | undefined>((a, b) => (a === undefined || b < a ? b : a), undefined)
          expect(policy[field]).toBe(least?.toString())
        }
        expect(policy.gasLimit).toBe('5')
      }),
    )
  })

  test('forged terms change nothing', () => {
    for (const forged of ['-1', '1e3', '', 5, null, {}])
      expect(lowered({ maxFeePerGas: '7' }, { maxFeePerGas: forged as string })).toEqual({ maxFeePerGas: '7' })
  })
})
