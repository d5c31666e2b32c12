import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, readFile, rename, rm, symlink, writeFile } from 'node:fs/promises'
import { delimiter, dirname, join } from 'node:path'
import { aptInstall } from '../../apt.ts'
import { run } from '../../devnet/run.ts'
import { programCache } from '../../devnet/temporal/temporal-cli.ts'

export type Found = { readonly path: string } | { readonly why: string }

const engine = '@wormhole-foundation/relayer-engine'
export const engineVersion = '0.3.2'
/** npm installs no package that was published after this date, so that all installations have the same packages. */
const before = '2026-01-01'
/** Copy of the manifest as installed, because npm may rewrite package.json. */
const pinsFile = 'pins.json'
/** Time limit for the installation, ms. */
const installMs = 900_000

/**
 * Versions from the lock file of relayer-engine's own repository. relayer-engine loads Injective's packages through
 * Wormhole's SDK, and does not start if newer versions of some of these packages meet older versions of the others.
 */
const overrides = {
  elliptic: '6.6.1',
  '@certusone/wormhole-sdk': '0.10.11',
  '@injectivelabs/exceptions': '1.11.0',
  '@injectivelabs/test-utils': '1.11.0',
  '@injectivelabs/ts-types': '1.11.0',
  '@injectivelabs/token-metadata': { '.': '1.11.0', '@injectivelabs/networks': '1.11.0', '@injectivelabs/utils': '1.11.0' },
  '@sei-js/core': '1.3.4',
  bullmq: '3.15.8',
} as const

/**
 * The manifest of a folder with relayer-engine. relayer-engine is not installed with Portage, because it depends on 660
 * packages (800 MB), some with open advisories.
 */
export function engineManifest(): object {
  return { private: true, dependencies: { [engine]: engineVersion }, overrides }
}

async function npmInstall(folder: string): Promise<string | undefined> {
  const quiet = ['--ignore-scripts', '--no-audit', '--no-fund', '--fetch-retries=1', '--loglevel=error']
  const npm = process.platform === 'win32' ? 'npm.cmd' : 'npm'
  const { code, stderr } = await run(npm, ['install', '--prefix', folder, `--before=${before}`, ...quiet], { timeoutMs: installMs })
  return code === 0 ? undefined : (stderr.trim().split('\n')[0] ?? 'npm failed')
}

/** A folder whose node_modules have relayer-engine: from the cache, or else from npm. Never throws. */
export async function findEngine(cache = join(programCache(process.env), '..'), install = npmInstall): Promise<Found> {
  const path = join(cache, `relayer-engine-${engineVersion}`)
  const manifest = JSON.stringify(engineManifest())
  const has = (folder: string) => existsSync(join(folder, 'node_modules', engine, 'package.json'))
  const pins = await readFile(join(path, pinsFile), 'utf8').catch(() => '')
  if (has(path) && pins === manifest) return { path }
  try {
    await mkdir(cache, { recursive: true })
    const work = await mkdtemp(join(cache, 'work-'))
    try {
      for (const file of ['package.json', pinsFile]) await writeFile(join(work, file), manifest)
      const why = (await install(work)) ?? (has(work) ? undefined : 'npm has installed something else')
      if (why !== undefined) return { why: `relayer-engine ${engineVersion} cannot be installed: ${why}` }
      // The complete folder is renamed into place, because npm leaves an incomplete folder if it is killed.
      await rm(path, { recursive: true, force: true })
      await rename(work, path)
    } finally {
      await rm(work, { recursive: true, force: true })
    }
  } catch (error) {
    return { why: `relayer-engine ${engineVersion} cannot be installed: ${String(error).split('\n')[0]}` }
  }
  return { path }
}

/** Debian's package redis-tools has the server's program under this name, and does not start a service. */
const debianProgram = '/usr/bin/redis-check-rdb'

/**
 * Finds a Redis server: REDIS_SERVER, one on PATH, or Debian's, which is installed if it is missing. Debian's program
 * acts as a server only under the name `redis-server`, so `folder` gets a link with this name. Never throws.
 */
export async function findRedis(folder: string, env = process.env, install = () => aptInstall('redis-tools')): Promise<Found> {
  const named = env['REDIS_SERVER']
  if (named !== undefined) return existsSync(named) ? { path: named } : { why: `REDIS_SERVER is ${named}, which does not exist` }
  const onPath = (env['PATH'] ?? '')
    .split(delimiter)
    .map((dir) => join(dir, 'redis-server'))
    .find((path) => existsSync(path))
  if (onPath !== undefined) return { path: onPath }
  const why = existsSync(debianProgram) ? undefined : await install()
  if (!existsSync(debianProgram)) return { why: `there is no redis-server (${why ?? 'redis-tools has none'}; or REDIS_SERVER names one)` }
  const path = join(folder, 'redis-server')
  await mkdir(dirname(path), { recursive: true })
  await symlink(debianProgram, path).catch(() => {})
  return { path }
}
