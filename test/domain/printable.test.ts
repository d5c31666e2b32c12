import { orderLimits, orderOf } from '../../domain/order.ts'
import { clip } from '../../domain/stream/gaps.ts'
import { harmless, oneLine, printable } from '../../domain/text/printable.ts'
import { foreign, summaryText } from '../../domain/text/web-ui-text.ts'
import fc from 'fast-check'
import { expect, test } from 'vitest'

const hostile = fc.constantFrom('\u202e', '\u2066', '\u2069', '\u200b', '\u200d', '\ufeff', '\u2028', '\u2029', '\u00ad', '\u009b')
const unit = fc.oneof(
  hostile,
  fc.constantFrom('\ud83d', '\ude00', '\u3164', '\u{e0041}', '\ufe0f'),
  fc.string({ unit: 'binary', maxLength: 8 }),
)
const texts = fc.array(unit, { maxLength: 400 }).map((units) => units.join(''))

/** Names code points instead of Unicode's classes, because the tested functions use these classes. */
const isSeen = (text: string) =>
  Array.from(text).every((sign) => {
    const point = sign.codePointAt(0) ?? 0
    const between = (from: number, to: number) => point >= from && point <= to
    const reorders = between(0x200b, 0x200f) || between(0x2028, 0x202e) || between(0x2060, 0x206f) || point === 0x61c
    return !(reorders || between(0, 0x1f) || between(0x7f, 0x9f) || between(0xd800, 0xdfff) || point === 0xfeff || point === 0x3164)
  })

test('texts of strangers keep no character that controls or reorders a line, or that is invisible', () => {
  fc.assert(
    fc.property(texts, (text) => {
      const order = orderOf({ by: text, reason: text })
      const shown = [printable(text), oneLine(text), harmless(text), foreign(text), summaryText(text), clip(text), order.by, order.reason]
      expect(shown.filter((one) => !isSeen(one))).toEqual([])
      expect(printable(text).length).toBeLessThanOrEqual(300)
      expect(order.by.length).toBeLessThanOrEqual(orderLimits.by)
      expect(printable(printable(text))).toBe(printable(text))
    }),
  )
})

test('a name that would reorder the line of a terminal is shown in its own order', () => {
  expect(printable('USDC \u202egnp.exe\u2066')).toBe('USDC  gnp.exe')
  expect(harmless('USDC \u202egnp.exe')).toBe('USDC <U+202E>gnp.exe')
})

test('a text is never cut within a pair of surrogates', () => {
  expect(printable(`${'a'.repeat(299)}😀`)).toBe('a'.repeat(299))
  expect(orderOf({ by: `${'a'.repeat(99)}😀`, reason: 'x' }).by).toBe('a'.repeat(99))
})
