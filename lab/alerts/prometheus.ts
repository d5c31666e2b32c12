import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, readdir, rename, rm, writeFile } from 'node:fs/promises'
import { delimiter, join } from 'node:path'
import { type Child, startChild } from '../devnet/child.ts'
import { freePort } from '../devnet/ports.ts'
import { run } from '../devnet/run.ts'
import { lastLine } from '../devnet/temporal/go-install.ts'
import { programCache } from '../devnet/temporal/temporal-cli.ts'
import { until } from '../devnet/until.ts'

/** Path of a program in the unpacked Debian package of Prometheus. */
export const cachedProgram = (name: 'prometheus' | 'promtool', env: NodeJS.ProcessEnv) =>
  join(programCache(env), '..', 'prometheus', 'usr', 'bin', name)

/**
 * Finds Prometheus in PROMETHEUS, PATH or the cache, or unpacks Debian's package into the cache. `why`: why Debian's
 * package cannot be used either.
 */
export async function findPrometheus(env: NodeJS.ProcessEnv): Promise<{ readonly path: string } | { readonly why: string }> {
  const { PROMETHEUS, PATH = '' } = env
  if (PROMETHEUS) return { path: PROMETHEUS }
  const cached = cachedProgram('prometheus', env)
  for (const path of [...PATH.split(delimiter).map((folder) => join(folder, 'prometheus')), cached]) if (existsSync(path)) return { path }
  const cache = join(programCache(env), '..')
  await mkdir(cache, { recursive: true })
  const work = await mkdtemp(join(cache, 'work-'))
  try {
    const got = await run('sh', ['-c', 'cd "$0" && apt-get download prometheus', work], { timeoutMs: 300_000 })
    const [file] = (await readdir(work)).filter((name) => name.endsWith('.deb'))
    if (got.code !== 0 || file === undefined) return { why: `apt-get download prometheus: ${lastLine(got.stderr)}` }
    const unpacked = await run('dpkg', ['-x', join(work, file), join(work, 'prometheus')])
    if (unpacked.code !== 0) return { why: `dpkg: ${lastLine(unpacked.stderr)}` }
    // Another process may unpack the same package at this time, so the complete folder is renamed into place.
    await rename(join(work, 'prometheus'), join(cache, 'prometheus')).catch(() => {})
    return existsSync(cached) ? { path: cached } : { why: 'the package has no program' }
  } finally {
    await rm(work, { recursive: true, force: true })
  }
}

export interface ActiveAlert {
  readonly labels: Readonly<Record<string, string>> & { readonly alertname: string }
  readonly state: 'pending' | 'firing'
}

export interface Prometheus {
  readonly version: string
  /** Replaces the list of processes that Prometheus scrapes. `targets`: addresses of admin ports, `host:port`. */
  scrape(targets: readonly string[]): Promise<void>
  alerts(): Promise<readonly ActiveAlert[]>
  /** Number of series that an expression returns now. Throws Error if Prometheus refuses the expression. */
  count(expr: string): Promise<number>
  stop(): Promise<void>
}

/** Starts a real Prometheus that scrapes every second. `rules`: texts of rule files. `dir`: folder for its data. */
export async function startPrometheus(path: string, rules: readonly string[], dir: string): Promise<Prometheus> {
  await mkdir(dir, { recursive: true })
  const port = await freePort()
  const [config, targetsFile] = [join(dir, 'prometheus.yml'), join(dir, 'targets.json')]
  await Promise.all(rules.map((text, index) => writeFile(join(dir, `rules-${index}.yml`), text)))
  await writeFile(targetsFile, '[]')
  await writeFile(
    config,
    [
      'global: { scrape_interval: 1s, scrape_timeout: 1s, evaluation_interval: 1s }',
      `rule_files: ['${join(dir, 'rules-*.yml')}']`,
      `scrape_configs: [{ job_name: portage, file_sd_configs: [{ files: ['${targetsFile}'], refresh_interval: 1s }] }]`,
      '',
    ].join('\n'),
  )
  const argv = [`--config.file=${config}`, `--storage.tsdb.path=${join(dir, 'data')}`, `--web.listen-address=127.0.0.1:${port}`]
  const child: Child = await startChild(path, argv, { logFile: join(dir, 'prometheus.log') })
  const ask = async (request: string): Promise<unknown> => {
    const answer = await fetch(`http://127.0.0.1:${port}/api/v1/${request}`, { signal: AbortSignal.timeout(10_000) })
    const { status, data, error } = (await answer.json()) as { status: string; data: unknown; error?: string }
    if (status !== 'success') throw new Error(error ?? `Prometheus answered ${answer.status}`)
    return data
  }
  const { version } = (await until(() => ask('status/buildinfo'), {
    timeoutMs: 60_000,
    everyMs: 100,
    what: 'Prometheus to answer',
    giveUp: () => child.ended && `${child.ended}: ${child.tail()}`,
  }).catch(async (error: unknown) => {
    await child.stop()
    throw error
  })) as { version: string }
  return {
    version,
    async scrape(targets) {
      // The complete file is renamed into place, because Prometheus may read the file at any time.
      await writeFile(`${targetsFile}.new`, JSON.stringify([{ targets }]))
      await rename(`${targetsFile}.new`, targetsFile)
    },
    alerts: async () => ((await ask('alerts')) as { alerts: ActiveAlert[] }).alerts,
    count: async (expr) => ((await ask(`query?${new URLSearchParams({ query: expr }).toString()}`)) as { result: unknown[] }).result.length,
    stop: () => child.stop(),
  }
}
