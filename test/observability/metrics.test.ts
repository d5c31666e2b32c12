import { expect, test } from 'vitest'
import { describeErrors } from '../../scripts/docs/errors.ts'
import { describeMetrics } from '../../scripts/docs/metrics.ts'
import { errorCatalogue } from '../../domain/catalogue/errors.ts'
import { createMetrics, metricDefinitions } from '../../observability/metrics.ts'

test('metrics render as Prometheus text', async () => {
  const metrics = createMetrics()
  metrics.portage_intake_refused_total.inc({ via: 'spy', bridge: 'b', code: 'VAA_NO_QUORUM' })
  metrics.portage_intake_refused_total.inc({ via: 'spy', bridge: 'b', code: 'VAA_NO_QUORUM' })
  metrics.portage_rpc_calls_total.inc({ chain: 'a"b\\c', method: 'eth_call', node: 'node-1' }, 12)
  metrics.portage_api_request_seconds.observe({ route: 'GET /' }, 0.015)
  metrics.portage_api_request_seconds.observe({ route: 'GET /' }, 10_000)
  const lines = (await metrics.render()).split('\n')
  expect(lines).toContain('# TYPE portage_intake_refused_total counter')
  expect(lines).toContain('portage_intake_refused_total{via="spy",bridge="b",code="VAA_NO_QUORUM"} 2')
  expect(lines).toContain('portage_rpc_calls_total{chain="a\\"b\\\\c",method="eth_call",node="node-1"} 12')
  expect(lines.filter((line) => line.startsWith('portage_api_request_seconds'))).toEqual([
    'portage_api_request_seconds_bucket{le="0.005",route="GET /"} 0',
    'portage_api_request_seconds_bucket{le="0.01",route="GET /"} 0',
    ...[0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10].map((bound) => `portage_api_request_seconds_bucket{le="${bound}",route="GET /"} 1`),
    'portage_api_request_seconds_bucket{le="+Inf",route="GET /"} 2',
    'portage_api_request_seconds_sum{route="GET /"} 10000.015',
    'portage_api_request_seconds_count{route="GET /"} 2',
  ])
  expect((await metrics.render()).endsWith('\n')).toBe(true)
})

test('values of other objects are read at every rendering; a collector that throws affects no other', async () => {
  const metrics = createMetrics()
  let height = 5
  metrics.onCollect(() => {
    throw new Error('closed')
  })
  const end = metrics.onCollect((all) => all.portage_head_height.set({ chain: 'ethereum' }, height))
  expect(await metrics.render()).toContain('portage_head_height{chain="ethereum"} 5')
  height = 6
  expect(await metrics.render()).toContain('portage_head_height{chain="ethereum"} 6')
  end()
  height = 7
  expect(await metrics.render()).toContain('portage_head_height{chain="ethereum"} 6')
})

test('a slow request does not age the values of other objects, which are read after it', async () => {
  const metrics = createMetrics()
  let height = 5
  metrics.onCollect((all) => all.portage_head_height.set({ chain: 'ethereum' }, height))
  metrics.onRefresh(async () => {
    await new Promise(setImmediate)
    height = 6
  })
  metrics.onRefresh(() => Promise.reject(new Error('no answer')))
  expect(await metrics.render()).toContain('portage_head_height{chain="ethereum"} 6')
})

test('an operation that a kind does not have is refused', () => {
  const metrics = createMetrics()
  // @ts-expect-error a gauge does not observe
  expect(() => metrics.portage_head_height.observe({ chain: 'a' }, 1)).toThrow(TypeError)
  // @ts-expect-error a histogram does not count
  expect(() => metrics.portage_api_request_seconds.inc({ route: 'a' })).toThrow(TypeError)
  // @ts-expect-error a series without one of its labels could not be added up with the others
  metrics.portage_rpc_calls_total.inc({ chain: 'a' })
  expect(() => metrics.portage_rpc_calls_total.inc({ chain: 'a', method: 'm', node: 'n', ...{ other: 'label' } })).toThrow('other')
})

test('names of metrics keep to the conventions', () => {
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
