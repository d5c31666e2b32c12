import { chmod, cp, mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { beforeAll, expect, test } from 'vitest'
import { run } from '../../lab/devnet/run.ts'
import { temporaryFolder } from '../helpers/folders.ts'

const folder = temporaryFolder()
beforeAll(async () => {
  for (const name of ['.ci', 'bin']) await mkdir(join(folder, name))
  await cp(fileURLToPath(new URL('../../.ci/run', import.meta.url)), join(folder, '.ci/run'))
  await chmod(join(folder, '.ci/run'), 0o755)
})

/** Runs `.ci/run` with `script` instead of npm and npx. Returns the exit code and the lines after the last gate. */
async function gates(script: string, settings: NodeJS.ProcessEnv = {}): Promise<{ code: number; summary: string[] }> {
  for (const name of ['npm', 'npx']) await writeFile(join(folder, 'bin', name), `#!/bin/sh\n${script}\n`, { mode: 0o755 })
  const { code, stdout } = await run(join(folder, '.ci/run'), [], {
    env: {
      ...process.env,
      ...settings,
      rerun_command: 'of an outer run',
      TMPDIR: folder,
      PATH: `${join(folder, 'bin')}:${process.env['PATH']}`,
    },
  })
  const lines = stdout.trim().split('\n')
  const last = lines.findLastIndex((line) => line.startsWith('== '))
  return { code, summary: lines.slice(last + 1).filter((line) => line !== '' && !line.startsWith('time: ')) }
}

const tests = `test) echo 'NOT RUN: a test'; echo '      Tests  900 passed (900)'; echo '900 passed, 0 failed';;`
const costs = `run) case "$*" in *test:costs*) echo '3 passed, 1 failed'; exit 1;; esac;;`
const others = `tsx) echo '      Tests  7 passed (7)'; echo '7 passed, 0 failed'; echo 'NOT RUN: on Node 24: no npm' >&2;;`

test('the summary of all gates lists the parts that were not run and the counts of the tests', async () => {
  const run = `run) case "$*" in *helm*) echo 'NOT RUN: Helm';; *schemathesis*) echo 'NOT RUN: the API' >&2;; esac;;`
  const { code, summary } = await gates(`case "$1" in ${tests} ${others} ${run} esac`)
  // The locale decides the order of these lines.
  expect(summary.slice(1, -1).toSorted()).toEqual(['NOT RUN: Helm', 'NOT RUN: a test', 'NOT RUN: on Node 24: no npm', 'NOT RUN: the API'])
  expect([summary[0], summary.at(-1)]).toEqual(['      Tests  900 passed (900)', '900 passed, 0 failed'])
  expect(code).toBe(0)
})

test('a gate that fails counts as one failure, and the summary says how to run it alone', async () => {
  const run = `run) case "$*" in *helm*) exit 3;; *schemathesis*) echo 'NOT RUN: a part'; exit 4;; esac;;`
  const { code, summary } = await gates(`case "$1" in ${tests} tsx) echo '7 passed, 1 failed'; exit 1;; ${run} esac`)
  expect(summary.at(-1)).toBe('900 passed, 3 failed')
  expect(summary.filter((line) => /^(failed: )/.test(line))).toEqual([
    'failed: command line and cryptography on Node 24',
    'failed: Helm chart',
    'failed: API by schemathesis',
  ])
  expect(summary).toContain('NOT RUN: a part')
  expect(summary).toContain('  npm run --silent helm:check')
  expect(summary).toContain('  npm run schemathesis')
  expect(code).toBe(1)
})

test('a gate that hangs is ended after its limit, and the next gates run', async () => {
  const hangs = `run) case "$*" in *helm*) sleep 600;; *test:costs*) sleep 600;; esac;;`
  const { code, summary } = await gates(`case "$1" in ${tests} ${others} ${hangs} esac`, { GATE_LIMIT: '1' })
  expect(summary.filter((line) => line.startsWith('failed: '))).toEqual(['failed: costs of transfers', 'failed: Helm chart'])
  expect(code).toBe(1)
})

test('each failed count of costs is a failure, and a suite that broke before its closing line is one', async () => {
  const one = await gates(`case "$1" in ${tests} ${others} ${costs} esac`)
  expect(one.summary).toContain('  npm run test:costs')
  expect([one.code, one.summary.at(-1)]).toEqual([1, '903 passed, 1 failed'])
  const broken = `run) case "$*" in *test:costs* | *helm*) exit 1;; esac;;`
  const two = await gates(`case "$1" in ${tests} ${others} ${broken} esac`)
  expect([two.code, two.summary.at(-1)]).toEqual([1, '900 passed, 2 failed'])
})

test('the summary of failed tests names their log, the tests and the commands that run them alone', async () => {
  const names = `printf 'test/a.test.ts > a name\n  npx vitest run test/a.test.ts\n' >"$PORTAGE_RERUN"`
  const { summary } = await gates(`case "$1" in test) ${names}; echo '899 passed, 1 failed'; exit 1;; ${others} esac`)
  const at = summary.indexOf('failed: tests')
  const log = summary[at + 1]?.replace('  log: ', '') ?? ''
  expect(await readFile(log, 'utf8')).toBe('899 passed, 1 failed\n')
  expect(summary.slice(at + 2, at + 4)).toEqual(['  test/a.test.ts > a name', '    npx vitest run test/a.test.ts'])
})

const failing = (...files: string[]) =>
  `test) printf '${files.join('\\n')}\\n' >"$PORTAGE_FAILED_FILES"; echo '899 passed, ${files.length} failed'; exit 1;;`

test('a file with servers that fails only among others, but passes twice alone, is UNSTABLE, not failed', async () => {
  const { code, summary } = await gates(`case "$1" in ${failing('integration test/a.test.ts')} ${others} esac`)
  expect(summary).toContain('UNSTABLE: test/a.test.ts failed in the whole run, and passed twice alone')
  expect([code, summary.at(-1)]).toEqual([0, '900 passed, 0 failed'])
})

test.each([
  ['it fails alone, too', ['integration test/a.test.ts'], 'exit 1'],
  ['the second of two fails alone, too', ['integration test/b.test.ts', 'costs test/a.test.ts'], 'case "$*" in *a.test.ts) exit 1;; esac'],
  ['it starts no server', ['unit test/a.test.ts'], 'true'],
  ['there are three', ['integration test/a.test.ts', 'integration test/b.test.ts', 'integration test/c.test.ts'], 'true'],
  ['something failed outside the tests', ['unhandled'], 'true'],
  ['the run broke before it had a list', [], 'true'],
])('failed tests are not tried again if %s', async (_, files, alone) => {
  const { code, summary } = await gates(
    `case "$1" in ${failing(...files)} vitest) case "$*" in *--project*.test.ts*.test.ts*) ;; *) ${alone};; esac;; ${others} esac`,
  )
  expect(summary.filter((line) => line.startsWith('UNSTABLE'))).toEqual([])
  expect(summary).toContain('failed: tests')
  expect(code).toBe(1)
})
