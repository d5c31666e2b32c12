import { existsSync } from 'node:fs'
import { chown, mkdir, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { RelayerError } from '../../../domain/catalogue/errors.ts'
import { type Child, startChild } from '../child.ts'
import { freePort } from '../ports.ts'
import { run } from '../run.ts'
import { until } from '../until.ts'

export interface PostgresPrograms {
  readonly initdb: string
  readonly postgres: string
  readonly psql: string
  readonly pg_dump: string
}

export interface PostgresOptions {
  readonly programs: PostgresPrograms
  /** Data folder, which `stop` removes. */
  readonly dir: string
  /** Whether a commit waits for the disk. PostgreSQL's default: true. */
  readonly synchronousCommit: boolean
}

/** A PostgreSQL on 127.0.0.1, for tests only: every user of this machine may do everything in it. */
export interface Postgres {
  /** host:port. */
  readonly address: string
  /** Pid of the main process, which changes at `restart`. */
  readonly pid: number
  readonly user: string
  /** Creates a database, and runs a file of SQL and then `statements` in it. Throws Error with the output of psql. */
  createDatabase(name: string, file: string, statements?: string): Promise<void>
  /** Runs a statement. Returns the rows as lines, with columns separated by |. Throws Error with the output of psql. */
  query(database: string, statement: string): Promise<string>
  /** Dumps a consistent snapshot of the database, even while others write. Throws Error with the output of pg_dump. */
  dump(name: string, file: string): Promise<void>
  /**
   * Ends PostgreSQL as a crash would: cuts the connections and writes nothing more. The next start recovers from the
   * log.
   */
  crash(): Promise<void>
  /** Starts PostgreSQL again on the same port and data. Resolves when it serves connections. */
  restart(): Promise<void>
  stop(): Promise<void>
}

const user = 'temporal'
const names = ['initdb', 'postgres', 'psql', 'pg_dump'] as const
/** Folder of the programs in Debian's packages. It is not on the PATH. */
const debianFolder = '/usr/lib/postgresql'

/**
 * Finds PostgreSQL's programs. Undefined if a program is missing or does not run, or if the user that runs the programs
 * may not enter `folder`, which will hold the data.
 */
export async function findPostgres(
  env: NodeJS.ProcessEnv = process.env,
  packages = debianFolder,
  folder = tmpdir(),
): Promise<PostgresPrograms | undefined> {
  const versions = await readdir(packages).catch(() => [])
  const debian = versions.toSorted((a, b) => Number(b) - Number(a)).map((version) => join(packages, version, 'bin'))
  const folders = [...(env['PATH'] ?? '').split(delimiter), ...debian].filter(Boolean)
  const found = names.map((name) => folders.map((folder) => join(folder, name)).find((path) => existsSync(path)))
  const [initdb, postgres, psql, pg_dump] = found
  return initdb && postgres && psql && pg_dump && (await runs(initdb, folder)) ? { initdb, postgres, psql, pg_dump } : undefined
}

async function runs(initdb: string, folder: string): Promise<boolean> {
  const as = await otherUser().catch(() => 'none' as const)
  if (as === 'none') return false
  // As root, GNU `env` enters `folder` as the other user. Otherwise `env` is not needed.
  const [command, ...args] = [...(as ? [...as.prefix, 'env', `--chdir=${folder}`] : []), initdb, '--version']
  return (await run(command, args, { timeoutMs: 60_000 })).code === 0
}

/** Starts a new, empty PostgreSQL. Throws SETUP_INCOMPLETE with its last output. */
export async function startPostgres({ programs, dir, synchronousCommit }: PostgresOptions): Promise<Postgres> {
  const as = await otherUser()
  await mkdir(dir, { recursive: true })
  if (as) await chown(dir, as.uid, as.gid)
  const [setUser = [], port] = [as?.prefix, await freePort()]
  const data = join(dir, 'data')
  const owner = ['--pgdata', data, '--username', user, '--auth', 'trust', '--no-sync']
  // The locale is always C, because the machine may not have the locale that the environment names.
  const [command, ...args] = [...setUser, programs.initdb, ...owner, '--locale=C', '--encoding=UTF8']
  const made = await run(command, args, { timeoutMs: 120_000 })
  if (made.code !== 0) throw new RelayerError('SETUP_INCOMPLETE', { detail: `initdb: ${made.stderr.trim().slice(-500)}` })
  const settings = {
    port,
    listen_addresses: '127.0.0.1',
    unix_socket_directories: '',
    synchronous_commit: synchronousCommit ? 'on' : 'off',
  }
  const flags = Object.entries(settings).flatMap(([key, value]) => ['-c', `${key}=${value}`])
  const [server = '', ...serverArgs] = [...setUser, programs.postgres, '-D', data, ...flags]
  let child = await startChild(server, serverArgs)
  const ask = async (program: 'psql' | 'pg_dump', database: string, more: readonly string[]) => {
    const target = ['--host', '127.0.0.1', '--port', String(port), '--username', user, '--dbname', database]
    const { code, stdout, stderr } = await run(programs[program], [...target, ...more], { timeoutMs: 120_000 })
    if (code !== 0) throw new Error(`${program}: ${stderr.trim().slice(-500)}`)
    return stdout.trim()
  }
  const query = (database: string, ...more: string[]) =>
    ask('psql', database, ['--no-psqlrc', '--quiet', '--tuples-only', '--no-align', '--set', 'ON_ERROR_STOP=1', ...more])
  const psql = (database: string, ...more: string[]) => query(database, '--output', '/dev/null', ...more)
  const serves = async () => (await query('postgres', '--command', 'SELECT 1')) === '1'
  await ready(child, serves)
  return {
    ...{ address: `127.0.0.1:${port}`, user },
    get pid() {
      return child.pid
    },
    async createDatabase(name, file, statements) {
      await psql('postgres', '--command', `CREATE DATABASE ${name}`)
      await psql(name, '--file', file)
      if (statements !== undefined) await psql(name, '--command', statements)
    },
    query: (database, statement) => query(database, '--command', statement),
    async dump(name, file) {
      await ask('pg_dump', name, ['--file', file])
    },
    async crash() {
      // The signal of `pg_ctl stop -m immediate`.
      child.kill('SIGQUIT')
      await child.exited
    },
    async restart() {
      child = await startChild(server, serverArgs)
      await ready(child, serves)
    },
    async stop() {
      await child.stop(10_000)
      await rm(dir, { recursive: true, force: true })
    },
  }
}

/** Resolves once PostgreSQL answers a query, because PostgreSQL accepts connections shortly before it serves them. */
async function ready(child: Child, serves: () => Promise<boolean>): Promise<void> {
  try {
    await until(serves, { timeoutMs: 60_000, everyMs: 100, what: 'PostgreSQL to answer', giveUp: () => child.ended })
  } catch (cause) {
    await child.stop(0)
    throw new RelayerError('SETUP_INCOMPLETE', { detail: `PostgreSQL did not start: ${child.tail() || 'it wrote nothing'}`, cause })
  }
}

/**
 * If this process is root, the user that must run PostgreSQL, because PostgreSQL refuses to run as root: Debian's user
 * `postgres`, or else `nobody`. Otherwise undefined.
 */
async function otherUser(): Promise<{ readonly uid: number; readonly gid: number; readonly prefix: readonly string[] } | undefined> {
  if (process.getuid?.() !== 0) return undefined
  for (const name of ['postgres', 'nobody']) {
    const [uid, gid] = await Promise.all([run('id', ['-u', name]), run('id', ['-g', name])])
    if (uid.code !== 0 || gid.code !== 0) continue
    const ids = { uid: Number(uid.stdout), gid: Number(gid.stdout) }
    return { ...ids, prefix: ['setpriv', `--reuid=${ids.uid}`, `--regid=${ids.gid}`, '--clear-groups'] }
  }
  throw new RelayerError('SETUP_INCOMPLETE', { detail: 'PostgreSQL does not run as root, and this machine has no other user.' })
}
