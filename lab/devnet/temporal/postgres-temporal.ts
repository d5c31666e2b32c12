import { rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { freePort } from '../ports.ts'
import { type PostgresServerParts, startTemporalOnPostgres, type TemporalDump } from './on-postgres.ts'
import type { TemporalServer } from './temporal.ts'

export interface PostgresTemporalOptions {
  readonly parts: PostgresServerParts
  readonly dir: string
}

/**
 * Starts a TemporalServer on PostgreSQL, open to every user of this machine. `copy` dumps both databases under load.
 * `restartFrom` starts PostgreSQL and the server with new databases. Without a dump, `portage setup temporal` must then
 * create the namespace. Throws SETUP_INCOMPLETE, TEMPORAL_UNAVAILABLE.
 */
export async function startPostgresTemporal({ parts, dir }: PostgresTemporalOptions): Promise<TemporalServer> {
  const port = await freePort()
  let servers = 0
  let copies = 0
  const folder = (suffix: string) => join(dir, `temporal-${suffix}`)
  const start = (from?: TemporalDump) => {
    servers += 1
    return startTemporalOnPostgres({
      ...{ parts, port, from, dir: folder(String(servers)), synchronousCommit: true, namespaces: [], admin: {} },
      // PostgreSQL runs as another user, who may not enter this process's folder.
      postgresDir: join(tmpdir(), `portage-postgres-${process.pid}-${port}-${servers}`),
    })
  }
  let server = await start()
  const kill = async (signal: NodeJS.Signals) => {
    process.kill(server.temporal.pid, signal)
    if (signal === 'SIGKILL') await server.temporal.stop()
  }
  return {
    address: server.temporal.address,
    namespace: 'default',
    uiUrl: undefined,
    cliPath: 'temporal',
    dbFile: undefined,
    get pid() {
      return server.temporal.pid
    },
    stop: () => server.stop(),
    kill,
    restart: () => server.restart(),
    async restartFrom(copy) {
      await Promise.all([kill('SIGKILL').catch(() => undefined), server.postgres.crash()])
      await server.stop()
      server = await start(copy === 'nothing' ? undefined : { folder: copy.file })
    },
    async copy() {
      const file = folder(`copy-${++copies}`)
      await rm(file, { recursive: true, force: true })
      await server.dump(file)
      return { file }
    },
  }
}
