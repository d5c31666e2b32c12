import { describe, expect, test } from 'vitest'
import { code, durationText, foreign, paragraphs, summaryText, workflowLink } from '../../domain/text/web-ui-text.ts'

describe('summaries', () => {
  test('summaries are one line without markup', () => {
    expect(summaryText('paused: [click](https://evil.test)\n**now** `x` <b>{namespace}')).toBe(
      "paused: (click)(https[:]//evil.test) ··now·· 'x' ‹b›(namespace)",
    )
  })

  test("summaries stay far below the server's 400 bytes in any script", () => {
    for (const letter of ['a', 'ß', '漢', '🜁', '"']) {
      const short = summaryText(letter.repeat(1_000))
      expect(Buffer.byteLength(short)).toBeLessThanOrEqual(200)
      expect(short.endsWith('…')).toBe(true)
    }
    expect(summaryText('LANE_NONE: both bsc lanes are paused')).toBe('LANE_NONE: both bsc lanes are paused')
  })

  test('summaries can be made of any run, also where it lacks a field', () => {
    expect([undefined, null, 7, { a: 1 }].map(summaryText)).toEqual(['', 'null', '7', '("a":1)'])
  })
})

describe("a stranger's text within Markdown", () => {
  test("a stranger's text makes no link, HTML, emphasis, line or placeholder of the Web UI", () => {
    expect(foreign('a [b](http://c.test) <img src=x> *d* _e_ `f` {runId} | www.g.test\n# h\u202e\u0000')).toBe(
      'a \\[b\\](http\\[:\\]//c.test) \\<img src=x\\> \\*d\\* \\_e\\_ \\`f\\` \\{runId\\} \\| www\\[.\\]g.test # h',
    )
  })

  test("a stranger's text is bounded", () => expect(foreign('x'.repeat(10_000))).toBe(`${'x'.repeat(500)}…`))

  test("a stranger's text cannot end its code span", () => expect(code('a `b` {c}\nd')).toBe("`a 'b'  c  d`"))
})

test('links lead to workflows of the same Web UI, whatever their ids are', () => {
  expect(workflowLink('default', 'lane:evm-1:0xab', 'lane evm-1:0xab')).toBe(
    '[lane evm-1:0xab](/namespaces/default/workflows/lane%3Aevm-1%3A0xab)',
  )
  expect(workflowLink('a/b', 'x) [y](z', 'x]')).toBe('[x\\]](/namespaces/a%2Fb/workflows/x%29%20%5By%5D%28z)')
})

test('durations are said as a person says them', () => {
  expect([0, 1_400, 119_000, 120_000, 30 * 60_000, 3_600_000, 3 * 3_600_000].map(durationText)).toEqual([
    ...['1 s', '1 s', '119 s', '2 min', '30 min', '60 min', '3 h'],
  ])
})

test('paragraphs leave out what there is not', () => expect(paragraphs('a', undefined, false, '', 'b')).toBe('a\n\nb'))
