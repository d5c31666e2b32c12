/**
 * Builds the image with buildah, on a base of this machine's own Debian, and checks its contents. Then starts every
 * role of the image on a devnet as an orchestrator would, and checks that transfers are delivered. Prints NOT RUN if
 * this machine cannot run the test. `--keep` keeps the logs. `--json` prints only the figures.
 */
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { startDevnet } from '../lab/devnet/index.ts'
import { run } from '../lab/devnet/run.ts'
import { until } from '../lab/devnet/until.ts'
import { baseImageTar } from './image/base.ts'
import { type Buildah, createBuildah } from './image/buildah.ts'
import { type ImageConfig, startContainer } from './image/container.ts'
import { contentsOf } from './image/contents.ts'
import { type FleetProcess, startFleet } from './image/fleet.ts'
import { privilegesOf } from './image/processes.ts'

const root = fileURLToPath(new URL('..', import.meta.url))
const say = (line: string) => void process.stderr.write(`image: ${line}\n`)
/** Maximum size. A larger image has parts that docs/operate/deploy/image.md does not list. */
const mostBytes = 200_000_000
const coin = { kind: 'coin', amount: 10n ** 17n } as const
const problems: string[] = []

function expect(what: string, holds: boolean, detail: unknown = ''): void {
  say(`${holds ? 'ok' : 'NOT OK'}: ${what}${holds ? '' : ` ${JSON.stringify(detail)}`}`)
  if (!holds) problems.push(what)
}

async function hindrance(): Promise<string | undefined> {
  if (process.platform !== 'linux' || process.getuid?.() !== 0) return 'it needs root on Linux'
  for (const program of ['buildah', 'debootstrap', 'unshare', 'setpriv']) {
    if ((await run(program, ['--version'])).code !== 0) return `${program} is not installed (Debian: apt-get install buildah debootstrap)`
  }
  return undefined
}

async function build(buildah: Buildah, base: string): Promise<string> {
  const container = await buildah.run('from', 'scratch')
  await buildah.run('add', container, base, '/')
  await buildah.run('commit', '--rm', container, 'portage-base')
  say('buildah build…')
  const started = Date.now()
  const options = ['--build-arg', 'BASE=localhost/portage-base', '--pull-never', '--layers=false', '--tag', 'portage:test']
  await buildah.run('build', ...options, '--file', join(root, 'Dockerfile'), root)
  say(`built in ${Math.round((Date.now() - started) / 1000)} s`)
  return buildah.run('from', '--pull-never', 'localhost/portage:test')
}

async function lookInside(folder: string) {
  const contents = await contentsOf(folder)
  const { dependencies, devDependencies } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8')) as Record<
    'dependencies' | 'devDependencies',
    Record<string, string>
  >
  const names = contents.npm.map((one) => one.slice(0, one.lastIndexOf('@')))
  const forDevelopment = names.filter((name) => name in devDependencies && !(name in dependencies))
  expect('no shell, package manager, compiler, setuid file', contents.unwanted.length === 0, contents.unwanted)
  expect('no development packages', forDevelopment.length === 0, forDevelopment)
  expect(`at most ${mostBytes / 1e6} MB`, contents.bytes <= mostBytes, contents.bytes)
  return contents
}

/** Tries writes as the image's user, none of which may succeed. */
async function tryToWrite(mounted: string, image: ImageConfig): Promise<void> {
  const writes = ['/app/bin/portage.js', '/etc/passwd', '/var/lib/portage/x', '/usr/local/bin/x']
  const program = `const fs = require('node:fs'); console.log(JSON.stringify(${JSON.stringify(writes)}.map((file) => { try { fs.appendFileSync(file, 'x'); return file } catch ({ code }) { return code } })))`
  const { child } = await startContainer({ root: mounted, image, entrypoint: ['/usr/local/bin/node'], args: ['-e', program], mounts: [] })
  await child.exited
  const codes = /\[.*\]/.exec(child.tail())?.[0] ?? child.tail()
  expect('no file of the image can be written', /^\[("(EROFS|EACCES)",?){4}\]$/.test(codes), codes)
}

