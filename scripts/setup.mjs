#!/usr/bin/env node
// Makes a fresh clone ready. Uses only node builtins, because nothing is installed yet. Prints to stderr, because
// commands with --json need stdout for themselves.
import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { accessSync, constants, existsSync, lstatSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { delimiter, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const minimumNode = [20, 3]
const root = fileURLToPath(new URL('..', import.meta.url))
const modules = `${root}node_modules`
const stampFile = `${modules}/.portage-setup`
/** Has a file for each set-up that runs or wants to run in this clone: `<process id>-<time>`. */
const claims = `${root}.portage/setup`

const help = `Usage: npm run setup [-- --force] [--tests]

Makes this clone ready to run. Takes a second if nothing has changed.

  1. checks that Node is ${minimumNode.join('.')} or newer
  2. installs the npm packages if package.json or package-lock.json has changed
  3. finds the Temporal CLI in TEMPORAL_CLI, in PATH or in the cache, or else downloads it or builds it with Go
  4. after step 2: compiles the command line and the workflows, so that the first start is as fast as later starts

While another set-up runs in the same clone, the set-up waits for it.

Options:
  --tests   also install the programs that only some tests need, once. If Go is installed, builds the Temporal server for
            the tests of TLS and authorization. As root, installs with apt the browser for the tests of the page (Debian's
            package chromium, 100 MB), and the shells zsh and fish (20 MB) for the tests of completion
  --force   install the packages even if nothing has changed
  --help    print this text

Commands that need the set-up (npm run demo, npm run devnet, npm test, npm run bench, npm run verify) run it first.
`

function stop(what, why, todo) {
  console.error(`\nset-up: ${what}\n  why it is needed: ${why}\n  what to do: ${todo}\n`)
  process.exit(1)
}

/** Runs a command, whose output goes to stderr. `shell` is only for Windows, where npm and tsx are .cmd files. */
function run(command, args, out = 2) {
  return spawnSync(command, args, { cwd: root, stdio: ['ignore', out, 2], shell: process.platform === 'win32' })
}

/** Runs a file with tsx. */
function runFile(file, out) {
  return run(process.execPath, ['--import', 'tsx', root + file], out)
}

/**
 * Waits until no other set-up runs in this clone, because npm ci removes the packages under the other set-up. Of two
 * set-ups that claim the clone at the same time, the later one sees the file of the other, and withdraws.
 */
function waitForOthers() {
  try {
    mkdirSync(claims, { recursive: true })
    accessSync(claims, constants.W_OK)
  } catch {
    // In a folder that cannot be written, npm ci removes nothing either.
    return
  }
  const name = `${process.pid}-${Date.now()}`
  const [mine, startedAt] = [join(claims, name), startOf(process.pid)]
  const other = () => readdirSync(claims).find((one) => one !== name && isRunning(one))
  process.on('exit', () => rmSync(mine, { force: true }))
  for (let isReported = false; ; isReported = true) {
    let found = other()
    if (found === undefined) {
      writeFileSync(mine, startedAt)
      found = other()
      if (found === undefined) return
      rmSync(mine)
    }
    if (!isReported) console.error(`set-up: waits for the set-up of process ${parseInt(found, 10)} in the same folder`)
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 100 + Math.random() * 400)
  }
}

/** Whether the process of a claim still runs. Removes the claim of a process that has ended. */
function isRunning(claim) {
  const [file, pid] = [join(claims, claim), parseInt(claim, 10)]
  try {
    const claimedAt = Date.parse(readFileSync(file, 'utf8'))
    process.kill(pid, 0)
    // Systems reuse process ids. A start time is unknown (NaN) without `ps`, and while the process writes its file.
    if (!(Math.abs(Date.parse(startOf(pid)) - claimedAt) > 2_000)) return true
  } catch (error) {
    // EPERM: the process runs, but belongs to another user.
    if (error.code === 'EPERM') return true
  }
  rmSync(file, { force: true })
  return false
}

/** Start time of a process as `ps` prints it. Empty without `ps`. */
function startOf(pid) {
  const env = { ...process.env, TZ: 'UTC', LC_ALL: 'C' }
  return (spawnSync('ps', ['-o', 'lstart=', '-p', String(pid)], { env, encoding: 'utf8' }).stdout ?? '').trim()
}

function wantedStamp() {
  const hash = createHash('sha256')
  for (const file of ['package.json', 'package-lock.json']) {
    const text = readFileSync(root + file, 'utf8')
    hash.update(file === 'package.json' ? dependenciesOf(text) : text)
  }
  return hash.update(`${process.platform} ${process.arch} ${process.versions.modules}`).digest('hex')
}

/**
 * The part of package.json that decides which packages are installed. A new script is not in this part, so it causes no
 * new installation.
 */
function dependenciesOf(text) {
  const { dependencies, devDependencies, optionalDependencies, overrides } = JSON.parse(text)
  return JSON.stringify([dependencies, devDependencies, optionalDependencies, overrides])
}

function checkNode() {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number)
  if (major > minimumNode[0] || (major === minimumNode[0] && minor >= minimumNode[1])) return
  stop(
    `Node ${process.versions.node} is too old: ${minimumNode.join('.')} or newer is needed.`,
    'the Temporal SDK and the tools use functions that older versions lack.',
    'install a current Node (https://nodejs.org/en/download), then run this command again.',
  )
}

