import { copyFile, mkdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { Connection } from '@temporalio/client'
import { RelayerError } from '../../../domain/catalogue/errors.ts'
import { searchAttributes } from '../../../temporal/contracts/names.ts'
import { startChild, type Child } from '../child.ts'
import { accepts, freePort } from '../ports.ts'
import { run } from '../run.ts'
import { findTemporalCli } from './temporal-cli.ts'
import { until } from '../until.ts'

export interface TemporalOptions {
  /** Folder for the database file and the server's log. Required if `inMemory` is false. */
  readonly dir?: string
  /** Keeps the data in memory only, so that `restart()` wipes Temporal. Default: false with `dir`, true without. */
  readonly inMemory?: boolean
  readonly port?: number
  readonly uiPort?: number
  readonly headless?: boolean
  readonly cliPath?: string
  /** Further dynamic config, key → JSON value. Overrides the values of this file. */
  readonly dynamicConfig?: Readonly<Record<string, string>>
  /** Further SQLite pragmas, which override the values of this file. */
  readonly sqlitePragmas?: Readonly<Record<string, string>>
  readonly log?: (line: string) => void
}

export interface TemporalServer {
  /** host:port of gRPC. */
  readonly address: string
  readonly namespace: 'default'
  readonly uiUrl: string | undefined
  /** The CLI that runs the server, which can also send commands to the server. */
  readonly cliPath: string
  readonly dbFile: string | undefined
  /** Pid of the running process, which changes at `restart()`. */
  readonly pid: number
  stop(): Promise<void>
  /** Sends a signal (SIGKILL, SIGSTOP, SIGCONT). After SIGKILL, resolves when the process has ended. */
  kill(signal: NodeJS.Signals): Promise<void>
  /** Starts the server again on the same ports and database file. */
  restart(): Promise<void>
  /** Kills the server and starts it on an empty database or on a copy. Newer data is lost. */
  restartFrom(copy: 'nothing' | DatabaseCopy): Promise<void>
  /**
   * Copies the database. The dev server is paused (SIGSTOP) during the copy. PostgreSQL is dumped while it is running.
   */
  copy(): Promise<DatabaseCopy>
}

export interface DatabaseCopy {
  readonly file: string
}

/**
 * Each queue has one partition, so that polls find their task without forwarding. Search attributes and Nexus do not
 * cause database reads. Limits are high. docs/develop/devnet.md has the reasons.
 */
export const devServerDynamicConfig: Readonly<Record<string, string>> = {
  'matching.numTaskqueueReadPartitions': '1',
  'matching.numTaskqueueWritePartitions': '1',
  'system.enableActivityEagerExecution': 'true',
  'system.forceSearchAttributesCacheRefreshOnRead': 'false',
  'system.forceNexusEndpointRefreshOnRead': 'false',
  'limit.memoSize.error': '16384',
  'history.maxInFlightUpdates': '1000',
  'history.MaxBufferedQueryCount': '20',
  'frontend.rps': '100000',
  'frontend.namespaceRPS': '100000',
  'frontend.namespaceRPS.visibility': '1000',
  'history.rps': '100000',
  'matching.rps': '100000',
}

/** Chosen by measurements of lab/bench/sqlite-pragmas.ts. docs/develop/devnet.md has the figures. */
export const devServerPragmas: Readonly<Record<string, string>> = { journal_mode: 'WAL', synchronous: 'NORMAL' }

/**
 * Starts a server. Resolves when the namespace has all search attributes. Throws SETUP_INCOMPLETE,
 * TEMPORAL_UNAVAILABLE.
 */
export async function startTemporal(options: TemporalOptions = {}): Promise<TemporalServer> {
  const cliPath = options.cliPath ?? (await findTemporalCli({ log: options.log })).path
  const inMemory = options.inMemory ?? options.dir === undefined
  if (!inMemory && options.dir === undefined) throw new Error('startTemporal needs `dir` unless `inMemory` is set')
  if (options.dir !== undefined) await mkdir(options.dir, { recursive: true })
  const dbFile = inMemory || options.dir === undefined ? undefined : join(options.dir, 'temporal.db')
  const port = options.port ?? (await freePort())
  const uiPort = options.headless ? undefined : (options.uiPort ?? (await freePort()))
  const logFile = options.dir === undefined ? undefined : join(options.dir, 'temporal.log')
  const start = () => launch(cliPath, flags({ ...options, port, uiPort, dbFile }), port, logFile)
  let child = await start()
  let copies = 0
  // A database in memory has nothing to close, so its server is killed without a grace period.
  const stop = () => child.stop(dbFile === undefined ? 0 : 5_000)
  return {
    address: `127.0.0.1:${port}`,
    namespace: 'default',
    uiUrl: uiPort === undefined ? undefined : `http://127.0.0.1:${uiPort}`,
    cliPath,
    dbFile,
    get pid() {
      return child.pid
    },
    stop,
    async kill(signal) {
      child.kill(signal)
      if (signal === 'SIGKILL') await child.exited
    },
    async restart() {
      await stop()
      child = await start()
    },
    async restartFrom(copy) {
      await child.stop(0)
      if (dbFile !== undefined) await replaceDatabase(copy === 'nothing' ? undefined : copy.file, dbFile)
      child = await start()
    },
    async copy() {
      if (dbFile === undefined) throw new Error('A database in memory cannot be copied')
      const file = `${dbFile}.copy-${++copies}`
      child.kill('SIGSTOP')
      try {
        await until(async () => (await run('ps', ['-o', 'stat=', '-p', String(child.pid)])).stdout.trim().startsWith('T'), {
          timeoutMs: 60_000,
          what: 'Temporal to sleep',
        })
        // Copies the database and the write-ahead log in the state in which a crash would leave them.
        await replaceDatabase(dbFile, file)
      } finally {
        child.kill('SIGCONT')
      }
      return { file }
    },
  }
}

async function replaceDatabase(from: string | undefined, to: string): Promise<void> {
  for (const suffix of ['', '-wal', '-shm']) await rm(to + suffix, { force: true })
  if (from === undefined) return
  await copyFile(from, to)
  // There is no write-ahead log if everything is in the database file.
  await copyFile(`${from}-wal`, `${to}-wal`).catch(() => undefined)
}

interface Flags extends TemporalOptions {
  readonly port: number
  readonly uiPort: number | undefined
  readonly dbFile: string | undefined
}

function flags({ port, uiPort, dbFile, dynamicConfig, sqlitePragmas }: Flags): string[] {
  const pragmas = dbFile === undefined ? {} : { ...devServerPragmas, ...sqlitePragmas }
  return [
    ...['server', 'start-dev', '--ip', '127.0.0.1', '--port', String(port), '--log-level', 'warn'],
    ...(uiPort === undefined ? ['--headless'] : ['--ui-port', String(uiPort), '--ui-ip', '127.0.0.1']),
    ...(dbFile === undefined ? [] : ['--db-filename', dbFile]),
    ...repeat('--sqlite-pragma', pragmas),
    ...repeat('--dynamic-config-value', { ...devServerDynamicConfig, ...dynamicConfig }),
    ...repeat('--search-attribute', Object.fromEntries(Object.keys(searchAttributes).map((name) => [name, 'Keyword']))),
  ]
}

function repeat(flag: string, values: Readonly<Record<string, string>>): string[] {
  return Object.entries(values).flatMap(([key, value]) => [flag, `${key}=${value}`])
}

async function launch(cliPath: string, args: string[], port: number, logFile: string | undefined): Promise<Child> {
  const child = await startChild(cliPath, args, { logFile })
  const giveUp = () => child.ended
  try {
    await until(() => accepts(port), { timeoutMs: 60_000, what: 'Temporal to accept connections', giveUp })
    await until(() => serves(`127.0.0.1:${port}`), { timeoutMs: 60_000, what: 'Temporal to serve the namespace', giveUp })
    return child
  } catch (cause) {
    await child.stop(0)
    throw new RelayerError('TEMPORAL_UNAVAILABLE', { detail: `The dev server did not start: ${child.tail() || 'it wrote nothing'}`, cause })
  }
}

/** Whether the server has the namespace and every search attribute, which the first start of a workflow needs. */
async function serves(address: string): Promise<boolean> {
  const connection = await Connection.connect({ address, connectTimeout: '5s' })
  try {
    await connection.workflowService.describeNamespace({ namespace: 'default' })
    const { customAttributes } = await connection.operatorService.listSearchAttributes({ namespace: 'default' })
    return Object.keys(searchAttributes).every((name) => customAttributes[name] !== undefined)
  } finally {
    await connection.close()
  }
}
