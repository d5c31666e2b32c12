/**
 * Lists prose that the style bans: `npx tsx scripts/prose.ts [folders or files…]`. `--wrap` first wraps comments that
 * are too wide. CONTRIBUTING.md has more rules than patterns can check.
 */
import { execFileSync } from 'node:child_process'
import { readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { textsOf, type Text } from './prose/texts.ts'
import { wrapComments } from './prose/wrap.ts'

export interface Finding {
  readonly file: string
  readonly line: number
  readonly rule: string
  readonly text: string
}

const maxColumns = 120
const maxTestName = 100

const phrases: readonly (readonly [rule: string, pattern: RegExp])[] = [
  ['so many', /\bso many\b(?! that\b)/gi],
  ['stands', /\b(stands?|stood|standing)\b(?! (in )?for\b)/gi],
  ['told', /\b(told|tells?|telling)\b/gi],
  ['none of ours', /\b(none|one|any|some) of (ours|theirs)\b/gi],
  ['beside', /\bbeside\b/gi],
  ['whoever', /\b(whoever|whosoever)\b/gi],
]

/** Files that name the banned phrases. */
const exempt = /^scripts\/prose(\.ts|\/)|^test\/house\/prose\.test\.ts$/

/** Folders with recorded or foreign text. */
const skipped = /^(test\/fixtures\/|.*\/fixtures\/|node_modules\/)/

/** Findings in the files below `folders` that git tracks or would track. */
export function proseFindings(root: string, folders: readonly string[] = []): Finding[] {
  return filesIn(root, folders).flatMap((file) => fileFindings(file, readFileSync(join(root, file), 'utf8')))
}

function filesIn(root: string, folders: readonly string[]): string[] {
  const listed = execFileSync('git', ['ls-files', '-co', '--exclude-standard', '--', ...folders], { cwd: root, encoding: 'utf8' })
  return listed
    .split('\n')
    .filter((file) => file !== '' && !skipped.test(file) && statSync(join(root, file), { throwIfNoEntry: false })?.isFile())
}

/** Findings in one file, by line. `file` is relative to the repository. */
export function fileFindings(file: string, content: string): Finding[] {
  if (exempt.test(file)) return []
  const texts = textsOf(file, content)
  const findings = [...texts.flatMap((text) => textFindings(file, text)), ...wideLines(file, content, texts)]
  return findings.toSorted((one, other) => one.line - other.line)
}

function textFindings(file: string, { kind, line, text }: Text): Finding[] {
  const at = (offset: number) => line + (text.slice(0, offset).match(/\n/g)?.length ?? 0)
  const sentences = sentencesOf(text)
  const findings: Finding[] = sentences.flatMap(({ start, sentence }) => {
    const named = phrases.flatMap(([rule, pattern]) =>
      [...sentence.matchAll(pattern)].map(({ index }) => ({ rule, offset: start + index })),
    )
    const asked = isRelativeStart(sentence, start === 0) ? [{ rule: 'starts with What or Who', offset: start }] : []
    return [...named, ...asked].map(({ rule, offset }) => ({ file, line: at(offset), rule, text: sentence.replaceAll(/\s+/g, ' ').trim() }))
  })
  if (kind === 'test name' && text.length > maxTestName) findings.push({ file, line, rule: `name over ${maxTestName} characters`, text })
  return findings
}

/**
 * Whether a sentence starts with What, Who, Whom or Whose. `What to do` is allowed. In lower case, only the start of a
 * text counts.
 */
function isRelativeStart(sentence: string, first: boolean): boolean {
  const trimmed = sentence.replace(/^[\s"'(*_]+/, '')
  return (
    (first ? /^(what|who|whom|whose)\b(?! to\b)/i : /^(What|Who|Whom|Whose)\b(?! to\b)/).test(trimmed) && !/\?["')*_\s]*$/.test(trimmed)
  )
}

function sentencesOf(text: string): { start: number; sentence: string }[] {
  const ends = [...text.matchAll(/(?<!\b(?:e\.g|i\.e|cf|etc|vs))[.!?][)"'`]*(?=\s)|\n\s*\n|\n(?=\s*(?:[-*]|@\w))/g)].map(
    ({ index, 0: end }) => index + end.length,
  )
  return [0, ...ends].map((start, index) => ({ start, sentence: text.slice(start, ends[index]) }))
}

/** Lines of comments and Markdown prose that are too wide. Tables, links, code and indented commands may be wide. */
function wideLines(file: string, content: string, texts: readonly Text[]): Finding[] {
  const lines = content.split('\n')
  const markdown = file.endsWith('.md')
  return texts
    .filter(({ kind }) => kind === 'comment' || kind === 'markdown')
    .flatMap(({ line, text }) => text.split('\n').map((_, index) => line + index))
    .flatMap((line) => {
      const raw = lines[line - 1] ?? ''
      const exempt = markdown ? raw.trim().startsWith('|') : !/^\s*(\/\/|\/?\*|\{?\/\*|#(?! {3}))/.test(raw)
      const width = markdown ? plainWidth(raw) : raw.length
      if (exempt || width <= maxColumns || !/\s/.test(raw.trim().slice(4)) || /https?:\/\/\S{60}/.test(raw)) return []
      return [{ file, line, rule: `over ${maxColumns} columns`, text: `${raw.trim().slice(0, 70)}… (${width})` }]
    })
}

/** Width of a Markdown line without the addresses of its links, columns. */
const plainWidth = (raw: string): number => raw.replaceAll(/\]\([^)]*\)/g, ']').length

/** The folder in which a file's findings are counted. Large folders count by their subfolders. */
function folderOf(file: string): string {
  const parts = file.split('/').slice(0, -1)
  return parts.slice(0, /^(test|lab|docs)$/.test(parts[0] ?? '') ? 2 : 1).join('/') || '(root)'
}

function wrapAll(root: string, folders: readonly string[]): void {
  for (const file of filesIn(root, folders).filter((one) => /\.(ts|tsx|mts|js|mjs|cjs)$/.test(one))) {
    const content = readFileSync(join(root, file), 'utf8')
    const wrapped = wrapComments(file, content, maxColumns)
    if (wrapped !== content) writeFileSync(join(root, file), wrapped)
  }
}

function main(args: readonly string[]): void {
  const root = fileURLToPath(new URL('..', import.meta.url))
  const folders = args.filter((arg) => arg !== '--wrap')
  if (args.includes('--wrap')) wrapAll(root, folders)
  const findings = proseFindings(root, folders)
  for (const { file, line, rule, text } of findings) console.log(`${file}:${line}: ${rule}: ${text}`)
  const counts = new Map<string, Map<string, number>>()
  for (const { file, rule } of findings) {
    const rules = counts.get(folderOf(file)) ?? new Map<string, number>()
    counts.set(folderOf(file), rules.set(rule, (rules.get(rule) ?? 0) + 1))
  }
  for (const [folder, rules] of counts) {
    const shown = [...rules].map(([rule, count]) => `${rule} ${count}`)
    console.log(`${folder}: ${[...rules.values()].reduce((sum, count) => sum + count, 0)} (${shown.join(', ')})`)
  }
  console.log(`prose: ${findings.length} findings`)
  if (findings.length > 0) process.exitCode = 1
}

if (process.argv[1] === fileURLToPath(import.meta.url)) main(process.argv.slice(2))
