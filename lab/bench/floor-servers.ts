import { join } from 'node:path'
import { knownTemporalServer, serverVersion } from '../devnet/temporal/find-temporal-server.ts'
import { type PostgresServerParts, postgresServerParts, startTemporalOnPostgres } from '../devnet/temporal/on-postgres.ts'
import { devServerPragmas, startTemporal } from '../devnet/temporal/temporal.ts'
import { startSecuredTemporal } from '../devnet/temporal/temporal-server.ts'
import type { Measured } from './cpu-meter.ts'

export interface FloorServer {
  readonly address: string
  readonly measured: Measured
  stop(): Promise<void>
}

export interface FloorCandidate {
  readonly name: string
  start(dir: string): Promise<FloorServer>
}

export interface NotRun {
  readonly name: string
  readonly why: string
}

const namespaces = ['default'] as const

/** Kinds of servers to compare, the dev server first. `notRun`: kinds that this machine cannot run, with the reason. */
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
  const parts = await postgresServerParts()
  if (path === undefined) {
    const why = 'why' in parts ? parts.why : 'the server is not built'
    return { candidates: dev, notRun: [sqlite, ...postgres].map(({ name }) => ({ name, why })) }
  }
  const production = { ...sqlite, start: (dir: string) => onSqlite(path, dir) }
  if ('why' in parts) return { candidates: [...dev, production], notRun: postgres.map(({ name }) => ({ name, why: parts.why })) }
  const onPostgresql = postgres.map(({ name, synchronousCommit }) => ({
    name,
    start: (dir: string) => onPostgres(parts, dir, synchronousCommit),
  }))
  return { candidates: [...dev, production, ...onPostgresql], notRun: [] }
}

async function devServer(dir: string, inMemory: boolean): Promise<FloorServer> {
  const server = await startTemporal({ dir, inMemory, headless: true })
  return { address: server.address, measured: { temporal: [server.pid] }, stop: () => server.stop() }
}

/** A server on a SQLite file, with the journal mode of the devnet's dev server. */
async function onSqlite(path: string, dir: string): Promise<FloorServer> {
  const sqlite = {
    ...{ pluginName: 'sqlite', databaseName: join(dir, 'temporal.db'), connectAddr: 'localhost', connectProtocol: 'tcp' },
    ...{ connectAttributes: { mode: 'rwc', setup: 'true', ...devServerPragmas }, maxConns: 1, maxIdleConns: 1, maxConnLifetime: '1h' },
  }
  const server = await startSecuredTemporal({ path, dir, store: { sql: sqlite, visibility: sqlite }, namespaces, admin: {} })
  return { address: server.address, measured: { temporal: [server.pid] }, stop: () => server.stop() }
}

async function onPostgres(parts: PostgresServerParts, dir: string, synchronousCommit: boolean): Promise<FloorServer> {
  const { temporal, postgres, stop } = await startTemporalOnPostgres({ parts, dir, synchronousCommit, namespaces, admin: {} })
  return { address: temporal.address, measured: { temporal: [temporal.pid], postgres: { tree: postgres.pid } }, stop }
}
