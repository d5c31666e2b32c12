import { readFileSync } from 'node:fs'
import { relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import { durationSeconds } from '../../lab/alerts/scale-rules.ts'
import { metricDefinitions, type MetricDefinition } from '../../observability/metrics.ts'
import { docsPages } from '../helpers/documents.ts'
import { readQuery } from '../helpers/promql.ts'

const read = (path: string) => readFileSync(fileURLToPath(new URL(`../../${path}`, import.meta.url)), 'utf8')

interface Rule {
  alert: string
  expr: string
  labels: { severity: string }
  annotations: { summary: string; runbook: string }
}

const rules = (parse(read('deploy/prometheus/alerts.yml')) as { groups: { rules: Rule[] }[] }).groups.flatMap((group) => group.rules)
const definitions = new Map(Object.values(metricDefinitions).map((one): [string, MetricDefinition] => [one.name, one]))
/** Those of a histogram by its name: `…_bucket` has the label `le` as well. */
const metricsOf = (expr: string) =>
  [...expr.matchAll(/portage_\w+/g)].map(([name]) => {
    const histogram = name.replace(/_(bucket|count|sum)$/, '')
    return definitions.get(histogram)?.kind === 'histogram' ? histogram : name
  })
const words = (text: string) => text.split(',').map((word) => word.trim())

test.each(rules.map(({ alert, expr }) => [alert, expr] as const))('%s is a query that Prometheus understands', (_, expr) => {
  expect(readQuery(expr).faults).toEqual([])
})

test('a query that it does not understand is found', () => {
  for (const query of ['max by (lane (a)', 'increase(a[1h) > 0', 'a >', 'nothing(a)']) expect(readQuery(query).faults).not.toEqual([])
})

test.each(rules.map((rule) => [rule.alert, rule] as const))('%s asks for metrics and labels that there are', (_, { expr, annotations }) => {
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
  // A counter only grows: without rate or increase its alert would never end.
  for (const name of metrics) if (name.endsWith('_total')) expect(expr).toContain(`increase(${name}[`)
})

/** As GitHub makes the anchor of a heading. */
const anchorOf = (heading: string) =>
  heading
    .toLowerCase()
    .replaceAll(/[^\w\s-]/g, '')
    .replaceAll(' ', '-')

test.each(rules.map((rule) => [rule.alert, rule] as const))('%s has a runbook: a section of a page of docs', (_, { annotations }) => {
  expect([...sections.keys()]).toContain(annotations.runbook)
})

/** `docs/page.md#anchor` → text, of the sections of every page of docs. */
const sections: ReadonlyMap<string, string> = new Map(
  docsPages.flatMap((page) =>
    read(page)
      .split(/^## /m)
      .slice(1)
      .map((section) => [`${page}#${anchorOf(section.split('\n')[0]!)}`, section] as const),
  ),
)

test.each(rules.map((rule) => [rule.alert, rule] as const))(
  '%s: its runbook names it, and docs/operate/monitor/alerts.md links there',
  (alert, { annotations }) => {
    expect(sections.get(annotations.runbook)).toMatch(new RegExp(`^Alerts: .*\`${alert}\``, 'm'))
    const row = new RegExp(`^\\| \`${alert}\` .*$`, 'm').exec(read('docs/operate/monitor/alerts.md'))?.[0]
    expect(row).toContain(`](${relative('docs/operate/monitor', annotations.runbook)}) |`)
  },
)

test('a runbook names no alert that is not its own', () => {
  for (const [place, section] of sections) {
    const own = rules.filter(({ annotations }) => annotations.runbook === place).map(({ alert }) => alert)
    const line = /^Alerts: (.*)\.$/m.exec(section)?.[1]
    expect([place, (line ?? '').match(/Portage\w+/g) ?? []]).toEqual([place, own])
  }
})

test('docs/operate/monitor/alerts.md names no alert that there is not', () => {
  const named = [...read('docs/operate/monitor/alerts.md').matchAll(/`(Portage[A-Z]\w+)`/g)].map(([, name = '']) => name)
  const known = rules.map(({ alert }) => alert)
  expect(named.filter((name) => !known.includes(name))).toEqual([])
})

test('docs/operate/monitor/alerts.md has a row for each rule, and none for a rule that is gone', () => {
  const rows = [...read('docs/operate/monitor/alerts.md').matchAll(/^\| `(\w+)` \|/gm)].map(([, name = '']) => name)
  expect(rows).toEqual(rules.map(({ alert }) => alert))
})

describe('docs/operate/monitor/objectives.md', () => {
  const document = read('docs/operate/monitor/objectives.md')
  const { groups } = parse(read('deploy/prometheus/objectives.yml')) as {
    groups: { interval?: string; rules: { record: string; expr: string }[] }[]
  }
  const records = groups.flatMap((group) => group.rules)

  test('has the PromQL of each objective as Prometheus records it', () => {
    const rows = [...document.matchAll(/^\| `(portage:\S+)` \| `(.+)` \|$/gm)].map(([, record, expr]) => ({ record, expr }))
    expect(rows).toEqual(records.map(({ record, expr }) => ({ record, expr })))
    for (const { expr } of records) expect(readQuery(expr).faults).toEqual([])
  })

  test('has a group of its own for what reads a month: seldom, and within the 5 minutes after which Prometheus no longer finds a value', () => {
    for (const { interval, rules: grouped } of groups) {
      const seconds = interval === undefined ? 0 : durationSeconds(interval)
      for (const { record, expr } of grouped) {
        expect([record, record.endsWith('_30d'), seconds >= 60]).toEqual([record, expr.includes('[30d]'), expr.includes('[30d]')])
      }
      expect(seconds).toBeLessThan(300)
    }
  })

  test('names no series and no alert that there is not', () => {
    const series = new Set([...document.matchAll(/portage:\w+(?::\w+)?/g)].map(([name]) => name))
    expect([...series].filter((name) => !records.some(({ record }) => record === name))).toEqual([])
    const named = [...document.matchAll(/`(Portage[A-Z]\w+)`/g)].map(([, name = '']) => name)
    expect(named.filter((name) => !rules.some(({ alert }) => alert === name))).toEqual([])
  })
})
