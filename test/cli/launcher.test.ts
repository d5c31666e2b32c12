import { execFile } from 'node:child_process'
import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { compile } from '../../bin/compile.js'
import { compiledFolder, dropOld } from '../../bin/compiled.js'
import { deadConfig } from '../api/setting.ts'
import { temporaryFolder } from '../helpers/folders.ts'

const run = promisify(execFile)
const root = fileURLToPath(new URL('../..', import.meta.url))
const { version: packageVersion } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string }
const folder = temporaryFolder()

test('the sources are compiled once, until one of them changes', async () => {
  const first = await compiledFolder()
  expect(first).toMatch(/\/node_modules\/\.cache\/portage\/code\/[0-9a-f]{32}$/)
  expect(filesOf(first ?? '')).toEqual(['load.cjs', 'main.cjs', 'main.cjs.map', 'root.cjs'])
  expect(await compiledFolder()).toBe(first)
})

test('packages are compiled once for all versions of the sources', async () => {
  const shared = join(folder, 'packages')
  const asked: (readonly string[])[] = []
  const packages = (names: readonly string[]) => {
    asked.push(names)
    return shared
  }
  await compile(join(folder, 'first'), packages)
  const made = statSync(join(shared, 'packages.cjs')).mtimeMs
  await compile(join(folder, 'second'), packages)
  expect(asked[0]).toEqual(expect.arrayContaining(['@temporalio/worker', 'ethers', 'fastify']))
  expect(asked[1]).toEqual(asked[0])
  expect(statSync(join(shared, 'packages.cjs')).mtimeMs).toBe(made)
  expect(filesOf(shared)).toEqual([
    ...['aws.cjs', 'load.cjs', 'mappings.wasm', 'otlp.cjs', 'packages.cjs', 'proto.json', 'root.cjs', 'thread.cjs', 'workflow-thread.cjs'],
  ])
})

/**
 * The files of a folder, without V8's code caches, which processes may still write
 * (`main.cjs.run-v20.20.2-x64.v8.<pid>-<ms>`).
 */
function filesOf(at: string): string[] {
  return readdirSync(at)
    .filter((name) => !/\.v8(\.|$)/.test(name))
    .toSorted()
}

async function compiled(program: string): Promise<string> {
  const load = `const { loadMain, keepCode } = require(${JSON.stringify(join((await compiledFolder()) ?? '', 'load.cjs'))})`
  return (await run(process.execPath, ['-e', `${load}; const { main } = loadMain('test'); ${program}`])).stdout
}

// load.cjs reads ASCII, but esbuild does not escape other characters in regular expressions, such as the `…` in the
// expression for `0x5290…9ee7`.
test('every compiled file is ASCII', async () => {
  const at = (await compiledFolder()) ?? ''
  const { packages } = createRequire(import.meta.url)(join(at, 'root.cjs')) as { packages: string }
  const files = [at, packages].flatMap((one) => filesOf(one).map((name) => join(one, name))).filter((file) => file.endsWith('.cjs'))
  expect(files.length).toBeGreaterThan(6)
  expect(files.filter((file) => /[^\0-\x7f]/.test(readFileSync(file, 'latin1')))).toEqual([])
})

// Tables need string-width, an ES module. Its default export must survive the compilation to CommonJS.
test('the compiled command line prints tables, because its packages work as in the sources', async () => {
  const file = join(folder, 'portage.yaml')
  const { chains, bridges } = deadConfig(1)
  writeFileSync(file, JSON.stringify({ chains, bridges }))
  const check = `main(['config', 'check', '--config', ${JSON.stringify(file)}], { ...process, env: {}, stdout: process.stdout, stderr: process.stdout, cwd: () => '/' })`
  const printed = await compiled(check)
  expect(printed).toMatch(/^config +valid$/m)
})

test('a stack of the compiled code names the source', async () => {
  const fail = `throw new Error('no output')`
  const stack = await compiled(`main([], { get stdout() { ${fail} }, get stderr() { ${fail} } }).catch(({ stack }) => console.log(stack))`)
  expect(stack).toMatch(/^Error: no output\n/)
  expect(stack).toMatch(/\/cli\/main\.ts:\d+:\d+\)?\n/)
})

