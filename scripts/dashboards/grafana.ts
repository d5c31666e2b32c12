import type { Filter } from './query.ts'

type Unit = 'short' | 'none' | 's' | 'bytes' | 'percentunit' | 'cps' | 'reqps'

export interface Panel {
  readonly title: string
  readonly description: string
  readonly unit: Unit
  /** Expressions with the names of their series. `{{ label }}` is the value of a label. */
  readonly series: readonly (readonly [expr: string, legend: string])[]
  /** Highest value of the scale, for panels of states. */
  readonly most?: number
}

export interface Row {
  readonly title: string
  readonly panels: readonly Panel[]
}

export interface Dashboard {
  /** Name of the file, and of the dashboard's address in Grafana, so it never changes. */
  readonly name: string
  readonly title: string
  readonly description: string
  /** Labels that can filter the dashboard, each with a metric that has all values of the label. */
  readonly filters: readonly (readonly [label: Filter, metric: string])[]
  readonly rows: readonly Row[]
}

const datasource = { type: 'prometheus', uid: '${datasource}' }
const [columns, height] = [3, 8]
const width = 24 / columns

export function grafanaJson(dashboard: Dashboard): string {
  const { name, title, description, filters, rows } = dashboard
  return `${JSON.stringify(
    {
      ...{ uid: `portage-${name}`, title: `Portage: ${title}`, description, tags: ['portage'] },
      ...{ editable: false, graphTooltip: 1, refresh: '30s', schemaVersion: 41, timezone: 'browser', version: 1 },
      time: { from: 'now-6h', to: 'now' },
      links: [{ asDropdown: true, includeVars: true, keepTime: true, tags: ['portage'], title: 'Portage', type: 'dashboards' }],
      annotations: { list: [] },
      templating: { list: [datasourceVariable, ...variables(filters)] },
      panels: panelsOf(rows),
    },
    null,
    2,
  )}\n`
}

const datasourceVariable = {
  name: 'datasource',
  label: 'Data source',
  type: 'datasource',
  query: 'prometheus',
  hide: 0,
  current: {},
  regex: '',
}

/**
 * Variables with which a user filters the dashboard. Without a choice, a filter matches all series, including those
 * that do not have the label yet.
 */
function variables(filters: Dashboard['filters']): object[] {
  const ready = 'portage_process_ready'
  const all: [label: string, query: string][] = [
    ['job', `label_values(${ready}, job)`],
    ['instance', `label_values(${ready}{job=~"$job"}, instance)`],
    ...filters.map(([label, metric]): [string, string] => [label, `label_values(${metric}{job=~"$job", instance=~"$instance"}, ${label})`]),
  ]
  return all.map(([name, query]) => ({
    ...{ name, label: name, type: 'query', datasource, hide: 0 },
    query: { query, refId: `variable-${name}` },
    definition: query,
    ...{ refresh: 2, sort: 1, multi: true, includeAll: true, allValue: '.+' },
    current: { selected: true, text: ['All'], value: ['$__all'] },
  }))
}

function panelsOf(rows: readonly Row[]): object[] {
  const found: object[] = []
  let [y, id] = [0, 1]
  for (const { title, panels } of rows) {
    found.push({ id: id++, type: 'row', title, collapsed: false, gridPos: { h: 1, w: 24, x: 0, y }, panels: [] })
    y += 1
    for (const [index, panel] of panels.entries()) {
      const gridPos = { h: height, w: width, x: (index % columns) * width, y: y + Math.floor(index / columns) * height }
      found.push({ id: id++, ...panelOf(panel), gridPos })
    }
    y += Math.ceil(panels.length / columns) * height
  }
  return found
}

function panelOf({ title, description, unit, series, most }: Panel): object {
  const custom = { drawStyle: 'line', lineWidth: 1, fillOpacity: 5, showPoints: 'auto', spanNulls: false }
  return {
    ...{ type: 'timeseries', title, description, datasource },
    targets: series.map(([expr, legendFormat], index) => ({
      ...{ datasource, editorMode: 'code', expr, legendFormat, range: true, instant: false, refId: refIdOf(index) },
    })),
    fieldConfig: {
      defaults: { unit, min: 0, ...(most !== undefined && { max: most }), custom },
      overrides: [],
    },
    options: {
      legend: { calcs: ['lastNotNull', 'max'], displayMode: 'table', placement: 'bottom', showLegend: true },
      tooltip: { mode: 'multi', sort: 'desc' },
    },
  }
}

const refIdOf = (index: number) => String.fromCodePoint('A'.codePointAt(0)! + index)
