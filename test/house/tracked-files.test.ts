import { execFileSync } from 'node:child_process'
import { readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'

const root = fileURLToPath(new URL('../..', import.meta.url))
const self = 'test/house/tracked-files.test.ts'

/** Files that git tracks or would track. This file names the forbidden texts, so it is left out. */
const files = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard'], { cwd: root, encoding: 'utf8' })
  .split('\n')
  .filter((file) => file !== '' && file !== self && statSync(join(root, file), { throwIfNoEntry: false })?.isFile())

/** The bytes of a picture may contain any short text by chance. */
const texts = files.filter((file) => !file.endsWith('.png'))

const patterns: readonly (readonly [what: string, pattern: RegExp])[] = [
  ['a path of one machine', /(?<![\w.:/-])\/(?:work|root|home|Users|tmp|private|mnt)\/[\w.-]/],
  ['a Windows path', /\b[A-Z]:\\\\?(?:Users|work)\b/],
  ['a registry address in the lock file', /"resolved": "https?:/],
  ['a merge that was not finished', /^(?:<{7}|>{7}) /m],
  ['work left undone', /\b(?:TODO|FIXME|XXX)\b/],
]

describe('tracked files', () => {
  test('the list of tracked files is not empty', () => {
    expect(files).toContain('domain/catalogue/errors.ts')
  })

  test('no tracked file was left by a tool', () => {
    expect(files.filter((file) => /\.(?:orig|rej|bak|swp)$|~$/.test(file))).toEqual([])
  })

  test.each(patterns)('no tracked file contains %s', (_, pattern) => {
    expect(texts.filter((file) => pattern.test(readFileSync(join(root, file), 'utf8')))).toEqual([])
  })

  test('tracked files name only tests that exist', () => {
    const named = files
      // Skip tests, because they contain invented names of tests.
      .filter((file) => !file.startsWith('test/'))
      .flatMap((file) =>
        [...readFileSync(join(root, file), 'utf8').matchAll(/\btest\/[\w/.-]+\.test\.ts\b/g)].map(([test]) => [file, test]),
      )
    expect(named.length).toBeGreaterThan(10)
    expect(named.filter(([, test = '']) => !statSync(join(root, test), { throwIfNoEntry: false }))).toEqual([])
  })

  test('the patterns of forbidden text match examples of it', () => {
    const [path, windows, registry, merge, undone] = patterns.map(([, pattern]) => pattern)
    expect(path?.test(['', 'work', 'main', 'x'].join('/'))).toBe(true)
    expect(path?.test('import x from "../work/main"')).toBe(false)
    expect(path?.test('https://example.org/home/x')).toBe(false)
    expect(windows?.test('C:\\Users\\x')).toBe(true)
    expect(registry?.test('"resolved": "https://registry.example/x.tgz"')).toBe(true)
    expect(merge?.test('a\n<<<<<<< HEAD\n')).toBe(true)
    expect(undone?.test('// TODO later')).toBe(true)
  })
})
