import { existsSync } from 'node:fs'
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { run } from '../run.ts'
import { knownTemporalServer, serverVersion } from './find-temporal-server.ts'
import { findPostgres, type Postgres, type PostgresPrograms, startPostgres } from './postgres.ts'
import { type SecuredTemporal, type SecuredTemporalOptions, startSecuredTemporal, type TemporalStore } from './temporal-server.ts'

export interface PostgresServerParts {
  readonly path: string
  readonly programs: PostgresPrograms
  readonly schema: string
}

export interface TemporalOnPostgresOptions extends Omit<SecuredTemporalOptions, 'path' | 'store' | 'historyShards'> {
  readonly parts: PostgresServerParts
  /** Whether a commit waits for the disk. */
  readonly synchronousCommit: boolean
  /** Dump to restore, with its namespaces. Undefined if the databases start empty. */
  readonly from?: TemporalDump | undefined
  /** PostgreSQL's data folder, which PostgreSQL's user must be able to enter. Default: next to `dir`. */
  readonly postgresDir?: string
}

/** Folder with the output of pg_dump, one file per database. */
export interface TemporalDump {
  readonly folder: string
}

export interface TemporalOnPostgres {
  readonly temporal: SecuredTemporal
  readonly postgres: Postgres
  /**
   * Dumps a consistent snapshot of each database while the server is running. Throws Error with the output of pg_dump.
   */
  dump(folder: string): Promise<TemporalDump>
  /** Starts the Temporal server again on the same databases. Without the option `port`, its address changes. */
  restart(): Promise<void>
  stop(): Promise<void>
}

const databases = [
  ['temporal', 'temporal'],
  ['temporal_visibility', 'visibility'],
] as const

/** Values of the server's own example config for PostgreSQL (config/development-postgres12.yaml). */
const [shards, connections] = [4, 20] as const

/** Finds the programs on this machine. `why` names the first missing program. */
export async function postgresServerParts(): Promise<PostgresServerParts | { readonly why: string }> {
  const path = knownTemporalServer()
  if (path === undefined) return { why: 'the server is not built: npx tsx lab/devnet/temporal/find-temporal-server.ts, or TEMPORAL_SERVER' }
  const programs = await findPostgres()
  if (!programs) return { why: "PostgreSQL's programs (initdb, postgres, psql, pg_dump) were not found, or do not run" }
  const { stdout } = await run('go', ['env', 'GOMODCACHE'])
  const schema = join(stdout.trim(), `go.temporal.io/server@v${serverVersion}`, 'schema', 'postgresql', 'v12')
  if (!existsSync(schema)) return { why: `the server's schema was not found (${schema}): Go keeps it after the server was built here` }
  return { path, programs, schema }
}

/**
 * Starts a server with four history shards. Throws SETUP_INCOMPLETE, TEMPORAL_UNAVAILABLE, or Error with the output of
 * psql.
 */
export async function startTemporalOnPostgres(options: TemporalOnPostgresOptions): Promise<TemporalOnPostgres> {
  const { parts, synchronousCommit, from, postgresDir = `${options.dir}-postgres`, ...secured } = options
  const { path, programs, schema } = parts
  const postgres = await startPostgres({ programs, dir: postgresDir, synchronousCommit })
  const store: TemporalStore = { sql: storeOf(postgres, 'temporal'), visibility: storeOf(postgres, 'temporal_visibility') }
  const serve = (namespaces: readonly string[]) => startSecuredTemporal({ ...secured, namespaces, path, store, historyShards: shards })
  try {
    for (const [name, part] of databases) {
      if (from) await postgres.createDatabase(name, dumpFile(from.folder, name))
      else await postgres.createDatabase(name, join(schema, part, 'schema.sql'), versionTable(name))
    }
    let temporal = await serve(from ? [] : secured.namespaces)
    return {
      get temporal() {
        return temporal
      },
      postgres,
      async dump(folder) {
        await mkdir(folder, { recursive: true })
        for (const [name] of databases) await postgres.dump(name, dumpFile(folder, name))
        return { folder }
      },
      async restart() {
        await temporal.stop()
        temporal = await serve([])
      },
      async stop() {
        await temporal.stop()
        await postgres.stop()
      },
    }
  } catch (error) {
    await postgres.stop()
    throw error
  }
}

function dumpFile(folder: string, database: string): string {
  return join(folder, `${database}.sql`)
}

function storeOf({ address, user }: Postgres, databaseName: string): Record<string, unknown> {
  const pool = { maxConns: connections, maxIdleConns: connections, maxConnLifetime: '1h' }
  return { pluginName: 'postgres12', databaseName, connectAddr: address, connectProtocol: 'tcp', user, password: 'none', ...pool }
}

/** The server refuses a schema version that is too low. 1.99 is above any version that the server demands. */
function versionTable(database: string): string {
  return [
    `CREATE TABLE schema_version(version_partition INT NOT NULL, db_name VARCHAR(255) NOT NULL, creation_time TIMESTAMP,
      curr_version VARCHAR(64), min_compatible_version VARCHAR(64), PRIMARY KEY (version_partition, db_name));`,
    `INSERT INTO schema_version VALUES (0, '${database}', now(), '1.99', '1.0');`,
  ].join('\n')
}
