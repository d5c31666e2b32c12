import { spawnSync } from 'node:child_process'
import { copyFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
import { temporaryFolder } from '../helpers/folders.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))
const folder = temporaryFolder()

function lint(files: Record<string, string>): { code: number | null; output: string } {
  copyFileSync(join(root, '.oxlintrc.json'), join(folder, '.oxlintrc.json'))
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions: { strict: true, module: 'nodenext', noEmit: true } }))
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text)
  const { status, stdout, stderr } = spawnSync(
    join(root, 'node_modules/.bin/oxlint'),
    ['--type-aware', '--format=unix', ...Object.keys(files)],
    {
      cwd: folder,
      encoding: 'utf8',
      env: { ...process.env, PATH: `${join(root, 'node_modules/.bin')}:${process.env.PATH}` },
    },
  )
  return { code: status, output: stdout + stderr }
}

describe('the lint gate', { timeout: 120_000 }, () => {
  test('the linter lets good code pass', () => {
    expect(
      lint({ 'good.ts': 'export async function work(): Promise<number> {\n  return 1\n}\nexport const done = await work()\n' }),
    ).toMatchObject({ code: 0 })
  })

  test.each([
    ['a promise that nobody waits for', 'no-floating-promises', 'async function work() {}\nexport function run() {\n  work()\n}\n'],
    ['a promise as a condition', 'no-misused-promises', 'async function work() {\n  return true\n}\nexport const is = work() ? 1 : 2\n'],
    ['an await of nothing', 'await-thenable', 'export const one = await 1\n'],
    ['any', 'no-explicit-any', 'export const one: any = 1\n'],
    [
      'a switch that forgets a case',
      'switch-exhaustiveness-check',
      `export function f(x: 'a' | 'b') {\n  switch (x) {\n    case 'a':\n      return 1\n  }\n  return 2\n}\n`,
    ],
    [
      'a long function',
      'max-lines-per-function',
      `export function long() {\n${Array.from({ length: 60 }, (_, line) => `  const line${line} = ${line}\n  void line${line}`).join('\n')}\n}\n`,
    ],
    ['a second import from one file', 'no-duplicates', `import { a } from './a.ts'\nimport { b } from './a.ts'\nexport const c = a + b\n`],
    ['a god file', 'max-lines', Array.from({ length: 301 }, (_, line) => `export const line${line} = ${line}`).join('\n')],
  ])('the lint gate refuses %s', (_, rule, text) => {
    const { code, output } = lint({ 'bad.ts': text })
    expect(output).toContain(rule)
    expect(code).toBe(1)
  })

  test('the linter refuses an import cycle, also of types', () => {
    const { code, output } = lint({
      'a.ts': `import type { B } from './b.ts'\nexport type A = B | 1\n`,
      'b.ts': `import type { A } from './a.ts'\nexport type B = A[]\n`,
    })
    expect(output).toContain('no-cycle')
    expect(code).toBe(1)
  })
})
