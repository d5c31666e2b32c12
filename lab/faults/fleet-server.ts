import { readFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Connection } from '@temporalio/client'
import { connectionOptions, readCredentials } from '../../temporal/client/connection/credentials.ts'
import { createTestCa, hasOpenssl } from '../devnet/temporal/certificates.ts'
import { type PostgresServerParts, postgresServerParts, startTemporalOnPostgres } from '../devnet/temporal/on-postgres.ts'
import type { Postgres } from '../devnet/temporal/postgres.ts'
import type { TemporalServer } from '../devnet/temporal/temporal.ts'
import type { SecuredTemporal } from '../devnet/temporal/temporal-server.ts'
import { createTokenIssuer, keySetOf } from '../devnet/temporal/tokens.ts'
import { until } from '../devnet/until.ts'

const namespace = 'default'

/** The real server with four history shards, TLS and tokens, on a PostgreSQL that syncs to disk. */
export interface FleetServer {
  /**
   * The server in the form that a devnet needs. The devnet may use only its address: `kill`, `copy` and `restartFrom`
   * reject.
   */
  readonly temporal: TemporalServer
  readonly postgres: Postgres
  readonly logFile: string
  readonly caFile: string
  issueToken(subject: string): string
  /** Connects as an operator, without the fleet's proxies. */
  connect(): Promise<Connection>
  /** Ends the server and starts it again. `graceMs` 0: SIGKILL. */
  restart(graceMs: number): Promise<void>
  /** Resolves when the server is up. A server that loses its database ends, and is down until it is started again. */
  up(): Promise<void>
  stop(): Promise<void>
}

/** Finds the programs that start the server. `why` names a missing program. */
export async function fleetServerParts(): Promise<PostgresServerParts | { readonly why: string }> {
  if (!(await hasOpenssl())) return { why: 'openssl is not installed' }
  return postgresServerParts()
}

/**
 * Starts the server in a new folder outside `dir`, because PostgreSQL runs as another user. Throws like
 * `startTemporalOnPostgres`.
 */
export async function startFleetServer(parts: PostgresServerParts, dir: string, retentionSeconds?: number): Promise<FleetServer> {
  const folder = await mkdtemp(join(tmpdir(), 'portage-fleet-'))
  const ca = await createTestCa(join(dir, 'ca'), 'ca')
  const issuer = createTokenIssuer()
  const access = (permission: string, subject: string) => ({
    tls: { ca: { from: 'the fault run', file: ca.file, read: () => readFileSync(ca.file, 'utf8') } },
    apiKey: { from: 'the fault run', read: () => issuer.issue([permission], { subject }) },
  })
  const { temporal, postgres, stop } = await startTemporalOnPostgres({
    ...{ parts, dir: folder, synchronousCommit: true, namespaces: [namespace], retentionSeconds },
    tls: { server: await ca.issue('server') },
    keySet: keySetOf(issuer),
    admin: access('temporal-system:admin', 'set-up'),
  })
  const { address } = temporal
  const supervised = supervise(temporal)
  return {
    ...{ postgres, logFile: temporal.logFile, caFile: ca.file },
    temporal: {
      ...{ address, namespace, uiUrl: undefined, cliPath: '', dbFile: undefined },
      get pid() {
        return temporal.pid
      },
      stop: () => temporal.stop(),
      kill: () => Promise.reject(new Error('Not of a server on PostgreSQL')),
      restart: () => temporal.restart(2_000),
      restartFrom: () => Promise.reject(new Error('Not of a server on PostgreSQL')),
      copy: () => Promise.reject(new Error('Not of a server on PostgreSQL')),
    },
    issueToken: (subject) => issuer.issue([`${namespace}:write`], { subject }),
    connect() {
      const operator = { ...access(`${namespace}:write`, 'operator'), address, namespace }
      return Connection.connect(connectionOptions(operator, readCredentials(operator)))
    },
    restart: (graceMs) => supervised.restart(graceMs),
    up: () => supervised.up(),
    async stop() {
      supervised.stop()
      await stop()
      await rm(folder, { recursive: true, force: true })
    },
  }
}

/** Interval at which an ended server is noticed and started again, ms. */
const lookMs = 1_000

/** Starts the server again after it ended by itself, as an orchestrator would. */
function supervise(temporal: SecuredTemporal) {
  let restarting: Promise<void> | undefined
  const restart = async (graceMs: number): Promise<void> => {
    await restarting?.catch(() => {})
    restarting = temporal.restart(graceMs)
    try {
      await restarting
    } finally {
      restarting = undefined
    }
  }
  const look = setInterval(() => {
    // The next check repeats a failed start.
    if (temporal.ended !== undefined && !restarting) void restart(0).catch(() => {})
  }, lookMs)
  return {
    restart,
    up: async () =>
      void (await until(() => temporal.ended === undefined && !restarting, {
        timeoutMs: 300_000,
        everyMs: 100,
        what: 'the Temporal server to be up',
      })),
    stop: () => clearInterval(look),
  }
}
