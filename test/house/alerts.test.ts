import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import { catalogue } from '../../domain/catalogue/catalogue.ts'
import { durationSeconds } from '../../lab/alerts/scale-rules.ts'
import { metricDefinitions, type MetricDefinition } from '../../observability/metrics.ts'
import { alertRules } from '../../scripts/docs/runbooks.ts'
import { readQuery } from '../helpers/promql.ts'

const read = (path: string) => readFileSync(fileURLToPath(new URL(`../../${path}`, import.meta.url)), 'utf8')

const rules = alertRules(fileURLToPath(new URL('../..', import.meta.url)))
const definitions = new Map(Object.values(metricDefinitions).map((one): [string, MetricDefinition] => [one.name, one]))
/** The metrics in an expression. A series of a histogram counts as the histogram. */
const metricsOf = (expr: string) =>
  [...expr.matchAll(/portage_\w+/g)].map(([name]) => {
    const histogram = name.replace(/_(bucket|count|sum)$/, '')
    return definitions.get(histogram)?.kind === 'histogram' ? histogram : name
  })
const words = (text: string) => text.split(',').map((word) => word.trim())

test.each(rules.map(({ alert, expr }) => [alert, expr] as const))('%s is a query that Prometheus understands', (_, expr) => {
  expect(readQuery(expr).faults).toEqual([])
})

test('the reader of PromQL reports a query with a fault', () => {
  for (const query of ['max by (lane (a)', 'increase(a[1h) > 0', 'a >', 'nothing(a)']) expect(readQuery(query).faults).not.toEqual([])
})

test.each(rules.map((rule) => [rule.alert, rule] as const))(
  '%s asks only for metrics and labels that exist',
  (_, { expr, annotations }) => {
    const metrics = metricsOf(expr)
    expect(metrics.length).toBeGreaterThan(0)
    for (const name of metrics) expect([...definitions.keys()]).toContain(name)
    const labels = new Set(
      metrics.flatMap((name) => [...(definitions.get(name)?.labels ?? []), ...(expr.includes(`${name}_bucket`) ? ['le'] : [])]),
    )
    const grouped = [...expr.matchAll(/ by \(([^)]*)\)/g)].flatMap(([, list = '']) => words(list))
    const selected = [...expr.matchAll(/(\w+)=~?"/g)].map(([, label = '']) => label)
    const used = [...annotations.summary.matchAll(/\$labels\.(\w+)/g)].map(([, label = '']) => label)
    for (const label of [...grouped, ...selected, ...used]) expect([...labels]).toContain(label)
    // A counter only grows, so without rate or increase, its alert would never resolve.
    for (const name of metrics) if (name.endsWith('_total')) expect(expr).toContain(`increase(${name}[`)
  },
)

test.each(rules)('$alert links to the runbook of a code, and that runbook names the alert', ({ alert, annotations, runbook }) => {
  expect(annotations.runbook_url).toBe(`{{ $externalLabels.portage_docs }}/${runbook}`)
  expect(Object.keys(catalogue)).toContain(/^docs\/runbooks\/(\w+)\.md$/.exec(runbook)?.[1])
  expect(read(runbook)).toContain(`- \`${alert}\` (`)
})

test('docs/operate/monitor/alerts.md names only alerts that exist', () => {
  const named = [...read('docs/operate/monitor/alerts.md').matchAll(/`(Portage[A-Z]\w+)`/g)].map(([, name = '']) => name)
  const known = rules.map(({ alert }) => alert)
  expect(named.filter((name) => !known.includes(name))).toEqual([])
})

test('docs/operate/monitor/alerts.md has one row for each rule', () => {
  const rows = [...read('docs/operate/monitor/alerts.md').matchAll(/^\| `(\w+)` \|/gm)].map(([, name = '']) => name)
  expect(rows).toEqual(rules.map(({ alert }) => alert))
})

test('an external label of Prometheus makes the URL of a runbook absolute, in Compose and in the docs', () => {
  interface Prometheus {
    readonly global: { readonly external_labels: { readonly portage_docs: string } }
    readonly alerting: { readonly alert_relabel_configs: unknown }
  }
  const [documented, alertmanager] = [...read('docs/operate/monitor/alerts.md').matchAll(/```yaml\n([^]*?)```/g)].map(
    ([, text = '']) => text,
  )
  for (const text of [read('deploy/compose/prometheus.yml'), documented ?? '']) {
    const { global, alerting } = parse(text) as Prometheus
    expect(new URL(`${global.external_labels.portage_docs}/docs/runbooks/HALTED.md`).protocol).toBe('https:')
    expect(alerting.alert_relabel_configs).toEqual([{ regex: 'portage_docs', action: 'labeldrop' }])
  }
  expect(alertmanager).toContain('{{ .Annotations.runbook_url }}')
})

describe('docs/operate/monitor/objectives.md', () => {
  const document = read('docs/operate/monitor/objectives.md')
  const { groups } = parse(read('deploy/prometheus/objectives.yml')) as {
    groups: { interval?: string; rules: { record: string; expr: string }[] }[]
  }
  const records = groups.flatMap((group) => group.rules)

  test('docs/operate/monitor/objectives.md has the PromQL of each objective as Prometheus records it', () => {
    const rows = [...document.matchAll(/^\| `(portage:\S+)` \| `(.+)` \|$/gm)].map(([, record, expr]) => ({ record, expr }))
    expect(rows).toEqual(records.map(({ record, expr }) => ({ record, expr })))
    for (const { expr } of records) expect(readQuery(expr).faults).toEqual([])
  })

  test('objectives over a month are recorded in a group of their own, at most every 5 minutes', () => {
    for (const { interval, rules: grouped } of groups) {
      const seconds = interval === undefined ? 0 : durationSeconds(interval)
      for (const { record, expr } of grouped) {
        expect([record, record.endsWith('_30d'), seconds >= 60]).toEqual([record, expr.includes('[30d]'), expr.includes('[30d]')])
      }
      expect(seconds).toBeLessThan(300)
    }
  })

  test('docs/operate/monitor/objectives.md names only series and alerts that exist', () => {
    const series = new Set([...document.matchAll(/portage:\w+(?::\w+)?/g)].map(([name]) => name))
    expect([...series].filter((name) => !records.some(({ record }) => record === name))).toEqual([])
    const named = [...document.matchAll(/`(Portage[A-Z]\w+)`/g)].map(([, name = '']) => name)
    expect(named.filter((name) => !rules.some(({ alert }) => alert === name))).toEqual([])
  })
})
