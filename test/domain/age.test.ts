import { expect, test } from 'vitest'
import { ageText, agoText, parseAge } from '../../domain/text/age.ts'

test.each([
  ['90s', 90_000],
  ['15m', 900_000],
  ['3h', 10_800_000],
  ['2d', 172_800_000],
  ['0s', undefined],
  ['1.5h', undefined],
  ['5', undefined],
  ['5 m', undefined],
  ['1000000s', undefined],
  ['', undefined],
])('%s is an age of %s ms', (text, ms) => expect(parseAge(text)).toBe(ms))

test.each([
  [-1, '0 s'],
  [119_499, '119 s'],
  [120_000, '2 min'],
  [7_200_000, '2 h'],
  [172_800_000, '2 days'],
])('%d ms are shown as %s', (ms, text) => expect(ageText(ms)).toBe(text))

test('an age of less than a second is shown as now', () => {
  expect([-5, 0, 999, 1_000, 5_000, 7_200_000].map(agoText)).toEqual(['now', 'now', 'now', '1 s ago', '5 s ago', '2 h ago'])
})
