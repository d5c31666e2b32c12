import stringWidth from 'string-width'
import { cut, harmless, harmlessLines } from '../../domain/text/printable.ts'
import type { CliContext, GlobalOptions } from '../context.ts'
import { type Cell, type Facts, facts, type Part, type Table, type Text } from './output.ts'

const usualWidth = 80
const leastWidth = 40
const leastColumn = 10
const gap = 2
/** Number of characters. Forged states have longer texts, which would take minutes to wrap. */
const longestCell = 4_000

/** Number of columns. Undefined with --wide: nothing is then wrapped or shortened. */
type Width = number | undefined

export function widthOf({ stdout }: Pick<CliContext, 'stdout'>, { wide }: Pick<GlobalOptions, 'wide'>): Width {
  return wide ? undefined : Math.max(leastWidth, (stdout.isTTY && stdout.columns) || usualWidth)
}

/** Lays out a text. Replaces control characters, so that strangers' texts cannot control the terminal. */
export function render(text: Text, width: Width): string {
  const parts = Array.isArray(text) ? (text as readonly Part[]) : [text as Part]
  return parts.map((part) => renderPart(part, width)).join('\n\n')
}

function renderPart(part: Part, width: Width): string {
  if (typeof part === 'string')
    return part
      .split('\n')
      .flatMap((line) => wrapProse(harmless(line), width))
      .join('\n')
  switch (part.kind) {
    case 'verbatim':
      return harmlessLines(part.text)
    case 'facts':
      return renderFacts(part, width)
    case 'table':
      return renderTable(part, width)
  }
}

function renderFacts({ values }: Facts, width: Width): string {
  const rows = Object.entries(values).flatMap(([name, value]) => (value === undefined ? [] : [[name, cellText(value, width)] as const]))
  const column = Math.max(0, ...rows.map(([name]) => name.length)) + gap
  return rows.map(([name, value]) => hanging(name, value, column, width)).join('\n')
}

function hanging(name: string, value: string, column: number, width: Width): string {
  const first = name.padEnd(column)
  if (width === undefined || column + stringWidth(value) <= width) return `${first}${value}`.trimEnd()
  const lines = wrap(value, Math.max(leastColumn, width - column))
  const fits = lines.every((line) => column + stringWidth(line) <= width)
  if (!fits) return [name, ...wrap(value, width - gap).map((line) => `${' '.repeat(gap)}${line}`)].join('\n')
  return lines.map((line, index) => `${index === 0 ? first : ' '.repeat(column)}${line}`).join('\n')
}

function renderTable({ rows, wide, short }: Table, width: Width): string {
  const shown = Object.keys(rows[0] ?? {}).filter((name) => width === undefined || !wide.includes(name))
  const names = shown.map((name) => (width === undefined ? name : (short[name] ?? name)))
  const lines = rows.map((row) => shown.map((name) => cellText(row[name], width)))
  const natural = names.map((name, column) => Math.max(stringWidth(name), ...lines.map((cells) => stringWidth(cells[column] ?? ''))))
  const widths = width === undefined ? natural : narrowed([names, ...lines], natural, width)
  if (widths) return [names, ...lines].map((cells) => renderRow(cells, widths)).join('\n')
  const named = (cells: readonly string[]) =>
    Object.fromEntries(names.map((name, column) => [name, cells[column]]).filter(([, cell]) => cell !== '-'))
  return lines.map((cells) => renderFacts(facts(named(cells)), width)).join('\n\n')
}

/** Narrows the widest columns, but none below its longest word. Undefined if the lines still do not fit. */
function narrowed(lines: readonly (readonly string[])[], natural: readonly number[], width: number): number[] | undefined {
  const room = width - gap * (natural.length - 1)
  const least = natural.map((whole, column) => {
    const words = lines.flatMap((cells) => (cells[column] ?? '').split(' '))
    // The words may be too many for the arguments of a call.
    return Math.min(
      whole,
      words.reduce((widest, word) => Math.max(widest, stringWidth(word)), leastColumn),
    )
  })
  const widths = [...natural]
  for (let over = natural.reduce((sum, one) => sum + one, 0) - room; over > 0; over--) {
    const widest = widths.reduce((best, one, column) => (one > (least[column] ?? 0) && one > (widths[best] ?? 0) ? column : best), -1)
    if (widest < 0) return undefined
    widths[widest] = (widths[widest] ?? 0) - 1
  }
  return widths
}

function renderRow(cells: readonly string[], widths: readonly number[]): string {
  const padded = (text: string, width: number) => text + ' '.repeat(Math.max(0, width - stringWidth(text)))
  const columns = cells.map((cell, column) => wrap(cell, widths[column] ?? leastColumn))
  const height = Math.max(1, ...columns.map((column) => column.length))
  const lines = Array.from({ length: height }, (_, line) =>
    columns.map((column, index) => padded(column[line] ?? '', widths[index] ?? 0)).join(' '.repeat(gap)),
  )
  return lines.map((line) => line.trimEnd()).join('\n')
}

/** Returns one line, because a stranger's text with line breaks could look like another row. */
function cellText(cell: Cell, width: Width): string {
  const text = typeof cell === 'object' ? (width === undefined ? cell.full : cell.short) : String(cell ?? '-')
  const shown = width === undefined || text.length <= longestCell ? text : `${cut(text, longestCell)}…`
  return harmless(shown.replaceAll(/\s+/g, ' '))
}

/** Wraps a text. Breaks words that are wider than a line. */
export function wrap(text: string, width: number): string[] {
  if (stringWidth(text) <= width) return [text]
  const words = text.split(' ').flatMap((word) => pieces(word, width))
  return filled(words, width)
}

function pieces(word: string, width: number): string[] {
  if (stringWidth(word) <= width) return [word]
  const found: string[] = []
  let piece = ''
  for (const sign of word) {
    const isFull = piece !== '' && stringWidth(piece + sign) > width
    if (isFull) found.push(piece)
    piece = isFull ? sign : piece + sign
  }
  return [...found, piece]
}

/** Indents all lines after the first by two more columns. A word that is too wide stays whole. */
export function wrapProse(line: string, width: Width): string[] {
  if (width === undefined || stringWidth(line) <= width) return [line]
  const indent = /^ */.exec(line)?.[0] ?? ''
  return filled(line.trim().split(' '), width, indent, `${indent}  `)
}

function filled(words: readonly string[], width: number, first = '', further = ''): string[] {
  const lines: string[] = []
  let line = first
  for (const word of words) {
    if (line.trim() === '') line += word
    else if (stringWidth(line) + 1 + stringWidth(word) <= width) line += ` ${word}`
    else {
      lines.push(line)
      line = `${further}${word}`
    }
  }
  return [...lines, line]
}
