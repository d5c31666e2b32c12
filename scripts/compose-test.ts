/**
 * Runs the commands of docker-compose.temporal.yml twice, because a second `docker compose up` repeats them. Needs no
 * Docker: uses this machine's PostgreSQL, and builds the programs of the images with Go, in the same versions. Prints
 * NOT RUN if a program is missing.
 */
import { existsSync } from 'node:fs'
import { chmod, mkdir, mkdtemp, readFile, rename, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parse } from 'yaml'
import { startChild } from '../lab/devnet/child.ts'
import { freePort } from '../lab/devnet/ports.ts'
import { run } from '../lab/devnet/run.ts'
import { knownTemporalServer, serverVersion } from '../lab/devnet/temporal/find-temporal-server.ts'
import { goInstall } from '../lab/devnet/temporal/go-install.ts'
import { findPostgres, startPostgres } from '../lab/devnet/temporal/postgres.ts'
import { findTemporalCli, programCache } from '../lab/devnet/temporal/temporal-cli.ts'
import { until } from '../lab/devnet/until.ts'
import { searchAttributes } from '../temporal/contracts/names.ts'

interface Service {
  readonly command: readonly string[]
  readonly environment?: Readonly<Record<string, string>>
}

const root = fileURLToPath(new URL('..', import.meta.url))
const compose = parse(await readFile(join(root, 'docker-compose.temporal.yml'), 'utf8'), { merge: true }) as {
  readonly services: Readonly<Record<'schema' | 'temporal' | 'set-up', Service>>
  readonly configs: Readonly<Record<string, { readonly content: string }>>
}
const say = (line: string) => void process.stderr.write(`compose: ${line}\n`)

interface Programs {
  readonly server: string
  readonly sqlTool: string
  readonly cli: string
}

/** Finds or builds the programs of the images. `why`: the reason why a program is missing. */
async function programs(): Promise<Programs | { readonly why: string }> {
  const server = knownTemporalServer()
  if (server === undefined) return { why: 'the Temporal server is not built: npm run setup -- --tests' }
  const sqlTool = join(programCache(process.env), `temporal-sql-tool-${serverVersion}`)
  const { path: cli } = await findTemporalCli({ log: () => {} })
  if (existsSync(sqlTool)) return { server, sqlTool, cli }
  const work = await mkdtemp(join(programCache(process.env), 'work-'))
  const tried: string[] = []
  try {
    const module = `go.temporal.io/server/cmd/tools/sql@v${serverVersion}`
    if (!(await goInstall({ what: 'Temporal SQL tool', module, dir: work, env: process.env, log: say, tried })))
      return { why: tried.join('; ') }
    // Renames only a complete program, so that another process never sees a part of the program.
    await rename(join(work, 'sql'), sqlTool)
    return { server, sqlTool, cli }
  } finally {
    await rm(work, { recursive: true, force: true })
  }
}

/**
 * Returns a function that gives the command and the environment of a Compose service. `place`: text of the Compose file
 * (a path, an address) → the text that replaces it.
 */
function shellOf(folder: string, place: Readonly<Record<string, string>>) {
  return (name: keyof typeof compose.services, more: Readonly<Record<string, string>> = {}) => {
    const { command, environment = {} } = compose.services[name]
    const placed = (text: string) => Object.entries(place).reduce((all, [from, to]) => all.replaceAll(from, to), text)
    // A Compose file escapes each dollar sign with a second one.
    const script = placed((command[0] ?? '').replaceAll('$$', '$'))
    const own = Object.fromEntries(Object.entries(environment).map(([key, value]) => [key, placed(value)]))
    return { args: ['-euc', script], env: { PATH: `${folder}/bin:/usr/bin:/bin`, HOME: folder, ...own, ...more } }
  }
}

