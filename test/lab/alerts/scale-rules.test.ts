import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import { alertSeconds, durationSeconds, scaleExpression, scaleRules } from '../../../lab/alerts/scale-rules.ts'
import { readQuery } from '../../helpers/promql.ts'

const file = readFileSync(fileURLToPath(new URL('../../../deploy/prometheus/alerts.yml', import.meta.url)), 'utf8')

interface Rule {
  readonly alert: string
  readonly expr: string
  readonly for?: string
}
const rulesOf = (text: string) => (parse(text) as { groups: { rules: Rule[] }[] }).groups.flatMap(({ rules }) => rules)

describe('rules with shorter times', () => {
  test.each([
    ['changes(a[1h]) == 0', 'changes(a[60000ms]) == 0'],
    ['max(a offset 10m) > 3', 'max(a offset 10000ms) > 3'],
    ['max by (stream) (a_seconds) > 3600', 'max by (stream) (a_seconds) > 60'],
    ['min(a_seconds) > 3600 and max(changes(b[1h])) > 0', 'min(a_seconds) > 60 and max(changes(b[60000ms])) > 0'],
    // `a_blocks` is a count, not a time.
    ['max(a_blocks) > 3600', 'max(a_blocks) > 3600'],
    // A range is never shorter than six seconds, because it would then lack samples.
    ['changes(a[2m]) == 0', 'changes(a[6000ms]) == 0'],
    [
      'increase(a_seconds_bucket{le=~"300(\\\\.0)?"}[1h]) / increase(a_seconds_count[1h]) < 0.99',
      'increase(a_seconds_bucket{le=~"300(\\\\.0)?"}[60000ms]) / increase(a_seconds_count[60000ms]) < 0.99',
    ],
  ])('the times of an expression are scaled: %s', (expr, scaled) => {
    expect(scaleExpression(expr, 60)).toBe(scaled)
  })

  test('scaled rules differ only in their times, and Prometheus understands them', () => {
    const [before, after] = [rulesOf(file), rulesOf(scaleRules(file, 60))]
    expect(after.map(({ alert }) => alert)).toEqual(before.map(({ alert }) => alert))
    for (const [index, rule] of after.entries()) {
      const original = before[index]!
      expect({ ...rule, expr: '', for: '' }).toEqual({ ...original, expr: '', for: '' })
      expect(readQuery(rule.expr).faults).toEqual([])
      expect(readQuery(rule.expr).asked).toEqual(readQuery(original.expr).asked)
      expect(rule.for === undefined).toBe(original.for === undefined)
      if (rule.for !== undefined && original.for !== undefined)
        expect(durationSeconds(rule.for)).toBe(Math.max(3, durationSeconds(original.for) / 60))
    }
  })

  test('scaled rule groups are evaluated more often if they have an interval', () => {
    const text = 'groups: [{ name: a, interval: 4m, rules: [] }, { name: b, rules: [] }]'
    expect(parse(scaleRules(text, 60))).toEqual({
      groups: [
        { name: 'a', interval: '4000ms', rules: [] },
        { name: 'b', rules: [] },
      ],
    })
  })

  test('scaled rules say how long each alert takes', () => {
    const seconds = alertSeconds(file)
    expect([...seconds.keys()]).toEqual(rulesOf(file).map(({ alert }) => alert))
    expect(seconds.get('PortageNodeDown')).toBe(600)
    expect(seconds.get('PortageChainStalled')).toBe(600)
    expect(seconds.get('PortageStreamWatermarkStalled')).toBe(3_900)
    expect(seconds.get('PortageStreamGap')).toBe(3_600)
    expect(seconds.get('PortageExternalNonce')).toBe(3_600)
  })
})

test.each([
  ['1h30m', 5_400],
  ['90s', 90],
  ['250ms', 0.25],
])('%s are %d seconds', (text, seconds) => {
  expect(durationSeconds(text)).toBe(seconds)
})

test.each(['', '5', 'm', '5 m', '5x'])('%j is not a duration', (text) => {
  expect(() => durationSeconds(text)).toThrow('is not a Prometheus duration')
})