async function deliver(mounted: string, image: ImageConfig, folder: string) {
  const devnet = await startDevnet({ inMemory: true, ui: false, keysPerChain: 2, log: say })
  const started: FleetProcess[] = []
  try {
    const began = Date.now()
    const fleet = await startFleet({ devnet, root: mounted, image, folder }, started)
    say(`${fleet.processes.length} processes ready in ${Math.round((Date.now() - began) / 1000)} s`)
    const [first, second] = await Promise.all([
      devnet.users.ethereum.send(Array.from({ length: 10 }, () => coin)),
      devnet.users.bsc.send(Array.from({ length: 10 }, () => coin)),
    ])
    const sent = [...first, ...second]
    const checked = async () => {
      const result = await devnet.check(sent)
      return result.delivered === sent.length && result
    }
    const { delivered, duplicates, nonceHoles } = await until(checked, { timeoutMs: 180_000, everyMs: 1_000, what: 'all to be delivered' })
    expect(`${sent.length} transfers delivered, none twice, no nonce hole`, duplicates === 0 && nonceHoles === 0, { delivered, duplicates })
    const found = await Promise.all(fleet.processes.map(privilegesOf))
    for (const { name, uid, capabilities, noNewPrivileges, secrets } of found) {
      const own = name.startsWith('lane-') ? ['/run/secrets/portage/lane/keystore.json', '/run/secrets/portage/lane/password'] : []
      const holds = uid === '10001' && capabilities.length === 0 && noNewPrivileges && JSON.stringify(secrets) === JSON.stringify(own)
      expect(`${name}: not root, no capabilities, ${own.length === 0 ? 'no key' : 'only its own key'}`, holds, {
        uid,
        capabilities,
        secrets,
      })
    }
    const answers = await Promise.all(fleet.processes.map(async ({ adminUrl }) => (await fetch(`${adminUrl}/metrics`)).text()))
    expect(
      'each process serves metrics',
      answers.every((text) => text.includes('portage_')),
    )
    const api = await fetch(`${fleet.apiUrl}/v1/transfers`, { headers: { authorization: fleet.authorization } })
    expect('the API lists transfers', api.ok, api.status)
    const logs = await Promise.all(started.map(({ name }) => readFile(join(folder, `${name}.log`), 'utf8')))
    const errors = logs.flatMap((log) => log.split('\n').filter((line) => line.includes('"level":"error"')))
    expect('no process logs an error', errors.length === 0, errors.slice(0, 3))
    const ends = await Promise.all(started.map(async (one) => ({ name: one.name, end: await one.stop() })))
    expect(
      'each process exits with code 0 on SIGTERM',
      ends.every(({ end }) => end === 'ended with code 0'),
      ends,
    )
    return { delivered, peakMegabytes: Object.fromEntries(found.map(({ name, peakBytes }) => [name, Math.round(peakBytes / 1e6)])) }
  } finally {
    await Promise.all(started.map((one) => one.stop(0)))
    await devnet.stop()
  }
}

async function main(): Promise<number> {
  const { values } = parseArgs({ options: { keep: { type: 'boolean', default: false }, json: { type: 'boolean', default: false } } })
  const why = await hindrance()
  if (why !== undefined) {
    console.log(`NOT RUN: the test of the image: ${why}`)
    return 0
  }
  const folder = await mkdtemp(join(tmpdir(), 'portage-image-'))
  const buildah = createBuildah(join(folder, 'buildah'))
  try {
    const container = await build(buildah, await baseImageTar(say))
    const mounted = await buildah.run('mount', container)
    const { config: image } = (
      JSON.parse(await buildah.run('inspect', '--type', 'image', 'localhost/portage:test')) as { OCIv1: { config: ImageConfig } }
    ).OCIv1
    expect('an image that is not of root', image.User === '10001:10001', image.User)
    const { npm, debian, ...contents } = await lookInside(mounted)
    await tryToWrite(mounted, image)
    const figures = await deliver(mounted, image, folder)
    console.log(
      JSON.stringify(
        { ...contents, debian: debian.length, npm: npm.length, packages: [...debian, ...npm], ...figures },
        null,
        values.json ? 0 : 2,
      ),
    )
  } finally {
    await buildah.remove()
    if (!values.keep) await rm(folder, { recursive: true, force: true })
  }
  for (const problem of problems) console.error(`image: NOT OK: ${problem}`)
  console.log(`${problems.length === 0 ? 1 : 0} passed, ${problems.length === 0 ? 0 : 1} failed`)
  return problems.length === 0 ? 0 : 1
}

process.exitCode = await main()
