import { existsSync } from 'node:fs'
import { chmod, mkdir, mkdtemp, readdir, rename, rm } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { homedir } from 'node:os'
import { delimiter, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { RelayerError } from '../../../domain/catalogue/errors.ts'
import { run } from '../run.ts'
import { goInstall, lastLine } from './go-install.ts'

export type CliOrigin = 'TEMPORAL_CLI' | 'PATH' | 'cache' | 'sdk-download' | 'go-install'

export interface TemporalCli {
  readonly path: string
  readonly origin: CliOrigin
  readonly version: string
}

export interface FindOptions {
  readonly log?: (line: string) => void
  readonly env?: NodeJS.ProcessEnv
  /** Folder for a downloaded or built CLI. Default: portage/bin in XDG_CACHE_HOME or in ~/.cache. */
  readonly cacheDir?: string
  readonly downloadTimeoutMs?: number
  /** Whether `log` gets the path of the CLI. Default true. */
  readonly announce?: boolean
}

/** `go install` refuses later versions, because they have a replace directive. */
const goModule = 'github.com/temporalio/cli/cmd/temporal@v1.5.1'
const program = process.platform === 'win32' ? 'temporal.exe' : 'temporal'

/**
 * Finds a Temporal CLI: tries TEMPORAL_CLI, PATH, the cache, the SDK's own download, and `go install`. Throws
 * SETUP_INCOMPLETE.
 */
export async function findTemporalCli(options: FindOptions = {}): Promise<TemporalCli> {
  const env = options.env ?? process.env
  const log = options.log ?? ((line) => process.stderr.write(`${line}\n`))
  const cacheDir = options.cacheDir ?? programCache(env)
  const tried: string[] = []
  const announced = (cli: TemporalCli) => (options.announce === false ? cli : announce(cli, log))
  // A wrong path in TEMPORAL_CLI is a user error, so no other CLI is used instead.
  if (env.TEMPORAL_CLI) {
    const found = await probe(env.TEMPORAL_CLI, 'TEMPORAL_CLI', tried)
    if (found) return announced(found)
    throw incomplete(tried)
  }
  const known: [string, CliOrigin][] = [
    ...(env.PATH ?? '')
      .split(delimiter)
      .filter(Boolean)
      .map((dir): [string, CliOrigin] => [join(dir, program), 'PATH']),
    [join(cacheDir, program), 'cache'],
  ]
  for (const [path, origin] of known) {
    const found = existsSync(path) ? await probe(path, origin, tried) : undefined
    if (found) return announced(found)
  }
  tried.push('no `temporal` on PATH')
  const path = join(cacheDir, program)
  const work = await workFolder(cacheDir)
  try {
    const made =
      ((await download(work, options.downloadTimeoutMs ?? 60_000, log, tried)) && 'sdk-download') ||
      ((await goInstall({ what: 'Temporal CLI', module: goModule, dir: work, env, log, tried })) && 'go-install')
    if (!made) throw incomplete(tried)
    const [binary] = (await readdir(work)).filter((name) => name.startsWith('temporal'))
    // The complete file is renamed into place, so that other processes never see a part of it.
    if (binary) await chmod(join(work, binary), 0o755).then(() => rename(join(work, binary), path))
    const found = await probe(path, made, tried)
    if (found) return announced(found)
    throw incomplete(tried)
  } finally {
    await rm(work, { recursive: true, force: true })
  }
}

/**
 * Creates a folder for an unfinished download or build. Throws SETUP_INCOMPLETE if the cache cannot be written, for
 * example in a read-only home.
 */
async function workFolder(cacheDir: string): Promise<string> {
  try {
    await mkdir(cacheDir, { recursive: true })
    return await mkdtemp(join(cacheDir, 'work-'))
  } catch (cause) {
    const { code = 'no reason given' } = cause as NodeJS.ErrnoException
    const detail = `There is no Temporal CLI, and the folder for it, ${cacheDir}, cannot be written (${code}). Set XDG_CACHE_HOME to a folder that you may write to, or TEMPORAL_CLI to a Temporal CLI.`
    throw new RelayerError('SETUP_INCOMPLETE', { detail, cause })
  }
}

export function programCache(env: NodeJS.ProcessEnv): string {
  return join(env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'portage', 'bin')
}

async function probe(path: string, origin: CliOrigin, tried: string[]): Promise<TemporalCli | undefined> {
  const answer = await run(path, ['--version'], { timeoutMs: 20_000 })
  const version = answer.stdout.trim()
  if (answer.code === 0 && version.includes('Server')) return { path, origin, version }
  tried.push(`${origin}: ${path} is not a Temporal CLI (${(answer.stderr || version).trim().slice(0, 200) || `code ${answer.code}`})`)
  return undefined
}

/**
 * Downloads in a separate process, because the SDK's runtime can be set up only once per process, and the download may
 * hang.
 */
async function download(dir: string, timeoutMs: number, log: (line: string) => void, tried: string[]): Promise<boolean> {
  log(`Temporal CLI: neither TEMPORAL_CLI nor PATH has one; asking the SDK to download it (at most ${timeoutMs / 1000} s)…`)
  const script = `
    const { TestWorkflowEnvironment } = require(process.argv[1])
    TestWorkflowEnvironment.createLocal({ server: { executable: { type: 'cached-download', downloadDir: process.argv[2] } } })
      .then((env) => env.teardown()).then(() => process.exit(0), (error) => { console.error(error.message); process.exit(1) })`
  const testing = createRequire(import.meta.url).resolve('@temporalio/testing')
  const answer = await run(process.execPath, ['-e', script, testing, dir], { timeoutMs })
  if (answer.code === 0) return true
  const why = answer.timedOut ? `no answer in ${timeoutMs / 1000} s` : lastLine(answer.stderr)
  tried.push(`SDK download: ${why}`)
  log(`Temporal CLI: the download did not work (${why}).`)
  // An incomplete download looks like a binary, so it is removed.
  for (const name of await readdir(dir)) await rm(join(dir, name), { recursive: true, force: true })
  return false
}

function announce(cli: TemporalCli, log: (line: string) => void): TemporalCli {
  log(`Temporal CLI: ${cli.path} (from ${cli.origin}; ${cli.version})`)
  return cli
}

function incomplete(tried: readonly string[]): RelayerError {
  const ways =
    'Three ways to provide it: install the Temporal CLI on PATH or name it in TEMPORAL_CLI; or let this machine reach the internet, so that the ' +
    'SDK downloads it; or install Go 1.24 or later, with which it is built once.'
  return new RelayerError('SETUP_INCOMPLETE', { detail: `No Temporal CLI: ${tried.join('; ')}. ${ways}` })
}

if (process.argv[1] && import.meta.url === pathToFileURL(process.argv[1]).href) {
  try {
    // Prints only the path, because the command that follows the set-up prints the message about the CLI.
    process.stdout.write(`${(await findTemporalCli({ announce: false })).path}\n`)
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`)
    process.exitCode = 1
  }
}
