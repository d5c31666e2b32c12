import { createHash } from 'node:crypto'
import type { Config } from './schema/schema.ts'

/** The build id of the config and, with plug-ins, `-p` and a digest of them. Undefined without a build id. */
export function buildIdOf({ worker, bridges }: Pick<Config, 'worker' | 'bridges'>): string | undefined {
  const buildId = worker.deployment?.buildId
  const plugins = Object.entries(bridges.plugins ?? {}).map(([name, { sha256 }]) => `${name} ${sha256}\n`)
  if (buildId === undefined || plugins.length === 0) return buildId
  return `${buildId}-p${createHash('sha256').update(plugins.toSorted().join('')).digest('hex').slice(0, 12)}`
}
