import { chains } from './chains.ts'
import { fleet } from './fleet.ts'
import { type Dashboard, grafanaJson } from './grafana.ts'
import { lanes } from './lanes.ts'
import { streams } from './streams.ts'
import { temporal } from './temporal.ts'
import { transfers } from './transfers.ts'

export const dashboards: readonly Dashboard[] = [fleet, transfers, lanes, chains, streams, temporal]

export function describeDashboards(): [path: string, text: string][] {
  return dashboards.map((one) => [`deploy/grafana/${one.name}.json`, grafanaJson(one)])
}
