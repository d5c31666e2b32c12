import { expect, test } from 'vitest'
import { describeErrors } from '../../observability/describe-errors.ts'
import { describeMetrics } from '../../observability/describe-metrics.ts'
import { errorCatalogue } from '../../domain/errors.ts'
import { createMetrics, metricDefinitions } from '../../observability/metrics.ts'

test('render as Prometheus text', () => {
  const metrics = createMetrics()
  metrics.outcomes.increment({ target: 'ethereum', state: 'delivered', code: '' })
  metrics.outcomes.increment({ target: 'ethereum', state: 'delivered', code: '' })
  metrics.rpcCalls.set({ chain: 'a"b\\c', method: 'eth_call' }, 12)
  metrics.deliverySeconds.observe({ target: 'ethereum' }, 1.5)
  metrics.deliverySeconds.observe({ target: 'ethereum' }, 10_000)
  const lines = metrics.render().split('\n')
  expect(lines).toContain('# TYPE portage_transfers_total counter')
  expect(lines).toContain('portage_transfers_total{target="ethereum",state="delivered",code=""} 2')
  expect(lines).toContain('portage_rpc_calls_total{chain="a\\"b\\\\c",method="eth_call"} 12')
  expect(lines.filter((line) => line.startsWith('portage_delivery_seconds'))).toEqual([
    'portage_delivery_seconds_bucket{target="ethereum",le="0.5"} 0',
    'portage_delivery_seconds_bucket{target="ethereum",le="1"} 0',
    ...[2, 5, 10, 20, 30, 60, 120, 300, 900].map((bound) => `portage_delivery_seconds_bucket{target="ethereum",le="${bound}"} 1`),
    'portage_delivery_seconds_bucket{target="ethereum",le="+Inf"} 2',
    'portage_delivery_seconds_sum{target="ethereum"} 10001.5',
    'portage_delivery_seconds_count{target="ethereum"} 2',
  ])
  expect(metrics.render().endsWith('\n')).toBe(true)
})

test('values that others keep are read at every render; one that fails does not take the rest with it', () => {
  const metrics = createMetrics()
  let height = 5
  metrics.onCollect(() => {
    throw new Error('closed')
  })
  const end = metrics.onCollect((all) => all.headHeight.set({ chain: 'ethereum' }, height))
  expect(metrics.render()).toContain('portage_head_height{chain="ethereum"} 5')
  height = 6
  expect(metrics.render()).toContain('portage_head_height{chain="ethereum"} 6')
  end()
  height = 7
  expect(metrics.render()).toContain('portage_head_height{chain="ethereum"} 6')
})

test('an operation that a kind does not have is refused', () => {
  const metrics = createMetrics()
  expect(() => metrics.outcomes.observe({ target: 'a', state: 'b', code: 'c' }, 1)).toThrow('portage_transfers_total is a counter')
  expect(() => metrics.deliverySeconds.increment({ target: 'a' })).toThrow('portage_delivery_seconds is a histogram')
})

test('names keep to the conventions', () => {
  for (const { name, kind } of Object.values(metricDefinitions)) {
    expect(name).toMatch(/^portage_[a-z_]+$/)
    expect([name, name.endsWith('_total')]).toEqual([name, kind === 'counter'])
    if (kind === 'histogram') expect(name).toMatch(/_seconds$/)
  }
})

test('every metric and every code is in its document', () => {
  const metrics = describeMetrics()
  for (const { name } of Object.values(metricDefinitions)) expect(metrics).toContain(`| \`${name}\` |`)
  const errors = describeErrors()
  for (const code of Object.keys(errorCatalogue)) expect(errors).toContain(`| \`${code}\` |`)
})
