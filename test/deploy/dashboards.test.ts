import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import { metricDefinitions } from '../../observability/metrics.ts'
import { dashboards } from '../../scripts/dashboards/index.ts'
import { queries, shownMetrics } from '../../scripts/dashboards/query.ts'
import { sdkMetrics } from '../../scripts/dashboards/sdk-metrics.ts'
import { readQuery } from '../helpers/promql.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))
const read = (path: string) => readFileSync(join(root, path), 'utf8')
const files = readdirSync(join(root, 'deploy/grafana')).filter((file) => file.endsWith('.json'))

interface Target {
  readonly expr: string
  readonly legendFormat: string
  readonly datasource: object
  readonly refId: string
}

interface Panel {
  readonly id: number
  readonly type: string
  readonly title: string
  readonly description?: string
  readonly gridPos: { readonly x: number; readonly y: number; readonly w: number; readonly h: number }
  readonly fieldConfig?: { readonly defaults: { readonly unit?: string; readonly custom?: { readonly spanNulls: boolean } } }
  readonly targets?: readonly Target[]
}

interface Grafana {
  readonly uid: string
  readonly title: string
  readonly editable: boolean
  readonly panels: readonly Panel[]
  readonly templating: { readonly list: readonly { readonly name: string; readonly type: string; readonly definition?: string }[] }
}

const all = files.map((file) => [file, JSON.parse(read(`deploy/grafana/${file}`)) as Grafana] as const)
const panelsOf = ({ panels }: Grafana) => panels.filter(({ type }) => type !== 'row')
const objectives = (parse(read('deploy/prometheus/objectives.yml')) as { groups: { rules: { record: string; expr: string }[] }[] }).groups
const records = objectives.flatMap(({ rules }) => rules)

/** Replaces Grafana's variables with values, so that Prometheus can parse the expression. */
const sent = (expr: string) => expr.replaceAll('$__rate_interval', '5m').replaceAll(/"\$\w+"/g, '".+"')

function known(name: string): { readonly kind: string; readonly labels: readonly string[]; readonly name: string } | undefined {
  const bare = name.replace(/_(bucket|count|sum)$/, '')
  const histogram = bare === name ? undefined : shownMetrics.get(bare)
  if (histogram?.kind === 'histogram') return { ...histogram, labels: [...histogram.labels, ...(name.endsWith('_bucket') ? ['le'] : [])] }
  const metric = shownMetrics.get(name)
  if (metric && metric.kind !== 'histogram') return metric
  if (name === 'ALERTS') return { name, kind: 'gauge', labels: ['alertname', 'alertstate', 'severity'] }
  const rule = records.find(({ record }) => record === name)
  return rule && { name, kind: 'gauge', labels: readQuery(rule.expr).grouped }
}

function faultsOf(expr: string): string[] {
  const { faults, asked, grouped } = readQuery(sent(expr))
  const found = [...faults]
  const metrics = asked.map(({ metric }) => known(metric))
  for (const [index, { metric, labels, functions }] of asked.entries()) {
    const definition = metrics[index]
    if (!definition) found.push(`there is no ${metric}`)
    else if (definition.kind === 'counter' || definition.kind === 'histogram') {
      if (!['rate', 'increase'].includes(functions[0] ?? '')) found.push(`${metric} only grows: it needs rate or increase`)
    } else if (['rate', 'increase'].includes(functions[0] ?? '')) found.push(`${metric} is a gauge`)
    for (const label of labels)
      if (definition && !['job', 'instance', ...definition.labels].includes(label)) found.push(`${metric} has no label ${label}`)
  }
  const labels = new Set(['instance', ...metrics.flatMap((one) => one?.labels ?? [])])
  for (const label of grouped) if (!labels.has(label)) found.push(`nothing has a label ${label}`)
  return found
}

describe('the reader of expressions', () => {
  test.each([
    ['sum by (chain (portage_head_height)', '14: '],
    ['max(portage_head_heigth)', 'there is no portage_head_heigth'],
    ['sum(portage_reorgs_total)', 'only grows'],
    ['sum(rate(portage_halts[5m]))', 'is a gauge'],
    ['sum(portage_transfer_seconds)', 'there is no portage_transfer_seconds'],
    ['sum by (lane) (portage_head_height)', 'nothing has a label lane'],
    ['max(portage_head_height{lane="a"})', 'portage_head_height has no label lane'],
    ['max(portage:nothing)', 'there is no portage:nothing'],
  ])('the reader of expressions finds what is wrong with %s', (expr, problem) => {
    expect(faultsOf(expr).join('\n')).toContain(problem)
  })

  test('the reader of expressions accepts valid expressions', () => {
    expect(
      faultsOf(
        'histogram_quantile(0.95, sum by (le, step) (rate(portage_transfer_step_seconds_bucket{chain=~"$chain"}[$__rate_interval])))',
      ),
    ).toEqual([])
    expect(faultsOf('max by (stream) (portage:stream_fresh)')).toEqual([])
  })

  test('no expression is made for an unknown metric, label or part', () => {
    const { max, rate, quantile } = queries()
    expect(() => max('', 'portage_nothing')).toThrow('there is no metric portage_nothing')
    expect(() => max('', 'portage_head_height', 'lane="a"')).toThrow('has no label lane')
    expect(() => rate('', 'portage_transfer_seconds')).toThrow('is a histogram')
    expect(() => quantile(0.5, '', 'portage_halts')).toThrow('is a gauge')
  })
})