async function main(): Promise<number> {
  const [found, postgresPrograms] = await Promise.all([programs(), findPostgres()])
  if ('why' in found || postgresPrograms === undefined) {
    console.log(
      `NOT RUN: the Temporal of docker-compose.temporal.yml: ${'why' in found ? found.why : 'PostgreSQL was not found, or does not run (Debian: apt-get install postgresql)'}`,
    )
    return 0
  }
  const folder = await mkdtemp(join(tmpdir(), 'portage-compose-'))
  // PostgreSQL runs as another user, who must be able to enter the folder.
  await chmod(folder, 0o755)
  const postgres = await startPostgres({ programs: postgresPrograms, dir: join(folder, 'postgres'), synchronousCommit: false })
  try {
    await mkdir(join(folder, 'bin'))
    const names = { 'temporal-server': found.server, 'temporal-sql-tool': found.sqlTool, temporal: found.cli }
    for (const [name, path] of Object.entries(names)) await symlink(path, join(folder, 'bin', name))
    await writeFile(join(folder, 'password'), 'devnet')
    await writeFile(join(folder, 'entrypoint.sh'), '#!/bin/sh\nexec temporal-server start\n', { mode: 0o755 })
    await writeFile(join(folder, 'dynamic-config.yaml'), compose.configs['dynamic-config']?.content ?? '')
    const [, port = ''] = postgres.address.split(':')
    const frontend = await freePort()
    const shell = shellOf(folder, {
      ...{ '/run/secrets/postgres-password': join(folder, 'password'), '/etc/temporal/entrypoint.sh': join(folder, 'entrypoint.sh') },
      ...{ '/etc/temporal/portage-dynamic-config.yaml': join(folder, 'dynamic-config.yaml'), 'endpoint postgresql': 'endpoint 127.0.0.1' },
      ...{ '--port 5432': `--port ${port}`, '0.0.0.0': '127.0.0.1', 'temporal:7233': `127.0.0.1:${frontend}` },
    })
    for (const time of ['first', 'second']) await once(time, { shell, frontend, port, cli: found.cli })
    console.log('1 passed, 0 failed')
    return 0
  } finally {
    await postgres.stop()
    await rm(folder, { recursive: true, force: true })
  }
}

interface Stack {
  readonly shell: ReturnType<typeof shellOf>
  readonly frontend: number
  readonly port: string
  readonly cli: string
}

/** Does what `docker compose up` does, then stops everything. Throws Error with the output of a service. */
async function once(time: string, { shell, frontend, port, cli }: Stack): Promise<void> {
  await complete('schema', shell('schema'))
  const names = ['FRONTEND', 'MATCHING', 'HISTORY', 'WORKER'].flatMap((one) => [`${one}_GRPC_PORT`, `${one}_MEMBERSHIP_PORT`])
  const ports = await Promise.all([...names, 'FRONTEND_HTTP_PORT'].map(async (name) => [name, String(await freePort())] as const))
  const own = {
    ...Object.fromEntries(ports),
    FRONTEND_GRPC_PORT: String(frontend),
    DB_PORT: port,
    POSTGRES_PORT: port,
    POSTGRES_SEEDS: '127.0.0.1',
  }
  const { args, env } = shell('temporal', { ...own, PROMETHEUS_ENDPOINT: `127.0.0.1:${await freePort()}` })
  const temporal = await startChild('sh', args, { env })
  try {
    const operator = (...args: readonly string[]) => run(cli, ['operator', ...args, '--address', `127.0.0.1:${frontend}`])
    await until(async () => (await operator('cluster', 'health')).code === 0, {
      ...{ timeoutMs: 120_000, everyMs: 500, what: 'Temporal to be healthy' },
      giveUp: () => temporal.ended && `${temporal.ended}: ${temporal.tail()}`,
    })
    await complete('set-up', shell('set-up'))
    const { stdout } = await operator('search-attribute', 'list', '--namespace', 'default')
    const missing = Object.keys(searchAttributes).filter((name) => !new RegExp(`\\b${name}\\s+Keyword\\b`).test(stdout))
    if (missing.length > 0) throw new Error(`search attributes are missing: ${missing.join(', ')}\n${stdout}`)
    say(`${time} start: schema, server ${serverVersion}, namespace and ${Object.keys(searchAttributes).length} search attributes`)
  } finally {
    await temporal.stop(30_000)
  }
}

async function complete(name: string, { args, env }: { readonly args: readonly string[]; readonly env: NodeJS.ProcessEnv }): Promise<void> {
  const { code, stdout, stderr } = await run('sh', args, { env, timeoutMs: 180_000 })
  if (code !== 0) throw new Error(`${name} ended with code ${code}: ${(stdout + stderr).slice(-2_000)}`)
}

process.exitCode = await main()
