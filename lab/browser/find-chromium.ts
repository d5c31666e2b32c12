import { existsSync } from 'node:fs'
import { pathToFileURL } from 'node:url'
import { aptInstall } from '../apt.ts'

const places = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome']

/** The browser that CHROMIUM names, or an installed browser. Undefined if there is none. */
export function knownChromium(env: NodeJS.ProcessEnv = process.env): string | undefined {
  // A wrong path in CHROMIUM is a user error, so no other browser is used instead.
  const named = env['CHROMIUM']
  return named ? (existsSync(named) ? named : undefined) : places.find((path) => existsSync(path))
}

async function findChromium(): Promise<string | undefined> {
  const known = knownChromium()
  if (known !== undefined) return known
  if (process.env['CHROMIUM']) return refused(`CHROMIUM: ${process.env['CHROMIUM']} does not exist`)
  say('set-up: chromium is missing; as root, apt-get installs it for the tests of the page (100 MB, once)')
  const why = await aptInstall('chromium', 'fonts-liberation')
  return knownChromium() ?? refused(why ?? 'apt-get has installed something else')
}

function refused(why: string): undefined {
  say(`NOT RUN: test/e2e/page.test.ts: no Chromium (${why}; CHROMIUM can name one)`)
}

function say(line: string): void {
  process.stderr.write(`${line}\n`)
}

if (process.argv[1] && import.meta.url === pathToFileURL(process.argv[1]).href) {
  const found = await findChromium()
  if (found !== undefined) say(`set-up: the browser of the page's tests is ${found}`)
}
