import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { metricDefinitions } from '../../observability/metrics.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))
const text = (path: string) => readFileSync(join(root, path), 'utf8')
const files = execFileSync('git', ['ls-files', '-co', '--exclude-standard'], { cwd: root, encoding: 'utf8' })
  .split('\n')
  .filter((path) => path !== '' && !path.startsWith('test/') && !path.startsWith('docs/issues/'))
const sources = files.filter((path) => path.endsWith('.ts')).map((path) => ({ path, code: text(path) }))
const documents = files.filter((path) => path.endsWith('.md'))

/** Folders whose classes and interfaces are concepts of Portage. */
const conceptRooms = /^(domain\/|lanes\/|streams\/|chains\/port\.ts|bridges\/(source-)?port\.ts)/
const exported = /^export (?:async |abstract |declare )?(?:function|class|interface|type|const|enum) (\w+)/gm
const concepts = /^export (?:abstract )?(?:class|interface) (\w+)/gm

/**
 * Last words of names, such as `listener`, that say only what kind of part has the name. The glossary may lack them.
 */
const structural =
  `alarm auditor back batcher bisection block cache call change client closed closing code config context cost count deps endpoint
  event fact filler finding flushed header host keeper listener log lookup loop name observation observed observer options order
  owner pause published queue raise raising range reading receipt recorder ref remembered report reporter request response result row
  schedule scope sender signature size source state status step store subject update view waiting watch work`.split(/\s+/)

interface Row {
  readonly word: string
  readonly names: readonly string[]
}

/** The rows of the glossary: `| word | meaning | `Name`, `other` |`. */
function glossary(): Row[] {
  return [...text('docs/concepts/glossary.md').matchAll(/^\| ([^|]+) \| [^|]+ \| ([^|]*) \|$/gm)].flatMap(([, word = '', names = '']) =>
    word === 'word' || /^-+$/.test(word) ? [] : [{ word, names: [...names.matchAll(/`(\w+)`/g)].map(([, name = '']) => name) }],
  )
}

/** Turns `PendingTransaction` into `pending transaction`, so that names of files and metrics look like prose. */
function plain(name: string): string {
  return name
    .replaceAll(/([a-z0-9])([A-Z])/g, '$1 $2')
    .replaceAll(/[-_]/g, ' ')
    .toLowerCase()
}

/** Words that Portage does not use any more, with their replacements. They must not occur anywhere. */
const replacedWords: readonly (readonly [word: RegExp, instead: string])[] = [
  [/(?<!\bin )\bflights?\b/, 'pending transaction'],
  [/\bflying\b/, 'pending'],
  [/\bbidding\b/, 'fee escalator'],
  [/\bpatience\b/, 'stuck detector, retry until available'],
  [/\bwaiting rooms?\b/, 'nonce queue'],
  [/\baccount watch(es)?\b/, 'account observer'],
  [/\blane director(y|ies)\b/, 'lane status cache'],
  [/\briders?\b/, 'batch candidate'],
  [/\bdepartures?\b/, 'batch builder'],
  [/\berrands?\b/, 'operator transaction'],
  [/\bporch\b/, 'startup server'],
  [/\bwakers?\b/, 'waiting transfers'],
  [/\bgate ?keepers?\b/, 'gate watcher'],
  [/\bbarred\b/, 'unauthorized'],
  [/\b(mending|menders?)\b/, 'workflow recovery'],
  [/\bfee desk\b/, 'fee policy resolver'],
  [/\blane recall\b/, 'reconcile'],
  [/\bfar heads?\b/, 'head sanity'],
  [/\bkept blocks?\b/, 'block cache'],
  [/\bstandings\b/, 'lane status'],
  [/\b(un)?heeded\b/, 'acknowledged'],
  [/\bdoors?\b/, 'submitter'],
  [/\buser of nonce\b/, 'nonce conflict check'],
]

/** Old names of exports that are ordinary English words. No export may have such a name. */
const replacedNames =
  /^(Sending|Signatures|Want|Ledger|Way|Course|Leg|Journal|Inbox|Following|Shell|settle|Standing|dispatch|Dispatch|World|Needs|Ends|createEnds|namesIn|Tail|Member|Patience|Batching|Batches|depart|board)$/

test('every name of the glossary is exported somewhere', () => {
  const names = new Set(sources.flatMap(({ code }) => [...code.matchAll(exported)].map(([, name = '']) => name)))
  const missing = glossary().flatMap(({ word, names: named }) => named.filter((name) => !names.has(name)).map((name) => `${word}: ${name}`))
  expect(glossary().length).toBeGreaterThan(30)
  expect(missing).toEqual([])
})

test('the name of a class or an interface of the inner rooms is a word of the glossary', () => {
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

test('no word that was replaced is left in a name, a file name, a metric, a log, a comment or a document', () => {
  const found = [
    ...sources.map(({ path, code }) => [path, code] as const),
    ...documents.map((path) => [path, text(path)] as const),
  ].flatMap(([path, content]) =>
    [basename(path), ...content.split('\n')].flatMap((line, number) =>
      replacedWords.flatMap(([word, instead]) => {
        const [hit] = word.exec(plain(line)) ?? []
        return hit === undefined ? [] : [`${path}:${number}: ${hit} (say: ${instead})`]
      }),
    ),
  )
  const metrics = Object.values(metricDefinitions).flatMap(({ name }) =>
    replacedWords.some(([word]) => word.test(plain(name))) ? [name] : [],
  )
  expect([...found, ...metrics]).toEqual([])
})

test('nothing is exported by a name that was replaced', () => {
  const found = sources.flatMap(({ path, code }) =>
    [...code.matchAll(exported)].flatMap(([, name = '']) => (replacedNames.test(name) ? [`${path}: ${name}`] : [])),
  )
  expect(found).toEqual([])
})
