import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { parse } from 'yaml'
import type { Document } from './documents.ts'

/** Files of `deploy` that the documents lack or change. Empty if the values ask for neither rules nor dashboards. */
export function monitoringProblems(documents: readonly Document[], deploy: string): string[] {
  const rules = documents.filter(({ kind }) => kind === 'PrometheusRule')
  const dashboards = documents.filter(({ kind, data }) => kind === 'ConfigMap' && data?.['portage.yaml'] === undefined)
  const read = (folder: string, file: string) => readFileSync(join(deploy, folder, file), 'utf8')
  return [
    ...missing(rules.length, 'prometheus', '.yml', (file) =>
      rules.some(({ spec }) => isDeepStrictEqual(spec, parse(read('prometheus', file)))),
    ),
    ...missing(dashboards.length, 'grafana', '.json', (file) =>
      dashboards.some(({ data = {} }) => data[`portage-${file}`]?.trimEnd() === read('grafana', file).trimEnd()),
    ),
    ...dashboards.flatMap(({ metadata }) =>
      metadata.labels?.['grafana_dashboard'] === '1' ? [] : [`${metadata.name}: the sidecar of Grafana's chart would not find it`],
    ),
  ]

  function missing(found: number, folder: string, end: string, rendered: (file: string) => boolean): string[] {
    if (found === 0) return []
    const files = readdirSync(join(deploy, folder)).filter((file) => file.endsWith(end))
    return files.filter((file) => !rendered(file)).map((file) => `deploy/${folder}/${file} is not what is rendered`)
  }
}
