import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'

const css = readFileSync(fileURLToPath(new URL('../../../api/page/style/colours.css', import.meta.url)), 'utf8')

function coloursOf(theme: string): Record<string, string> {
  const [, block = ''] = new RegExp(`data-theme='${theme}'\\] \\{([^}]*)\\}`).exec(css) ?? []
  return Object.fromEntries([...block.matchAll(/--([\w-]+): (#[0-9a-f]{6});/g)].map(([, name = '', value = '']) => [name, value]))
}

/** Relative luminance, as WCAG 2.2 defines it. */
function luminance(colour: string): number {
  const [r = 0, g = 0, b = 0] = [1, 3, 5].map((at) => {
    const part = Number.parseInt(colour.slice(at, at + 2), 16) / 255
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4
  })
  return 0.2126 * r + 0.7152 * g + 0.0722 * b
}

function contrast(a: string, b: string): number {
  const [light, dark] = [luminance(a), luminance(b)].toSorted((x, y) => y - x) as [number, number]
  return (light + 0.05) / (dark + 0.05)
}

const grounds = ['ground', 'surface', 'raised']
const tints = ['good-tint', 'wait-tint', 'bad-tint']
/** Colours of text and of its backgrounds. WCAG 1.4.3 requires a contrast of 4.5. */
const texts: readonly (readonly [string, readonly string[]])[] = [
  ['ink', [...grounds, ...tints]],
  ['muted', grounds],
  ['accent', [...grounds, ...tints]],
  ['good', [...grounds, 'good-tint']],
  ['wait', [...grounds, 'wait-tint']],
  ['bad', [...grounds, 'bad-tint']],
  ['on-accent', ['accent']],
  ['surface', ['bad']],
]
/** Colours of edges and chart lines, and of their backgrounds. WCAG 1.4.11 requires a contrast of 3. */
const shapes: readonly (readonly [string, readonly string[]])[] = [
  ['edge', ['surface', 'raised']],
  ['series-1', ['surface']],
  ['series-2', ['surface']],
]

describe.each(['light', 'dark'])('the %s theme', (theme) => {
  const colours = coloursOf(theme)
  const weak = (pairs: typeof texts, least: number) =>
    pairs.flatMap(([front, backs]) =>
      backs.flatMap((back) => {
        const found = contrast(colours[front] ?? '', colours[back] ?? '')
        return found >= least ? [] : [`${front} on ${back}: ${found.toFixed(2)}`]
      }),
    )

  test('text has AA contrast on every background', () => {
    expect(Object.keys(colours).length).toBeGreaterThan(15)
    expect(weak(texts, 4.5)).toEqual([])
  })

  test('edges and lines have enough contrast to their background', () => expect(weak(shapes, 3)).toEqual([]))

  test('each theme has every colour of the other', () => {
    expect(Object.keys(colours).sort()).toEqual(Object.keys(coloursOf(theme === 'light' ? 'dark' : 'light')).sort())
  })
})

test('the contrast of black and white is computed right', () => {
  expect(contrast('#000000', '#ffffff')).toBeCloseTo(21)
  expect(contrast('#777777', '#ffffff')).toBeCloseTo(4.48, 2)
  // A missing colour gives NaN, which fails every comparison.
  expect(contrast('', '#ffffff')).toBeNaN()
})
