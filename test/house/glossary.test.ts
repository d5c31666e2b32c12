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

/** The rooms whose classes and interfaces are the concepts of Portage. */
const conceptRooms = /^(domain\/|lanes\/|streams\/|chains\/port\.ts|bridges\/(source-)?port\.ts)/
const exported = /^export (?:async |abstract |declare )?(?:function|class|interface|type|const|enum) (\w+)/gm
const concepts = /^export (?:abstract )?(?:class|interface) (\w+)/gm

/** Last words of names that say which part something is, not what it is about. */
const structural =
  `account answer auditor block builder cache call change check client completion config context cost count deps endpoint entry
  error event fees filler finding header host keeper listener log lookup number observation observer options order outcome pause policy
  proof published publisher quote range receipt recorder ref report request response revert rule scope settings signature size source state
  status step store subject tracker transaction update view waiting work back bisection broadcaster closed closing delivered delivery distrusted
  found observed owned owner raise raising reading remembered account head watch name alarm queue result batcher sender flushed`.split(
    /\s+/,
  )

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

/** `PendingTransaction` as `pending transaction`; file names, metrics and prose come out alike. */
function plain(name: string): string {
  return name
    .replaceAll(/([a-z0-9])([A-Z])/g, '$1 $2')
    .replaceAll(/[-_]/g, ' ')
    .toLowerCase()
}

test('every name of the glossary is exported somewhere', () => {
  const names = new Set(sources.flatMap(({ code }) => [...code.matchAll(exported)].map(([, name = '']) => name)))
  const missing = glossary().flatMap(({ word, names: named }) => named.filter((name) => !names.has(name)).map((name) => `${word}: ${name}`))
  expect(glossary().length).toBeGreaterThan(30)
  expect(missing).toEqual([])
})

test('what a class or an interface of the inner rooms is called by is a word of the glossary', () => {
  const words = new Set(glossary().flatMap(({ word }) => word.toLowerCase().split(/[^a-z]+/)))
  const singular = (word: string) => [word, word.replace(/s$/, ''), word.replace(/ies$/, 'y'), word.replace(/es$/, '')]
  const unknown = sources
    .filter(({ path }) => conceptRooms.test(path))
    .flatMap(({ path, code }) => [...code.matchAll(concepts)].map(([, name = '']) => ({ path, name })))
    .filter(({ name }) => {
      const head = plain(name).split(' ').at(-1) ?? ''
      return !singular(head).some((form) => words.has(form) || structural.includes(form))
    })
  expect(unknown.map(({ path, name }) => `${path}: ${name}`)).toEqual([])
})
