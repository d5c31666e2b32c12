import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Connection } from '@temporalio/client'
import { stringify } from 'yaml'
import { RelayerError } from '../../../domain/catalogue/errors.ts'
import type { TemporalAccess } from '../../../domain/temporal-access.ts'
import { connectionOptions, readCredentials } from '../../../temporal/client/connection/credentials.ts'
import { searchAttributes } from '../../../temporal/contracts/names.ts'
import { type Child, startChild } from '../child.ts'
import { freePort } from '../ports.ts'
import { until } from '../until.ts'
import type { CertificateFiles } from './certificates.ts'
import { devServerDynamicConfig } from './temporal.ts'

/** Settings of the databases, as in `persistence.datastores` of the server's config. */
export interface TemporalStore {
  readonly sql: Readonly<Record<string, unknown>>
  readonly visibility: Readonly<Record<string, unknown>>
}

export interface SecuredTemporalOptions {
  readonly path: string
  readonly dir: string
  readonly port?: number | undefined
  /** Default: SQLite in memory. */
  readonly store?: TemporalStore
  /** Number of history shards, which cannot change for a database. Default 1, as in the dev server. */
  readonly historyShards?: number
  /** Certificates of the server. Undefined if connections are plain text. */
  readonly tls?: {
    readonly server: CertificateFiles
    /** PEM files of CAs. Undefined if clients need no certificate. */
    readonly clientCas?: readonly string[]
  }
  /** JSON Web Key Set that verifies tokens. Undefined if everybody may do everything. */
  readonly keySet?: string
  /** Further dynamic config, key → JSON value. Overrides the values of this file. */
  readonly dynamicConfig?: Readonly<Record<string, string>>
  /** Namespaces that `admin` creates, with their search attributes. */
  readonly namespaces: readonly string[]
  /** Time for which the namespaces keep closed workflows. Default: a day. The server's minimum: an hour. */
  readonly retentionSeconds?: number | undefined
  readonly admin: Omit<TemporalAccess, 'address' | 'namespace'>
}

/** A running Temporal server with TLS and tokens, as in production, on 127.0.0.1. */
export interface SecuredTemporal {
  /** host:port of gRPC. */
  readonly address: string
  /** Pid of the running process, which changes at `restart()`. */
  readonly pid: number
  /** Exit code or signal. Undefined while the server runs. A server that loses its database ends. */
  readonly ended: string | undefined
  readonly logFile: string
  /** Replaces the keys that verify tokens. The server uses the new keys within two seconds. */
  useKeySet(keySet: string): Promise<void>
  /** Ends the server with SIGTERM, or with SIGKILL after `graceMs`, then starts it on the same ports and store. */
  restart(graceMs: number): Promise<void>
  stop(): Promise<void>
}

/** SQLite in memory. All data is lost when the server ends. */
const inMemory: TemporalStore = { sql: sqlite(), visibility: sqlite() }

function sqlite() {
  return {
    pluginName: 'sqlite',
    databaseName: 'default',
    connectAddr: 'localhost',
    connectProtocol: 'tcp',
    connectAttributes: { mode: 'memory', cache: 'private' },
    maxConns: 1,
    maxIdleConns: 1,
    maxConnLifetime: '1h',
  }
}

/**
 * The server's own workers use the internal frontend, which needs no token, and which starts only if it is named here.
 */
const services = ['frontend', 'internal-frontend', 'matching', 'history', 'worker'] as const

/**
 * Starts the server and creates the namespaces. Throws TEMPORAL_UNAVAILABLE with the server's last lines if it does not
 * start.
 */
export async function startSecuredTemporal(options: SecuredTemporalOptions): Promise<SecuredTemporal> {
  const { path, dir, keySet, namespaces, admin } = options
  await mkdir(dir, { recursive: true })
  const useKeySet = (keys: string) => writeFile(join(dir, 'keys.json'), keys)
  if (keySet !== undefined) await useKeySet(keySet)
  const dynamicConfig = Object.fromEntries(
    Object.entries({ ...devServerDynamicConfig, ...options.dynamicConfig }).map(([key, value]) => [
      key,
      [{ value: JSON.parse(value) as unknown }],
    ]),
  )
  await writeFile(join(dir, 'dynamic.yaml'), stringify(dynamicConfig))
  const { config, port } = await serverConfig(options)
  await writeFile(join(dir, 'server.yaml'), stringify(config))
  const logFile = join(dir, 'server.log')
  // The address has a host name, because Node warns about TLS connections to an IP address.
  const address = `localhost:${port}`
  const start = async (ready: (started: Child, access: TemporalAccess) => Promise<void>) => {
    const args = ['--config-file', join(dir, 'server.yaml'), 'start', ...services.flatMap((name) => ['--service', name])]
    const started = await startChild(path, args, { logFile })
    try {
      await ready(started, { ...admin, address, namespace: 'temporal-system' })
      return started
    } catch (cause) {
      await started.stop(0)
      throw new RelayerError('TEMPORAL_UNAVAILABLE', { detail: `The server did not start: ${started.tail() || 'it wrote nothing'}`, cause })
    }
  }
  let child = await start((started, access) => makeNamespaces(started, access, namespaces, options.retentionSeconds))
  return {
    ...{ address, logFile, useKeySet },
    get pid() {
      return child.pid
    },
    get ended() {
      return child.ended
    },
    async restart(graceMs) {
      await child.stop(graceMs)
      child = await start((started, access) => findNamespaces(started, access, namespaces))
    },
    stop: () => child.stop(2_000),
  }
}

