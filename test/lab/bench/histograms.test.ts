import { expect, test } from 'vitest'
import { added, quantile, readHistogram } from '../../../lab/bench/histograms.ts'

const text = `# TYPE h histogram
h_bucket{le="1",step="a",chain="x"} 2
h_bucket{le="2",step="a",chain="x"} 4
h_bucket{le="+Inf",step="a",chain="x"} 4
h_sum{step="a",chain="x"} 5
h_bucket{le="1",step="a",chain="y"} 0
h_bucket{le="2",step="a",chain="y"} 0
h_bucket{le="+Inf",step="a",chain="y"} 4
other_bucket{le="1"} 9`

test('series are read by their labels, added up, and cut at a share as Prometheus does', () => {
  const series = readHistogram(text, 'h')
  expect(series.map(({ labels, count }) => [labels['chain'], labels['le'], count])).toEqual([
    ['x', undefined, 4],
    ['y', undefined, 4],
  ])
  const [x] = series
  expect(quantile(x?.buckets ?? [], 0.5)).toBe(1)
  expect(quantile(x?.buckets ?? [], 0.75)).toBe(1.5)
  const all = added(series)
  expect(all).toEqual([
    [1, 2],
    [2, 4],
    [Infinity, 8],
  ])
  expect(quantile(all, 0.9)).toBe(2)
  expect(quantile([], 0.5)).toBeUndefined()
})
