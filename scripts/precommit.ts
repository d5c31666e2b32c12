/**
 * Checks the changed files in less than 20 seconds: types, lint, import rules, format, prose, and the unit tests of the
 * changed folders. Changed files are the staged ones or, if none is staged, those that differ from the last commit.
 */
import { execFileSync, spawn } from 'node:child_process'
import { existsSync, readdirSync } from 'node:fs'
import { dirname } from 'node:path'
import { fileURLToPath } from 'node:url'

/** A folder with more test files than this is skipped, because its tests take too long. */
const mostTestFiles = 40

const git = (...args: string[]): string[] => execFileSync('git', args, { encoding: 'utf8' }).split('\n').filter(Boolean)

/** The unit-test files that changed, and the folders of test/ that mirror changed folders. */
export function testsOf(files: readonly string[], exists: (path: string) => boolean = existsSync): string[] {
  const isUnitTest = (file: string) =>
    /^test\/.*\.test\.ts$/.test(file) && !/\.integration\.|^test\/(contract|e2e|faults|replay|lab)\//.test(file)
  const mirrored = files.filter((file) => /\.tsx?$/.test(file) && !file.startsWith('test/')).map((file) => mirrorOf(dirname(file), exists))
  return [...new Set([...files.filter(isUnitTest), ...mirrored.flatMap((folder) => folder ?? [])])].toSorted()
}

/** The deepest folder of test/ that mirrors this folder or a folder above it. */
function mirrorOf(folder: string, exists: (path: string) => boolean): string | undefined {
  if (folder === '.') return undefined
  return exists(`test/${folder}`) ? `test/${folder}` : mirrorOf(dirname(folder), exists)
}

const testFilesIn = (path: string): number =>
  path.endsWith('.ts') ? 1 : readdirSync(path, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.test.ts')).length

interface Check {
  readonly name: string
  readonly ok: boolean
  readonly seconds: number
  readonly output: string
}

function check(name: string, command: string, args: readonly string[]): Promise<Check> {
  const started = performance.now()
  return new Promise((resolve) => {
    let output = ''
    const child = spawn(command, args, { env: { ...process.env, NO_COLOR: '1' }, stdio: ['ignore', 'pipe', 'pipe'] })
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => (output += chunk.toString()))
    const done = (ok: boolean) => resolve({ name, ok, output, seconds: (performance.now() - started) / 1000 })
    child.once('error', (error) => ((output += error.message), done(false)))
    child.once('close', (code) => done(code === 0))
  })
}

async function main(): Promise<void> {
  const staged = git('diff', '--cached', '--name-only', '--diff-filter=ACMR')
  const files = (staged.length > 0 ? staged : git('diff', 'HEAD', '--name-only', '--diff-filter=ACMR')).filter((file) => existsSync(file))
  if (files.length === 0) return console.log('Nothing has changed.')
  const sources = files.filter((file) => /\.(ts|tsx|mjs|js|cjs)$/.test(file))
  const tests = testsOf(files).filter((path) => testFilesIn(path) <= mostTestFiles)
  const checks = [
    check('types', 'npm', ['run', '--silent', 'typecheck']),
    check('format', 'npx', ['oxfmt', '--check', '--no-error-on-unmatched-pattern', ...files]),
    check('prose', 'npx', ['tsx', 'scripts/prose.ts', ...files]),
    ...(sources.length > 0
      ? [check('lint', 'npx', ['oxlint', '--type-aware', ...sources]), check('import rules', 'npx', ['tsx', 'scripts/check-rooms.ts'])]
      : []),
    ...(tests.length > 0
      ? [check(`unit tests of ${tests.join(' ')}`, 'npx', ['vitest', 'run', '--project', 'unit', '--passWithNoTests', ...tests])]
      : []),
  ]
  let broken = 0
  for (const one of checks) {
    const { name, ok, seconds, output } = await one
    console.log(`${ok ? 'ok    ' : 'FAILED'} ${name}, ${seconds.toFixed(1)} s`)
    if (!ok) console.log(output.trimEnd().split('\n').slice(-20).join('\n'))
    if (!ok) broken++
  }
  if (broken > 0) process.exitCode = 1
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await main()