async function serverConfig({ dir, port: wanted, store = inMemory, historyShards = 1, tls, keySet }: SecuredTemporalOptions) {
  const port = wanted ?? (await freePort())
  const portOf = (name: string) => (name === 'frontend' ? port : freePort())
  const ports = await Promise.all(services.map(async (name) => [name, await portOf(name), await freePort()] as const))
  const config = {
    log: { stdout: true, level: 'warn' },
    persistence: {
      defaultStore: 'main',
      visibilityStore: 'visibility',
      numHistoryShards: historyShards,
      datastores: { main: { sql: store.sql }, visibility: { sql: store.visibility } },
    },
    global: {
      membership: { maxJoinDuration: '30s', broadcastAddress: '127.0.0.1' },
      ...(tls && { tls: { frontend: { server: serverTls(tls), client: { rootCaFiles: [] } } } }),
      ...(keySet !== undefined && {
        authorization: {
          authorizer: 'default',
          claimMapper: 'default',
          permissionsClaimName: 'permissions',
          jwtKeyProvider: { keySourceURIs: [`file://${join(dir, 'keys.json')}`], refreshInterval: '1s' },
        },
      }),
    },
    services: Object.fromEntries(
      ports.map(([name, grpcPort, membershipPort]) => [name, { rpc: { grpcPort, membershipPort, bindOnLocalHost: true } }]),
    ),
    clusterMetadata: {
      enableGlobalNamespace: false,
      failoverVersionIncrement: 10,
      masterClusterName: 'active',
      currentClusterName: 'active',
      clusterInformation: {
        active: { enabled: true, initialFailoverVersion: 1, rpcName: 'frontend', rpcAddress: `127.0.0.1:${port}` },
      },
    },
    dcRedirectionPolicy: { policy: 'noop' },
    dynamicConfigClient: { filepath: join(dir, 'dynamic.yaml'), pollInterval: '60s' },
  }
  return { config, port }
}

function serverTls({ server, clientCas }: NonNullable<SecuredTemporalOptions['tls']>) {
  return {
    certFile: server.certificate,
    keyFile: server.key,
    ...(clientCas && { requireClientAuth: true, clientCaFiles: clientCas }),
  }
}

function waiting(child: Child) {
  return { timeoutMs: 60_000, everyMs: 100, giveUp: () => child.ended }
}

function connected(child: Child, admin: TemporalAccess): Promise<Connection> {
  const connect = () => Connection.connect({ ...connectionOptions(admin, readCredentials(admin)), connectTimeout: 2_000 })
  return until(connect, { ...waiting(child), what: 'the Temporal server to answer' })
}

async function findNamespaces(child: Child, admin: TemporalAccess, namespaces: readonly string[]): Promise<void> {
  const connection = await connected(child, admin)
  try {
    for (const namespace of namespaces) {
      const look = () => connection.workflowService.listWorkflowExecutions({ namespace, pageSize: 1 }).then(() => true)
      await until(look, { ...waiting(child), what: `the server to serve the namespace ${namespace}` })
    }
  } finally {
    await connection.close()
  }
}

async function makeNamespaces(
  child: Child,
  admin: TemporalAccess,
  namespaces: readonly string[],
  retentionSeconds = 86_400,
): Promise<void> {
  const options = waiting(child)
  const connection = await connected(child, admin)
  const { workflowService, operatorService } = connection
  const attributes = Object.fromEntries(Object.keys(searchAttributes).map((name) => [name, 2 /* INDEXED_VALUE_TYPE_KEYWORD */]))
  try {
    for (const namespace of namespaces) {
      const register = () =>
        workflowService.registerNamespace({ namespace, workflowExecutionRetentionPeriod: { seconds: retentionSeconds as never } })
      await until(() => register().then(() => true), { ...options, what: `the server to make the namespace ${namespace}` })
      const add = () => operatorService.addSearchAttributes({ namespace, searchAttributes: attributes })
      // The frontend's list of namespaces may be a few seconds old, so the request is repeated.
      await until(() => add().then(() => true), { ...options, what: `the server to add search attributes to ${namespace}` })
    }
  } finally {
    await connection.close()
  }
}
