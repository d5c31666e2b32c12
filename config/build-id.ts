import { createHash } from 'node:crypto'
import type { Config } from './schema/schema.ts'

/** Keys of values that may differ between the processes of a fleet, or that may contain a secret. */
const ofProcess: ReadonlySet<string> = new Set(['spies', 'guardianApis', 'wormholescanApis', 'attestationApis', 'signer', 'module'])

/** Digest of the config's chains, contracts, routes, fees and caps. Without URLs, nodes and keys. */
export function routesDigest({ chains, bridges }: Pick<Config, 'chains' | 'bridges'>): string {
  const numbers = Object.entries(chains).map(([name, { networkId, wormholeChainId, contracts }]) => [
    name,
    networkId,
    wormholeChainId,
    contracts,
  ])
  const routes = JSON.stringify([numbers, bridges], (key, value: unknown) => (ofProcess.has(key) ? undefined : value))
  return createHash('sha256').update(routes).digest('hex').slice(0, 16)
}

/** The build id of the config and, with plug-ins, `-p` and a digest of them. Undefined without a build id. */
export function buildIdOf({ worker, bridges }: Pick<Config, 'worker' | 'bridges'>): string | undefined {
  const buildId = worker.deployment?.buildId
  const plugins = Object.entries(bridges.plugins ?? {}).map(([name, { sha256 }]) => `${name} ${sha256}\n`)
  if (buildId === undefined || plugins.length === 0) return buildId
  return `${buildId}-p${createHash('sha256').update(plugins.toSorted().join('')).digest('hex').slice(0, 12)}`
}
