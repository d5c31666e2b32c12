import { createHash } from 'node:crypto'
import type { Config } from './schema/schema.ts'

/**
 * Digest of the config's chains, contracts, routes, fees and caps. Without URLs, nodes and keys, because they may
 * differ between the processes of a fleet, or be secret. The order of the config's keys does not matter.
 */
export function routesDigest({ chains, bridges }: Pick<Config, 'chains' | 'bridges'>): string {
  const { 'wormhole-token-bridge': wormhole, cctp, executor, plugins = {} } = bridges
  const numbers = Object.entries(chains).map(([name, { networkId, wormholeChainId, contracts }]) => [
    name,
    { networkId, wormholeChainId, contracts },
  ])
  const shared = {
    ...bridges,
    'wormhole-token-bridge': wormhole && { ...wormhole, spies: [], guardianApis: [], wormholescanApis: [] },
    cctp: cctp && { ...cctp, attestationApis: [] },
    executor: executor && { ...executor, quoter: { ...executor.quoter, signer: undefined } },
    plugins: Object.fromEntries(Object.entries(plugins).map(([name, plugin]) => [name, { ...plugin, module: '' }])),
  }
  const routes = JSON.stringify([Object.fromEntries(numbers), shared], (_, value: unknown) => ordered(value))
  return createHash('sha256').update(routes).digest('hex').slice(0, 16)
}

function ordered(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value
  return Object.fromEntries(Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1)))
}

/** The build id of the config and, with plug-ins, `-p` and a digest of them. Undefined without a build id. */
export function buildIdOf({ worker, bridges }: Pick<Config, 'worker' | 'bridges'>): string | undefined {
  const buildId = worker.deployment?.buildId
  const plugins = Object.entries(bridges.plugins ?? {}).map(([name, { sha256 }]) => `${name} ${sha256}\n`)
  if (buildId === undefined || plugins.length === 0) return buildId
  return `${buildId}-p${createHash('sha256').update(plugins.toSorted().join('')).digest('hex').slice(0, 12)}`
}
