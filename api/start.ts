import type { Bridges } from '../bridges/port.ts'
import type { Chain } from '../chains/port.ts'
import { namesOf } from '../config/known-names.ts'
import type { Config } from '../config/schema.ts'
import type { ChainName } from '../domain/transfer/transfer.ts'
import type { ApiDeps, HealthProbe } from './deps.ts'
import { createApi } from './server.ts'
import { createStartupServer } from './startup-server.ts'

/** What the API needs of its process. */
interface ApiContext extends Pick<ApiDeps, 'client' | 'submitter' | 'logger' | 'metrics'> {
  readonly config: Config
  readonly network: { readonly bridges: Bridges; readonly chains: ReadonlyMap<ChainName, Chain> }
}

/** The API as a process starts it. */
export const restApi = { createStartupServer, start }

/** The REST API, listening. Throws what the system says if it cannot listen. */
async function start(
  { config, network, ...parts }: ApiContext,
  { feedsStreams }: { readonly feedsStreams: boolean },
): Promise<{ stop(): Promise<void> }> {
  const { host, port, requestsPerMinute } = config.api
  const { bridges, chains } = network
  const api = await createApi(
    {
      ...parts,
      bridges,
      guardianApis: config.bridges['wormhole-token-bridge']?.guardianApis ?? [],
      feedsStreams,
      finalizedHeight: (chain) => chains.get(chain)?.heads.current?.finalized,
      health: [...chains.values()].map(headProbe),
    },
    { requestsPerMinute, known: namesOf(config), chainIds: wormholeIds(config) },
  )
  await api.listen({ host, port })
  parts.logger.info('the API listens', { host, port })
  return { stop: () => api.close() }
}

/** Not vital: a chain that cannot be reached holds up nothing but its own transfers. */
function headProbe({ name, heads }: Chain): HealthProbe {
  return {
    name: `chain ${name}`,
    vital: false,
    check: async () => {
      if (!heads.current) throw new Error('no block was seen yet')
    },
  }
}

/** Wormhole's numbers of the chains that have one, by name. */
function wormholeIds({ chains }: Config): Record<ChainName, number> {
  return Object.fromEntries(Object.entries(chains).flatMap(([name, { wormholeChainId: id }]) => (id === undefined ? [] : [[name, id]])))
}
