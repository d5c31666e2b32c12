import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'

const root = fileURLToPath(new URL('../..', import.meta.url))
const text = (path: string) => readFileSync(join(root, path), 'utf8')
const files = execFileSync('git', ['ls-files', '-co', '--exclude-standard'], { cwd: root, encoding: 'utf8' })
  .split('\n')
  .filter((path) => path !== '' && !path.startsWith('test/') && !path.startsWith('docs/issues/'))
const sources = files.filter((path) => path.endsWith('.ts')).map((path) => ({ path, code: text(path) }))

const exported = /^export (?:async |abstract |declare )?(?:function|class|interface|type|const|enum) (\w+)/gm

interface Row {
  readonly word: string
  readonly names: readonly string[]
}

/** The rows of the glossary: `| word | meaning | `Name`, `other` |`. */
function glossary(): Row[] {
  return [...text('docs/glossary.md').matchAll(/^\| ([^|]+) \| [^|]+ \| ([^|]*) \|$/gm)].flatMap(([, word = '', names = '']) =>
    word === 'word' || /^-+$/.test(word) ? [] : [{ word, names: [...names.matchAll(/`(\w+)`/g)].map(([, name = '']) => name) }],
  )
}

test('every name of the glossary is exported somewhere', () => {
  const names = new Set(sources.flatMap(({ code }) => [...code.matchAll(exported)].map(([, name = '']) => name)))
  const missing = glossary().flatMap(({ word, names: named }) => named.filter((name) => !names.has(name)).map((name) => `${word}: ${name}`))
  expect(glossary().length).toBeGreaterThan(30)
  expect(missing, 'a name of docs/glossary.md that no file exports: correct the glossary in the commit that renames it').toEqual([])
})
