import { parseSync } from 'oxc-parser'
import { fill } from '../docs/markdown.ts'

/** The source with its wide comments wrapped at `columns`. Comments after code on the same line do not change. */
export function wrapComments(file: string, content: string, columns: number): string {
  const { comments } = parseSync(file, content)
  const wide = comments.filter(({ start, end }) => isWide(content, start, end, columns))
  let wrapped = content
  const ranges = new Map<number, { start: number; end: number; text: string }>()
  for (const { type, start } of wide) {
    const range = type === 'Line' ? lineComments(content, comments, start, columns) : blockComment(content, comments, start, columns)
    if (range) ranges.set(range.start, range)
  }
  for (const { start, end, text } of [...ranges.values()].toSorted((one, other) => other.start - one.start))
    wrapped = wrapped.slice(0, start) + text + wrapped.slice(end)
  return wrapped
}

type Comments = readonly { readonly type: string; readonly start: number; readonly end: number }[]
interface Range {
  readonly start: number
  readonly end: number
  readonly text: string
}

const lineStart = (content: string, offset: number): number => content.lastIndexOf('\n', offset - 1) + 1

function isWide(content: string, start: number, end: number, columns: number): boolean {
  const last = content.indexOf('\n', end)
  const lines = content.slice(lineStart(content, start), last < 0 ? undefined : last).split('\n')
  return lines.some(({ length }) => length > columns)
}

function lineComments(content: string, comments: Comments, start: number, columns: number): Range | undefined {
  const indent = content.slice(lineStart(content, start), start)
  if (indent.trim() !== '') return undefined
  let [first, last] = [0, 0]
  const at = comments.findIndex((one) => one.start === start)
  const follows = (one: number, next: number) =>
    comments[one]?.type === 'Line' &&
    comments[next]?.type === 'Line' &&
    content.slice(comments[one].end, comments[next].start) === `\n${indent}`
  for (first = at; follows(first - 1, first); first--);
  for (last = at; follows(last, last + 1); last++);
  const texts = comments.slice(first, last + 1).map((one) => content.slice(one.start + 2, one.end).trim())
  if (texts.some((text) => text === '' || /^(oxlint|eslint|@|[-*] )/.test(text))) return undefined
  const lines = fill(texts.join(' '), columns - indent.length - 3).map((line) => `// ${line}`)
  const from = comments[first]
  const to = comments[last]
  return from && to && { start: from.start, end: to.end, text: lines.join(`\n${indent}`) }
}

function blockComment(content: string, comments: Comments, start: number, columns: number): Range | undefined {
  const comment = comments.find((one) => one.start === start)
  const indent = content.slice(lineStart(content, start), start)
  if (!comment || !/^[ \t]*\{?$/.test(indent)) return undefined
  const old = content.slice(start, comment.end)
  const open = old.startsWith('/**') ? '/**' : '/*'
  const texts = old
    .slice(open.length, -2)
    .split('\n')
    .map((line) => line.replace(/^[ \t]*\*? ?/, '').trimEnd())
  const paragraphs: string[] = []
  let starts = true
  for (const text of texts) {
    if (starts || text === '' || /^(@\w|[-*] |\s|```)/.test(text)) paragraphs.push(text)
    else paragraphs[paragraphs.length - 1] += ` ${text.trim()}`
    starts = text === ''
  }
  if (paragraphs.some((text) => text.startsWith('```'))) return undefined
  while (paragraphs[0] === '') paragraphs.shift()
  while (paragraphs.at(-1) === '') paragraphs.pop()
  const margin = indent.replace('{', ' ')
  const lines = paragraphs.flatMap((text) => fill(text, columns - margin.length - 3)).map((line) => `${margin} * ${line}`.trimEnd())
  return { start, end: comment.end, text: [open, ...lines, `${margin} */`].join('\n') }
}
