import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { run } from '../devnet/run.ts'
import { knownTemporalServer, serverVersion } from '../devnet/temporal/find-temporal-server.ts'
import { findPostgres, type Postgres, type PostgresPrograms, startPostgres } from '../devnet/temporal/postgres.ts'
import { devServerPragmas, startTemporal } from '../devnet/temporal/temporal.ts'
import { startSecuredTemporal, type TemporalStore } from '../devnet/temporal/temporal-server.ts'
import type { Measured } from './cpu-meter.ts'

/** A Temporal server of the comparison while it runs. */
export interface FloorServer {
  readonly address: string
  /** Its processes, and those of its database. */
  readonly measured: Measured
  stop(): Promise<void>
}

/** A kind of server that the comparison has. */
export interface FloorCandidate {
  readonly name: string
  start(dir: string): Promise<FloorServer>
}

/** A kind of server that cannot be had here, and why. */
export interface NotRun {
  readonly name: string
  readonly why: string
}

const namespaces = ['default'] as const
/** As the server's own example config for PostgreSQL (config/development-postgres12.yaml). */
const [shards, connections] = [4, 20] as const

/** All kinds of servers, the dev server's first; and what is missing on this machine. */
export async function floorCandidates(): Promise<{ readonly candidates: readonly FloorCandidate[]; readonly notRun: readonly NotRun[] }> {
  const dev: FloorCandidate[] = [
    { name: 'dev server, SQLite file', start: (dir) => devServer(dir, false) },
    { name: 'dev server, in memory', start: (dir) => devServer(dir, true) },
  ]
  const path = knownTemporalServer()
  const sqlite = { name: `server ${serverVersion}, SQLite file` }
  const postgres = [true, false].map((synchronousCommit) => ({
    name: `server ${serverVersion}, PostgreSQL, synchronous_commit ${synchronousCommit ? 'on' : 'off'}`,
    synchronousCommit,
  }))
  if (path === undefined) {
    const why = 'the server is not built: npx tsx lab/devnet/temporal/find-temporal-server.ts, or TEMPORAL_SERVER'
    return { candidates: dev, notRun: [sqlite, ...postgres].map(({ name }) => ({ name, why })) }
  }
  const production = { ...sqlite, start: (dir: string) => onSqlite(path, dir) }
  const needs = await postgresNeeds()
  if ('why' in needs) return { candidates: [...dev, production], notRun: postgres.map(({ name }) => ({ name, why: needs.why })) }
  const { programs, schema } = needs
  const onPostgresql = postgres.map(({ name, synchronousCommit }) => ({
    name,
    start: (dir: string) => onPostgres({ path, programs, schema, dir, synchronousCommit }),
  }))
  return { candidates: [...dev, production, ...onPostgresql], notRun: [] }
}

async function devServer(dir: string, inMemory: boolean): Promise<FloorServer> {
  const server = await startTemporal({ dir, inMemory, headless: true })
  return { address: server.address, measured: { temporal: [server.pid] }, stop: () => server.stop() }
}

/** The journal as the devnet sets it for the dev server. */
async function onSqlite(path: string, dir: string): Promise<FloorServer> {
  const sqlite = {
    ...{ pluginName: 'sqlite', databaseName: join(dir, 'temporal.db'), connectAddr: 'localhost', connectProtocol: 'tcp' },
    ...{ connectAttributes: { mode: 'rwc', setup: 'true', ...devServerPragmas }, maxConns: 1, maxIdleConns: 1, maxConnLifetime: '1h' },
  }
  const server = await startSecuredTemporal({ path, dir, store: { sql: sqlite, visibility: sqlite }, namespaces, admin: {} })
  return { address: server.address, measured: { temporal: [server.pid] }, stop: () => server.stop() }
}

interface OnPostgres {
  readonly path: string
  readonly programs: PostgresPrograms
  readonly schema: string
  readonly dir: string
  readonly synchronousCommit: boolean
}

async function onPostgres({ path, programs, schema, dir, synchronousCommit }: OnPostgres): Promise<FloorServer> {
  const postgres = await startPostgres({ programs, dir: `${dir}-postgres`, synchronousCommit })
  try {
    for (const [name, part] of [['temporal', 'temporal'] as const, ['temporal_visibility', 'visibility'] as const])
      await postgres.createDatabase(name, join(schema, part, 'schema.sql'), versionTable(name))
    const store: TemporalStore = { sql: storeOf(postgres, 'temporal'), visibility: storeOf(postgres, 'temporal_visibility') }
    const server = await startSecuredTemporal({ path, dir, store, historyShards: shards, namespaces, admin: {} })
    return {
      address: server.address,
      measured: { temporal: [server.pid], postgres: { tree: postgres.pid } },
      async stop() {
        await server.stop()
        await postgres.stop()
      },
    }
  } catch (error) {
    await postgres.stop()
    throw error
  }
}

function storeOf({ address, user }: Postgres, databaseName: string): Record<string, unknown> {
  const pool = { maxConns: connections, maxIdleConns: connections, maxConnLifetime: '1h' }
  return { pluginName: 'postgres12', databaseName, connectAddr: address, connectProtocol: 'tcp', user, password: 'none', ...pool }
}

/** What the server's own tool (temporal-sql-tool) writes, and the server reads at its start: above any version that it asks for. */
function versionTable(database: string): string {
  return [
    `CREATE TABLE schema_version(version_partition INT NOT NULL, db_name VARCHAR(255) NOT NULL, creation_time TIMESTAMP,
      curr_version VARCHAR(64), min_compatible_version VARCHAR(64), PRIMARY KEY (version_partition, db_name));`,
    `INSERT INTO schema_version VALUES (0, '${database}', now(), '1.99', '1.0');`,
  ].join('\n')
}

/** PostgreSQL's programs, and the server's schema for it, which is in the source that Go has kept. */
async function postgresNeeds(): Promise<{ readonly programs: PostgresPrograms; readonly schema: string } | { readonly why: string }> {
  const programs = await findPostgres()
  if (!programs) return { why: "PostgreSQL's programs (initdb, postgres, psql) were not found" }
  const { stdout } = await run('go', ['env', 'GOMODCACHE'])
  const schema = join(stdout.trim(), `go.temporal.io/server@v${serverVersion}`, 'schema', 'postgresql', 'v12')
  if (!existsSync(schema)) return { why: `the server's schema was not found (${schema}): Go keeps it after the server was built here` }
  return { programs, schema }
}
