import { run } from './devnet/run.ts'

/** Time limit for the installation of about 100 MB of packages, ms. */
const installMs = 600_000

export async function aptInstall(...packages: string[]): Promise<string | undefined> {
  if (process.getuid?.() !== 0) return `only root can install it: apt-get install ${packages.join(' ')}`
  const install = () => apt('install', '--yes', '--no-install-recommends', ...packages)
  const why = await install()
  // The first try fails if the package lists are old or missing, so the lists are updated before the second try.
  return why === undefined ? undefined : ((await apt('update')) ?? (await install()))
}

async function apt(...args: string[]): Promise<string | undefined> {
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' }
  const done = await run('apt-get', ['--quiet', ...args], { timeoutMs: installMs, env }).catch((error: unknown) => String(error))
  if (typeof done === 'string') return done
  return done.code === 0 ? undefined : (done.stderr.trim().split('\n').at(-1) ?? 'apt-get failed')
}
