/** Extracts the prose of a source, Markdown or YAML file: comments, messages and paragraphs, with line numbers. */
import { parseSync } from 'oxc-parser'

export interface Text {
  readonly kind: 'comment' | 'string' | 'test name' | 'markdown'
  readonly line: number
  /** Has the line breaks of the source, so that each sentence has a line number. */
  readonly text: string
}

/** The prose of a file. Empty for a kind of file without prose. Throws if a source does not parse. */
export function textsOf(file: string, content: string): Text[] {
  if (/\.(ts|tsx|mts|js|mjs|cjs)$/.test(file)) return sourceTexts(file, content)
  if (file.endsWith('.md')) return markdownTexts(content)
  if (file.endsWith('.sol')) return lineComments(content, /^\s*(?:\/{2,3}|\/?\*+)\s?(.*)$/)
  if (/\.(ya?ml|py|sh|tpl)$|^\.ci\/run$|Dockerfile$/.test(file)) return lineComments(content, /^\s*#\s?(.*)$/)
  return []
}

interface Comment {
  readonly type: string
  readonly value: string
  readonly start: number
  readonly end: number
}

function sourceTexts(file: string, content: string): Text[] {
  const { program, comments, errors } = parseSync(file, content)
  if (errors[0]) throw new Error(`${file} does not parse: ${errors[0].message}`)
  const lineOf = lineIndex(content)
  const texts: Text[] = paragraphs(comments, content).map(({ value, start }) => ({
    kind: 'comment',
    line: lineOf(start),
    text: value.replaceAll(/^[ \t]*\*+[ \t]?/gm, ''),
  }))
  walk(program, (kind, start, text) => texts.push({ kind, line: lineOf(start), text: text.replaceAll('\n', ' ') }))
  return texts
}

function paragraphs(comments: readonly Comment[], content: string): { value: string; start: number; end: number }[] {
  const merged: { value: string; start: number; end: number }[] = []
  for (const { type, value, start, end } of comments) {
    if (/^[/\s]*(oxlint-|eslint-|@ts-|#)/.test(value)) continue
    const last = merged.at(-1)
    if (type === 'Line' && last && /^\n[ \t]*$/.test(content.slice(last.end, start))) {
      last.value += `\n${value}`
      last.end = end
    } else merged.push({ value, start, end })
  }
  return merged
}

type Node = Record<string, unknown>
const isNode = (value: unknown): value is Node => typeof value === 'object' && value !== null && typeof (value as Node)['type'] === 'string'

/** Calls `found` for every string of two words or more, with its kind. Values in templates become `X`. */
function walk(node: unknown, found: (kind: Text['kind'], start: number, text: string) => void, testName = false): void {
  if (Array.isArray(node)) for (const one of node) walk(one, found)
  if (!isNode(node)) return
  const start = node['start'] as number
  const text = stringOf(node)
  if (text !== undefined && /\S\s+\S/.test(text)) found(testName ? 'test name' : 'string', start, text)
  const names = node['type'] === 'CallExpression' && isTestCall(node['callee'])
  for (const [key, value] of Object.entries(node)) {
    if (names && key === 'arguments') for (const [index, argument] of (value as unknown[]).entries()) walk(argument, found, index === 0)
    else walk(value, found)
  }
}

function stringOf(node: Node): string | undefined {
  if (node['type'] === 'Literal' && typeof node['value'] === 'string') return node['value']
  if (node['type'] === 'JSXText') return String(node['value']).trim()
  if (node['type'] !== 'TemplateLiteral') return undefined
  return (node['quasis'] as { value: { cooked: string | null } }[]).map(({ value }) => value.cooked ?? '').join('X')
}

/** Whether this calls `test(…)`, `it(…)`, `test.skipIf(…)(…)` or `test.each(…)(…)`. */
function isTestCall(callee: unknown): boolean {
  if (!isNode(callee)) return false
  if (callee['type'] === 'Identifier') return /^(test|it)$/.test(String(callee['name']))
  if (callee['type'] === 'CallExpression') return isTestCall(callee['callee'])
  return callee['type'] === 'MemberExpression' && isTestCall(callee['object'])
}

/**
 * Paragraphs, list items, headings and cells outside code fences. Inline code becomes `X`, and a link becomes its text.
 */
function markdownTexts(content: string): Text[] {
  const texts: { kind: 'markdown'; line: number; text: string }[] = []
  let open = ''
  let continues = false
  for (const [index, raw] of content.split('\n').entries()) {
    const fence = /^\s*(```+|~~~+)/.exec(raw)?.[1] ?? ''
    const inFence = open !== '' || fence !== ''
    if (fence !== '' && (open === '' || fence.startsWith(open))) open = open === '' ? fence : ''
    const line = inFence ? '' : plainMarkdown(raw).trim()
    const [, mark = '', rest = line] = /^([-*+]|\d+\.|#+|>|\|)\s+(.*)$/.exec(line) ?? []
    const last = texts.at(-1)
    if (mark === '|') texts.push(...cells(rest, index + 1))
    else if (last && continues && mark === '' && line !== '') last.text += `\n${line}`
    else if (line !== '') texts.push({ kind: 'markdown', line: index + 1, text: rest })
    continues = line !== '' && mark !== '|' && !mark.startsWith('#')
  }
  return texts
}

function cells(row: string, line: number): { kind: 'markdown'; line: number; text: string }[] {
  return row.split('|').flatMap((cell) => (cell.trim() === '' ? [] : [{ kind: 'markdown', line, text: cell.trim() }]))
}

/** A Markdown line without the addresses of its links and without inline code. */
export function plainMarkdown(line: string): string {
  return line
    .replaceAll(/`[^`]*`/g, 'X')
    .replaceAll(/\]\([^)]*\)/g, ']')
    .replaceAll(/<[^>\s][^>]*>|\*\*|[[\]]/g, '')
}

/** Comment lines. Successive lines are one text. */
function lineComments(content: string, comment: RegExp): Text[] {
  const texts: { kind: 'comment'; line: number; text: string }[] = []
  let previous = -1
  for (const [index, line] of content.split('\n').entries()) {
    const text = comment.exec(line)?.[1]?.replace(/^[#\s]+|\s*\*\/$/g, '')
    if (text === undefined || line.startsWith('#!')) continue
    const last = texts.at(-1)
    if (last && previous === index - 1 && text !== '') last.text += `\n${text}`
    else texts.push({ kind: 'comment', line: index + 1, text })
    previous = index
  }
  return texts
}

function lineIndex(content: string): (offset: number) => number {
  const starts = [0, ...[...content.matchAll(/\n/g)].map(({ index }) => index + 1)]
  return (offset) => {
    let [low, high] = [0, starts.length]
    while (high - low > 1) {
      const middle = (low + high) >> 1
      if ((starts[middle] ?? 0) <= offset) low = middle
      else high = middle
    }
    return low + 1
  }
}
