import { existsSync } from 'node:fs'
import { pathToFileURL } from 'node:url'
import { run } from '../devnet/run.ts'

/** Where Debian's package has it. */
const places = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome']
/** Of a hundred megabytes. */
const installMs = 600_000

/** The browser that CHROMIUM names, or one that is installed; undefined: there is none. */
export function knownChromium(env: NodeJS.ProcessEnv = process.env): string | undefined {
  // A path that was set on purpose is never silently replaced by another.
  const named = env['CHROMIUM']
  return named ? (existsSync(named) ? named : undefined) : places.find((path) => existsSync(path))
}

/** Finds the browser of the page's tests, or installs Debian's package where that is allowed. Never throws: undefined with the reason said. */
async function findChromium(): Promise<string | undefined> {
  const known = knownChromium()
  if (known !== undefined) return known
  if (process.env['CHROMIUM']) return refused(`CHROMIUM: ${process.env['CHROMIUM']} is not there`)
  if (process.getuid?.() !== 0) return refused('only root can install it: apt-get install chromium')
  say('set-up: installing chromium with apt-get, for the tests of the page (100 MB, once)')
  const install = () => apt('install', '--yes', '--no-install-recommends', 'chromium', 'fonts-liberation')
  let why = await install()
  // The lists of packages may never have been fetched, or be old.
  if (why !== undefined) why = (await apt('update')) ?? (await install())
  return knownChromium() ?? refused(why ?? 'apt-get has installed something else')
}

/** The last line of apt-get if it failed. */
async function apt(...args: string[]): Promise<string | undefined> {
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' }
  const done = await run('apt-get', ['--quiet', ...args], { timeoutMs: installMs, env })
  return done.code === 0 ? undefined : (done.stderr.trim().split('\n').at(-1) ?? 'apt-get failed')
}

function refused(why: string): undefined {
  say(`NOT RUN: test/e2e/page.test.ts: no Chromium (${why}; or CHROMIUM names one)`)
}

function say(line: string): void {
  process.stderr.write(`${line}\n`)
}

if (process.argv[1] && import.meta.url === pathToFileURL(process.argv[1]).href) {
  const found = await findChromium()
  if (found !== undefined) say(`set-up: the browser of the page's tests is ${found}`)
}
