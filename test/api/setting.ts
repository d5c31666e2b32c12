import { randomUUID } from 'node:crypto'
import { rm } from 'node:fs/promises'
import type { OutgoingHttpHeaders } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { InjectOptions } from 'fastify'
import { Client, Connection } from '@temporalio/client'
import type { TokenRequest } from '../../operations/access/tokens.ts'
import type { Api, ApiDeps } from '../../api/deps.ts'
import { createApi } from '../../api/server.ts'
import { createBridges } from '../../bridges/registry.ts'
import { chainFamilies } from '../../chains/registry.ts'
import { accessSource } from '../../config/data-folder.ts'
import { type Config, configSchema } from '../../config/schema/schema.ts'
import { RelayerError } from '../../domain/catalogue/errors.ts'
import { noSettings, type Settings } from '../../domain/settings/settings.ts'
import { createVaaLookup } from '../../intake/submit/vaa-lookup.ts'
import { signedApis } from '../../bridges/configured-emitters.ts'
import { createSubmitter } from '../../intake/submit/submitter.ts'
import { bearer, makeToken } from '../../lab/devnet/access.ts'
import { type Logger, silentLogger } from '../../observability/logger.ts'
import { type Metrics, createMetrics } from '../../observability/metrics.ts'

const contract = (digit: string): string => `0x${digit.repeat(40)}`

/** Two chains with a token bridge, and a native bridge. All nodes use `port`, which is closed. */
export function deadConfig(port: number): Config {
  const chain = {
    family: 'evm',
    nodes: [{ url: `http://127.0.0.1:${port}/secret-path` }],
    blockTimeMs: 1000,
    contracts: { core: contract('a'), tokenBridge: contract('b') },
  }
  const route = { source: 'ethereum', target: 'bsc', sourceContract: contract('c'), targetContract: contract('d') }
  return configSchema.parse({
    dataFolder: join(tmpdir(), `portage-api-${randomUUID()}`),
    temporal: { address: `127.0.0.1:${port}` },
    chains: { ethereum: { ...chain, networkId: 1337, wormholeChainId: 2 }, bsc: { ...chain, networkId: 1397, wormholeChainId: 4 } },
    bridges: { 'wormhole-token-bridge': {}, 'native-bridge': { routes: [route] } },
  })
}

export interface Route {
  readonly method: 'GET' | 'POST'
  readonly path: string
}

export interface OpenApi {
  /** Adds an administrator's token to each request. */
  readonly api: Api
  /** The same API, without a token in its requests. */
  readonly bare: Api
  readonly client: Client
  /** The settings that the API sees. Tests replace `now`. */
  readonly settings: { now: Settings }
  token(request?: Partial<TokenRequest>): Promise<string>
  /** Sends a request with only these headers. `code`: error code of a refused request, else undefined. */
  ask(
    route: Route,
    headers?: Record<string, string>,
    payload?: object,
  ): Promise<{ status: number; code: string | undefined; headers: OutgoingHttpHeaders }>
  readonly metrics: Metrics
  close(): Promise<void>
}

function asAdministrator(api: Api, token: string): Api {
  const inject = (request: string | InjectOptions) => {
    const options = typeof request === 'string' ? { url: request } : request
    return api.inject({ ...options, headers: { ...bearer(token), ...options.headers } })
  }
  return Object.assign(Object.create(api) as Api, { inject })
}

/** The API with the real submitter, bridges, chains and client of `config`, none of which is connected. */
export async function openApi(
  config: Config,
  logger: Logger = silentLogger(),
  options: Partial<Pick<ApiDeps, 'heartbeatMs' | 'auditStream' | 'executor' | 'requestsOf'>> = {},
): Promise<OpenApi> {
  // `interceptors: []` turns off the client's retries, because a retry after `close` would be an unhandled error.
  const connection = Connection.lazy({ address: config.temporal.address, interceptors: [] })
  const client = new Client({ connection })
  const chains = new Map(
    Object.entries(config.chains).map(([name, { family, networkId, nodes, finality, blockTimeMs }]) => [
      name,
      chainFamilies[family].createChain({ name, networkId, nodes, finality, blockTimeMs, timeoutMs: 500 }),
    ]),
  )
  const bridges = createBridges(config, chains)
  const metrics = createMetrics()
  // `GET /ready` would report chains that are not connected, so the API gets no chains.
  const network = { bridges, chains: new Map(), vaaLookup: createVaaLookup(signedApis(config)) }
  const submitter = createSubmitter({ bridges, client })
  const settings = { now: noSettings }
  const api = await createApi({
    ...{ config, client, submitter, network, metrics, logger, feedsStreams: false },
    access: accessSource(config),
    settings: () => settings.now,
    auditStream: async (stream) => {
      throw new RelayerError('STREAM_NOT_FOUND', { facts: { stream } })
    },
    ...options,
  })
  const token = (request?: Partial<TokenRequest>) => makeToken(config, request)
  const ask: OpenApi['ask'] = async ({ method, path }, headers = {}, payload) => {
    const response = await api.inject({ method, url: path, headers, ...(payload && { payload }) })
    const body = response.body.startsWith('{') ? response.json<{ code?: string }>() : {}
    return { status: response.statusCode, code: body.code, headers: response.headers }
  }
  const close = async (): Promise<void> => {
    await api.close()
    for (const chain of chains.values()) chain.close()
    await connection.close()
    await rm(config.dataFolder, { recursive: true, force: true })
  }
  return { api: asAdministrator(api, await token()), bare: api, client, settings, token, ask, metrics, close }
}
