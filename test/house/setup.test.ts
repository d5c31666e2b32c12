import { spawn, spawnSync } from 'node:child_process'
import { copyFileSync, existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { beforeEach, describe, expect, test } from 'vitest'
import { until } from '../../lab/devnet/until.ts'
import { importsOf } from '../../scripts/check-rooms.ts'
import { temporaryFolder } from '../helpers/folders.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))
let clone: string

beforeEach(() => {
  clone = temporaryFolder()
  mkdirSync(join(clone, 'scripts'))
  copyFileSync(join(root, 'scripts/setup.mjs'), join(clone, 'scripts/setup.mjs'))
  depend({})
})

/** @param locked entries of the lock file */
function depend(dependencies: Record<string, string>, locked: Readonly<Record<string, object>> = {}): void {
  const own = { name: 'x', version: '1.0.0', dependencies }
  writeFileSync(join(clone, 'package.json'), JSON.stringify(own))
  writeFileSync(
    join(clone, 'package-lock.json'),
    JSON.stringify({ name: 'x', version: '1.0.0', lockfileVersion: 3, requires: true, packages: { '': own, ...locked } }),
  )
}

function setup(args: readonly string[] = [], { env = {}, nodeArgs = [] }: { env?: NodeJS.ProcessEnv; nodeArgs?: readonly string[] } = {}) {
  const { status, stdout, stderr } = spawnSync(process.execPath, [...nodeArgs, join(clone, 'scripts/setup.mjs'), ...args], {
    encoding: 'utf8',
    env: { ...process.env, ...env },
  })
  return { status, stdout, stderr }
}

const program = (lines: string) => `#!${process.execPath}\n${lines}\n`

/** Puts a program in place of npm. It notes its begin and end, and installs once the file `go` is there (1 min). */
function placeNpm(): string {
  const bin = join(clone, 'bin')
  mkdirSync(bin)
  const anvil = program('')
  const npm = `const { appendFileSync, chmodSync, existsSync, mkdirSync, rmSync, writeFileSync } = require('node:fs')
    appendFileSync('log', 'begin ')
    rmSync('node_modules', { recursive: true, force: true })
    for (const until = Date.now() + 60_000; !existsSync('go') && Date.now() < until; ) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 20)
    mkdirSync('node_modules/.bin', { recursive: true })
    writeFileSync('node_modules/.bin/anvil', ${JSON.stringify(anvil)})
    chmodSync('node_modules/.bin/anvil', 0o755)
    appendFileSync('log', 'end ')`
  writeFileSync(join(bin, 'npm'), program(npm), { mode: 0o755 })
  return bin
}

/** Starts a set-up in the clone, which uses the program of `placeNpm`. */
function start(bin: string, args: readonly string[] = []) {
  const env = { ...process.env, PATH: [bin, process.env['PATH']].join(delimiter), TEMPORAL_CLI: process.execPath }
  const child = spawn(process.execPath, [join(clone, 'scripts/setup.mjs'), ...args], { env, stdio: ['ignore', 'ignore', 'pipe'] })
  let printed = ''
  child.stderr.setEncoding('utf8').on('data', (text: string) => (printed += text))
  const ended = new Promise<void>((resolve) => child.on('close', () => resolve()))
  return { pid: child.pid, ended, printed: () => printed }
}

const installs = () => (existsSync(join(clone, 'log')) ? readFileSync(join(clone, 'log'), 'utf8') : '')
const claims = () => readdirSync(join(clone, '.portage/setup'))

describe('set-ups in the same folder', { timeout: 120_000 }, () => {
  test('a set-up waits for another one in its folder, says so in one line, and does not install again', async () => {
    const bin = placeNpm()
    const first = start(bin)
    await until(async () => installs() === 'begin ', { timeoutMs: 60_000, everyMs: 20, what: 'the installation to begin' })
    const second = start(bin)
    const line = `set-up: waits for the set-up of process ${first.pid} in the same folder\n`
    await until(async () => second.printed() === line, { timeoutMs: 60_000, everyMs: 20, what: 'the second set-up to wait' })
    writeFileSync(join(clone, 'go'), '')
    await Promise.all([first.ended, second.ended])
    expect(installs()).toBe('begin end ')
    expect(first.printed()).toContain('set-up: packages installed')
    expect(second.printed()).toBe(`${line}set-up: packages are up to date\nset-up: found the Temporal CLI\n`)
    expect(claims()).toEqual([])
  })

  test('set-ups that start at the same time install one after the other', async () => {
    const bin = placeNpm()
    writeFileSync(join(clone, 'go'), '')
    await Promise.all(Array.from({ length: 4 }, () => start(bin, ['--force']).ended))
    expect(installs()).toBe('begin end '.repeat(4))
    expect(claims()).toEqual([])
  })

  test('a set-up does not wait for a process that has ended, nor for another process with its id', async () => {
    const bin = placeNpm()
    writeFileSync(join(clone, 'go'), '')
    mkdirSync(join(clone, '.portage/setup'), { recursive: true })
    const { pid: dead } = spawnSync(process.execPath, ['-e', ''])
    writeFileSync(join(clone, '.portage/setup', `${dead}-1`), '')
    writeFileSync(join(clone, '.portage/setup', `${process.pid}-1`), 'Mon Jan  1 00:00:00 1990')
    const { ended, printed } = start(bin)
    await ended
    expect(printed()).toMatch(/^set-up: installing packages/)
    expect([installs(), claims()]).toEqual(['begin end ', []])
  })
})

describe('npm run setup', { timeout: 120_000 }, () => {
  test('npm run setup -- --help says what it does, and does nothing', () => {
    const { status, stdout } = setup(['--help'])
    expect(status).toBe(0)
    expect(stdout).toContain('Usage: npm run setup')
  })

  test('the set-up names an old Node, and the version that is needed', () => {
    const pretend = 'data:text/javascript,Object.defineProperty(process,"versions",{value:{...process.versions,node:"20.2.0"}})'
    const { status, stderr } = setup([], { nodeArgs: ['--import', pretend] })
    expect(status).toBe(1)
    expect(stderr).toContain('Node 20.2.0 is too old: 20.3 or newer is needed.')
    expect(stderr).toContain('what to do: install a current Node')
  })

  test('the set-up names a missing npm', () => {
    const { status, stderr } = setup([], { env: { PATH: clone } })
    expect(status).toBe(1)
    expect(stderr).toContain('npm could not be started.')
  })

  test('a failed install says what to look at, and is tried again the next time', () => {
    depend({ 'portage-no-such-package': '1.0.0' })
    // Nothing listens on port 1, so the installation fails immediately, even without a network.
    const env = { npm_config_registry: 'http://127.0.0.1:1', npm_config_fetch_retries: '0', npm_config_cache: join(clone, 'cache') }
    const first = setup([], { env })
    expect(first.status).toBe(1)
    expect(first.stderr).toContain('npm ci ended with exit code')
    expect(first.stderr).toContain('npm config get registry')
    expect(setup([], { env }).stderr).toContain('installing packages')
  })

  test('a lock file that does not fit package.json is refused, and stays as it is', () => {
    const lock = readFileSync(join(clone, 'package-lock.json'), 'utf8')
    writeFileSync(join(clone, 'package.json'), JSON.stringify({ name: 'x', version: '1.0.0', dependencies: { anvil: 'file:anvil' } }))
    mkdirSync(join(clone, 'anvil'))
    writeFileSync(join(clone, 'anvil/package.json'), JSON.stringify({ name: 'anvil', version: '1.0.0' }))
    const { status, stderr } = setup([], { env: { npm_config_cache: join(clone, 'cache') } })
    expect(status).toBe(1)
    expect(stderr).toContain('After a change of package.json: npm run lock.')
    expect(readFileSync(join(clone, 'package-lock.json'), 'utf8')).toBe(lock)
  })

  test('packages that a link lends from another clone stay as they are', () => {
    mkdirSync(join(clone, 'lent/one'), { recursive: true })
    symlinkSync(join(clone, 'lent'), join(clone, 'node_modules'))
    const { stderr } = setup(['--force'], { env: { TEMPORAL_CLI: process.execPath, npm_config_cache: join(clone, 'cache') } })
    expect(stderr).toContain('set-up: node_modules is a link')
    expect(readdirSync(join(clone, 'node_modules'))).toEqual(['one'])
  })

  test('the set-up names a package that came without its binary', () => {
    const { status, stdout, stderr } = setup([], { env: { npm_config_cache: join(clone, 'cache') } })
    expect(status).toBe(1)
    expect(stderr).toContain('anvil does not run')
    expect(stdout).toBe('')
  })

  test('with a read-only home the set-up names the variable of the cache, and not Go', () => {
    const program = { version: '1.0.0', bin: { anvil: 'anvil.js' } }
    depend({ anvil: 'file:anvil' }, { anvil: program, 'node_modules/anvil': { resolved: 'anvil', link: true } })
    mkdirSync(join(clone, 'anvil'))
    writeFileSync(join(clone, 'anvil/package.json'), JSON.stringify({ name: 'anvil', ...program }))
    writeFileSync(join(clone, 'anvil/anvil.js'), '#!/usr/bin/env node\n', { mode: 0o755 })
    // A file in place of the home folder: no user can write below it, not even root.
    const cache = join(clone, 'package.json')
    const env = { XDG_CACHE_HOME: cache, TEMPORAL_CLI: join(clone, 'nowhere'), npm_config_cache: join(clone, 'cache') }
    const { status, stderr } = setup([], { env })
    expect(status).toBe(1)
    expect(stderr).toContain(`cannot be written: ${join(cache, 'portage', 'bin')} (ENOTDIR).`)
    expect(stderr).toContain('what to do: set XDG_CACHE_HOME to a folder that you may write to')
    expect(stderr).not.toContain('install Go')
  })

  test('the set-up needs nothing but node', () => {
    const imports = importsOf('scripts/setup.mjs', readFileSync(join(root, 'scripts/setup.mjs'), 'utf8'))
    expect(imports.map(({ specifier }) => specifier).filter((specifier) => !specifier.startsWith('node:'))).toEqual([])
    expect(imports.length).toBeGreaterThan(0)
  })
})