function installPackages(force) {
  // npm ci empties node_modules first. If node_modules is a link, the folder belongs to another clone.
  if (lstatSync(modules, { throwIfNoEntry: false })?.isSymbolicLink()) {
    console.error('set-up: node_modules is a link to the packages of another clone, which do not change')
    return false
  }
  const stamp = existsSync(stampFile) ? readFileSync(stampFile, 'utf8') : ''
  if (!force && stamp === wantedStamp()) {
    console.error('set-up: packages are up to date')
    return false
  }
  const started = Date.now()
  console.error('set-up: installing packages with npm ci (about a minute the first time)')
  // npm ci installs the exact versions and digests of the lock file, and never changes the file.
  const { status, error } = run('npm', ['ci', '--no-audit', '--no-fund', '--loglevel=error'])
  if (error)
    stop(
      'npm could not be started.',
      'the packages are installed with npm.',
      `install npm (it comes with Node) and put it in PATH. (${error.message})`,
    )
  if (status !== 0) {
    stop(
      `npm ci ended with exit code ${status}.`,
      'Portage needs the packages to run.',
      'read the output of npm above. Offline or behind a proxy: npm config get registry, npm ping. After a change of package.json: npm run lock.',
    )
  }
  checkAnvil()
  writeFileSync(stampFile, wantedStamp())
  console.error(`set-up: packages installed in ${((Date.now() - started) / 1000).toFixed(0)} s`)
  return true
}

function checkAnvil() {
  const { status } = spawnSync(`${root}node_modules/.bin/anvil`, ['--version'], { stdio: 'ignore', shell: process.platform === 'win32' })
  if (status === 0) return
  stop(
    `anvil does not run on ${process.platform} ${process.arch}.`,
    'anvil runs the chains of the devnet, the demo and the tests.',
    'npm run setup -- --force; if there is no build for this platform, use Linux, macOS or WSL 2.',
  )
}

const cacheFolder = () => join(process.env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'portage', 'bin')

/** Path of a Temporal CLI of the user or of an earlier set-up. Only checks that the file exists. */
function knownTemporal() {
  const { TEMPORAL_CLI, PATH = '' } = process.env
  const name = process.platform === 'win32' ? 'temporal.exe' : 'temporal'
  const folders = [...PATH.split(delimiter).filter(Boolean), cacheFolder()]
  return (TEMPORAL_CLI ? [TEMPORAL_CLI] : folders.map((folder) => join(folder, name))).find((path) => existsSync(path))
}

/** @param installed whether packages were just installed. If not, the file of a known CLI is enough, and is not run. */
function findTemporal(installed) {
  const known = installed ? undefined : knownTemporal()
  const find = () => runFile('lab/devnet/temporal/temporal-cli.ts', 'ignore').status === 0
  if (known || find()) return console.error('set-up: found the Temporal CLI')
  checkCache()
  stop(
    'the Temporal CLI is missing.',
    'the CLI is the Temporal server of the devnet, the demo and the tests.',
    'install the CLI (https://docs.temporal.io/cli#install) and put it in PATH, or set TEMPORAL_CLI to its path, or install Go 1.24 or newer and run this command again.',
  )
}

/** Stops if the cache cannot be written, because neither a download nor Go helps then. */
function checkCache() {
  try {
    mkdirSync(cacheFolder(), { recursive: true })
    accessSync(cacheFolder(), constants.W_OK)
  } catch (error) {
    stop(
      `the Temporal CLI is missing, and the folder for it cannot be written: ${cacheFolder()} (${error.code}).`,
      'the CLI, which is the Temporal server of the devnet, the demo and the tests, is downloaded or built there once.',
      'set XDG_CACHE_HOME to a folder that you may write to, or TEMPORAL_CLI to the path of a Temporal CLI.',
    )
  }
}

/** Each of these files finds or installs programs that only tests need. */
const forTests = ['lab/devnet/temporal/find-temporal-server.ts', 'lab/browser/find-chromium.ts', 'lab/shells/find-shells.ts']

const args = process.argv.slice(2)
if (args.includes('--help')) {
  console.log(help)
} else {
  checkNode()
  waitForOthers()
  const installed = installPackages(args.includes('--force'))
  findTemporal(installed)
  // A failure of the remaining files is ignored: each file prints it, and a start compiles what is missing.
  if (installed) runFile('scripts/precompile.ts')
  if (args.includes('--tests')) for (const file of forTests) runFile(file)
}
