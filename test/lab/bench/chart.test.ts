import { expect, test } from 'vitest'
import { averaged, lineChart } from '../../../lab/bench/chart.ts'

test('values are averaged over their neighbours, fewer at the ends', () => {
  expect(averaged([0, 3, 6, 9], 3)).toEqual([1.5, 3, 6, 7.5])
  expect(averaged([], 5)).toEqual([])
})

test('a chart has each line from the left to the right, within the picture', () => {
  const svg = lineChart('A < B', [
    { name: 'one', color: '#111', values: [0, 10, 20] },
    { name: 'two & more', color: '#222', values: [5] },
  ])
  expect(svg).toMatch(/^<svg [^>]*>\n<title>A &lt; B<\/title>/)
  expect(svg).toContain('two &amp; more')
  const [first = ''] = /(?<=points=")[^"]*/.exec(svg) ?? []
  const points = first.split(' ').map((point) => point.split(',').map(Number))
  expect(points.map(([x]) => x)).toEqual([48, 376, 704])
  for (const [, y = -1] of points) expect(y > 0 && y < 320).toBe(true)
})

test('a chart without values can be drawn', () => {
  expect(lineChart('nothing', [{ name: 'none', color: '#111', values: [] }])).not.toMatch(/NaN|Infinity/)
})
