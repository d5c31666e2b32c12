import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { addInterval, countNumbers, hasNumber, missingBetween, type IntervalSet } from '../../domain/stream/interval-set.ts'

/** Above 2^53, where numbers of JavaScript are no longer exact. */
const base = 2n ** 63n
const text = (offset: number) => String(base + BigInt(offset))
const spans = fc.array(
  fc.tuple(fc.nat(60), fc.nat(6)).map(([from, length]) => [from, from + length] as const),
  { maxLength: 30 },
)

/** The same set the plain way. */
function model(list: readonly (readonly [number, number])[]): Set<number> {
  return new Set(list.flatMap(([from, to]) => Array.from({ length: to - from + 1 }, (_, index) => from + index)))
}

function built(list: readonly (readonly [number, number])[]): IntervalSet {
  return list.reduce<IntervalSet>((set, [from, to]) => addInterval(set, text(from), text(to)), [])
}

describe('an interval set', () => {
  test('has what was added, in any order, and nothing else', () => {
    fc.assert(
      fc.property(spans, (list) => {
        const [set, wanted] = [built(list), model(list)]
        expect(countNumbers(set)).toBe(BigInt(wanted.size))
        for (let offset = 0; offset < 70; offset++) expect(hasNumber(set, text(offset))).toBe(wanted.has(offset))
      }),
    )
  })

  test('is as short as can be: ascending intervals that do not touch', () => {
    fc.assert(
      fc.property(spans, (list) => {
        const set = built(list)
        for (const [index, [from, to]] of set.entries()) {
          expect(BigInt(from)).toBeLessThanOrEqual(BigInt(to))
          const next = set[index + 1]
          if (next) expect(BigInt(next[0])).toBeGreaterThan(BigInt(to) + 1n)
        }
      }),
    )
  })

  test('tells what is missing between two numbers', () => {
    fc.assert(
      fc.property(spans, fc.nat(60), fc.nat(70), (list, first, last) => {
        const [set, wanted] = [built(list), model(list)]
        const missing = missingBetween(set, text(first), text(last))
        for (let offset = 0; offset < 80; offset++) {
          expect(hasNumber(missing, text(offset))).toBe(offset >= first && offset <= last && !wanted.has(offset))
        }
      }),
    )
  })

  test('survives JSON', () => {
    const set = built([
      [1, 4],
      [9, 9],
    ])
    expect(JSON.parse(JSON.stringify(set))).toEqual(set)
  })

  test('refuses what is no interval', () => {
    expect(() => addInterval([], '5', '4')).toThrow(RangeError)
    expect(() => addInterval([], '-1')).toThrow(RangeError)
    expect(() => addInterval([], '1.5')).toThrow(RangeError)
  })
})