describe.each(all)('deploy/grafana/%s', (file, dashboard) => {
  test('a dashboard has its own address, and cannot be edited in Grafana', () => {
    expect([dashboard.uid, dashboard.editable]).toEqual([`portage-${file.replace('.json', '')}`, false])
    expect(all.filter(([, { uid, title }]) => uid === dashboard.uid || title === dashboard.title)).toHaveLength(1)
  })

  test.each(panelsOf(dashboard).map((panel) => [panel.title, panel] as const))('the panel %s has a description and a unit', (_, panel) => {
    expect(panel.description).toMatch(/\S{3}/)
    expect(panel.fieldConfig?.defaults.unit).toMatch(/^(short|none|s|bytes|percentunit|cps|reqps)$/)
    expect(panel.targets?.length).toBeGreaterThan(0)
    for (const { datasource, expr, legendFormat } of panel.targets ?? []) {
      expect(datasource).toEqual({ type: 'prometheus', uid: '${datasource}' })
      expect(faultsOf(expr)).toEqual([])
      // A legend may contain only labels of the result.
      const { grouped } = readQuery(sent(expr))
      const named = [...legendFormat.matchAll(/\{\{ (\w+) \}\}/g)].map(([, label = '']) => label)
      for (const label of named) expect(grouped).toContain(label)
    }
  })

  test('a line of a dashboard ends where its series has no values', () => {
    const lines = panelsOf(dashboard).filter(({ type }) => type === 'timeseries')
    expect(lines.length).toBeGreaterThan(0)
    for (const { fieldConfig } of lines) expect(fieldConfig?.defaults.custom?.spanNulls).toBe(false)
  })

  test('dashboards follow Grafana’s dashboard-linter: data source, job, instance and the ranges of rates', () => {
    const [source, job, instance] = dashboard.templating.list
    expect(source).toMatchObject({ name: 'datasource', label: 'Data source', type: 'datasource', query: 'prometheus' })
    for (const [index, variable] of [job, instance].entries())
      expect(variable).toMatchObject({ name: ['job', 'instance'][index], multi: true, includeAll: true, allValue: '.+', refresh: 2 })
    for (const { expr } of panelsOf(dashboard).flatMap(({ targets = [] }) => targets)) {
      for (const { metric, labels } of readQuery(sent(expr)).asked)
        // Alerts and recording rules add up all processes, so they have no label of a process.
        if (metric !== 'ALERTS' && !metric.startsWith('portage:')) expect(labels).toEqual(expect.arrayContaining(['job', 'instance']))
      expect(expr).not.toMatch(/(rate|increase)\([^[]*\[(?!\$__rate_interval\])/)
    }
  })

  test('panels of a dashboard have their own places and numbers', () => {
    const ids = dashboard.panels.map(({ id }) => id)
    expect(new Set(ids).size).toBe(ids.length)
    const places = dashboard.panels.flatMap(({ gridPos: { x, y, w, h } }) =>
      Array.from({ length: w * h }, (_, index) => `${x + (index % w)}/${y + Math.floor(index / w)}`),
    )
    expect(new Set(places).size).toBe(places.length)
    for (const { gridPos } of dashboard.panels) expect(gridPos.x + gridPos.w).toBeLessThanOrEqual(24)
  })

  test('a dashboard uses exactly the variables that it has', () => {
    const variables = dashboard.templating.list.map(({ name }) => name)
    const text = JSON.stringify(dashboard.panels)
    const used = new Set([...text.matchAll(/\$\{?(\w+)/g)].map(([, name = '']) => name).filter((name) => name !== '__rate_interval'))
    expect([...used].toSorted()).toEqual(variables.toSorted())
    for (const { definition = '' } of dashboard.templating.list.filter(({ type }) => type === 'query')) {
      const [, selector = '', label = ''] = /^label_values\((.+), (\w+)\)$/.exec(definition) ?? []
      expect([faultsOf(selector), ['job', 'instance', ...(known(readQuery(sent(selector)).asked[0]?.metric ?? '')?.labels ?? [])]]).toEqual(
        [[], expect.arrayContaining([label])],
      )
    }
  })
})

describe('the dashboards together', () => {
  const expressions = all.flatMap(([, dashboard]) => panelsOf(dashboard).flatMap(({ targets = [] }) => targets.map(({ expr }) => expr)))
  const asked = new Set(
    [...expressions, ...records.map(({ expr }) => expr)].flatMap((expr) =>
      readQuery(sent(expr)).asked.map(({ metric }) => known(metric)?.name),
    ),
  )

  test('deploy/grafana has exactly the dashboards that are made from code', () => {
    expect(files.map((file) => file.replace('.json', ''))).toEqual(dashboards.map(({ name }) => name).toSorted())
  })

  test('the dashboards show every metric', () => {
    expect([...Object.keys(metricDefinitions), ...sdkMetrics.map(({ name }) => name)].filter((name) => !asked.has(name))).toEqual([])
  })

  test('the dashboards show every objective', () => {
    for (const record of ['portage:stream_fresh', 'portage:lane_spent:ratio']) expect(asked).toContain(record)
  })
})

test("the metrics of Temporal's SDK are in its source", () => {
  const crates = join(root, 'node_modules/@temporalio/core-bridge/sdk-core/crates')
  const sources = ['sdk-core/src/telemetry/metrics.rs', 'common/src/telemetry/metrics.rs', 'client/src/metrics.rs']
  const source = sources.map((path) => readFileSync(join(crates, path), 'utf8')).join('\n')
  // The SDK's source has each name without its prefix and suffix, which the exporter adds.
  const bare = ({ name, kind }: (typeof sdkMetrics)[number]) =>
    name.replace(/^temporal_/, '').replace(kind === 'counter' ? /_total$/ : kind === 'histogram' ? /_seconds$/ : /$^/, '')
  for (const metric of sdkMetrics) expect(source).toContain(`"${bare(metric)}"`)
  for (const label of new Set(sdkMetrics.flatMap(({ labels }) => labels))) expect(source).toContain(`"${label}"`)
})