const version = `main(['--version'], process).then(() => keepCode())`

async function firstCopy(): Promise<{ printed: string; copy: string }> {
  const at = (await compiledFolder()) ?? ''
  const copies = () => readdirSync(at).filter((name) => /^main\.cjs\.test-.*\.v8$/.test(name))
  for (const name of copies()) rmSync(join(at, name))
  const printed = await compiled(version)
  const [copy] = copies()
  if (copy === undefined) throw new Error('no copy of V8 code was kept')
  return { printed, copy: join(at, copy) }
}

test('a second process uses the code that V8 compiled in the first one; a damaged copy is compiled again', async () => {
  const { printed, copy } = await firstCopy()
  expect(printed).toBe(`${packageVersion}\n`)
  const written = statSync(copy).mtimeMs
  expect(await compiled(version)).toBe(printed)
  expect(statSync(copy).mtimeMs).toBe(written)
  writeFileSync(copy, 'no code of V8')
  expect(await compiled(version)).toBe(printed)
  expect(statSync(copy).size).toBeGreaterThan(100_000)
})

test('a code cache with one changed bit is rejected, which V8 itself would not notice', async () => {
  const { printed, copy } = await firstCopy()
  const damaged = readFileSync(copy)
  // The last byte belongs to the code's data, which V8 does not check before it accepts the file.
  damaged.writeUInt8(damaged.readUInt8(damaged.length - 1) ^ 1, damaged.length - 1)
  writeFileSync(copy, damaged)
  expect(await compiled(version)).toBe(printed)
  expect(readFileSync(copy).equals(damaged)).toBe(false)
})

test('if compiled code of V8 cannot be kept, no draft is left, and the command continues', async () => {
  const at = (await compiledFolder()) ?? ''
  const blocked = join(at, `main.cjs.test-${process.version}-${process.arch}.v8`)
  rmSync(blocked, { recursive: true, force: true })
  // A folder that is not empty blocks every rename onto it.
  mkdirSync(join(blocked, 'full'), { recursive: true })
  try {
    expect(await compiled(version)).toMatch(/^\d+\.\d+\.\d+\n$/)
    expect(readdirSync(at).filter((name) => name.includes('.test-') && !name.endsWith('.v8'))).toEqual([])
  } finally {
    rmSync(blocked, { recursive: true, force: true })
  }
})

test('the newest 20 compiled versions and those of the last hour are kept, at most a week', () => {
  const cache = join(folder, 'code')
  const hour = 3_600_000
  const make = (name: string, ageMs: number) => {
    mkdirSync(join(cache, name), { recursive: true })
    const at = new Date(Date.now() - ageMs)
    utimesSync(join(cache, name), at, at)
    return name
  }
  const numbered = (name: string, count: number, ageMs: (index: number) => number) =>
    Array.from({ length: count }, (_, index) => make(`${name}${index}`, ageMs(index)))
  const kept = [make('packages-shared', 48 * hour), ...numbered('day', 25, (index) => (index + 2) * hour).slice(0, 20)]
  make('packages-old', 8 * 24 * hour)
  dropOld(cache)
  expect(readdirSync(cache).toSorted()).toEqual(kept.toSorted())
  const fresh = numbered('fresh', 25, () => hour / 2)
  dropOld(cache)
  expect(readdirSync(cache).toSorted()).toEqual(['packages-shared', ...fresh].toSorted())
  expect(() => dropOld(join(cache, 'nowhere'))).not.toThrow()
})

test('without esbuild there is no compiled code', async () => {
  cpSync(join(root, 'bin'), join(folder, 'bin'), { recursive: true })
  cpSync(join(root, 'package.json'), join(folder, 'package.json'))
  const copy = (await import(pathToFileURL(join(folder, 'bin/compiled.js')).href)) as { compiledFolder(): Promise<string | undefined> }
  expect(await copy.compiledFolder()).toBeUndefined()
})
