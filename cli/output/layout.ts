import stringWidth from 'string-width'
import { harmless } from '../../domain/text/printable.ts'
import type { CliContext, GlobalOptions } from '../context.ts'
import type { Cell, Facts, Heading, Part, Table, Text } from './output.ts'

/** Without a width, texts are shown whole, one row per line. */
export interface Layout {
  readonly width?: number
}

/** Columns, where the terminal does not say. */
const usualWidth = 80
/** Narrower terminals wrap by themselves. */
const leastWidth = 40
const leastColumn = 10
const gap = 2

/** All of a terminal, 80 columns elsewhere, no bounds with --wide. */
export function layoutOf({ stdout }: Pick<CliContext, 'stdout'>, { wide }: Pick<GlobalOptions, 'wide'>): Layout {
  if (wide) return {}
  return { width: Math.max(leastWidth, (stdout.isTTY && stdout.columns) || usualWidth) }
}

/** Lines for a terminal. Texts of strangers cannot steer it. */
export function render(text: Text, layout: Layout): string {
  const parts = Array.isArray(text) ? (text as readonly Part[]) : [text as Part]
  return parts.map((part) => renderPart(part, layout)).join('\n\n')
}

function renderPart(part: Part, layout: Layout): string {
  if (typeof part === 'string')
    return part
      .split('\n')
      .flatMap((line) => wrapProse(harmless(line), layout))
      .join('\n')
  switch (part.kind) {
    case 'verbatim':
      return part.text.split('\n').map(harmless).join('\n')
    case 'facts':
      return renderFacts(part, layout)
    case 'table':
      return renderTable(part, layout)
  }
}

function renderFacts({ values }: Facts, layout: Layout): string {
  const rows = Object.entries(values).flatMap(([name, value]) => (value === undefined ? [] : [[name, cellText(value, layout)] as const]))
  const column = Math.max(0, ...rows.map(([name]) => name.length)) + gap
  return rows.map(([name, value]) => hanging(name, value, column, layout)).join('\n')
}

/** A value without spaces that does not fit next to its name begins on a line of its own. */
function hanging(name: string, value: string, column: number, { width }: Layout): string {
  const first = name.padEnd(column)
  if (width === undefined || column + stringWidth(value) <= width) return `${first}${value}`.trimEnd()
  const lines = wrap(value, Math.max(leastColumn, width - column))
  const fits = lines.every((line) => column + stringWidth(line) <= width)
  if (!fits) return [name, ...wrap(value, width - gap).map((line) => `${' '.repeat(gap)}${line}`)].join('\n')
  return [`${first}${lines[0] ?? ''}`, ...lines.slice(1).map((line) => `${' '.repeat(column)}${line}`)].join('\n')
}

/** Wraps cells that do not fit; else each row becomes a list of facts. */
function renderTable({ headings, rows }: Table, layout: Layout): string {
  const { width } = layout
  const shown = headings.flatMap((heading, index) =>
    width !== undefined && typeof heading !== 'string' && 'wide' in heading ? [] : [index],
  )
  const names = shown.map((index) => nameOf(headings[index], layout))
  const lines = rows.map((cells) => shown.map((index) => cellText(cells[index], layout)))
  const natural = names.map((name, column) => Math.max(stringWidth(name), ...lines.map((cells) => stringWidth(cells[column] ?? ''))))
  const widths = width === undefined ? natural : narrowed(names, lines, natural, width)
  if (!widths) return lines.map((cells) => renderFacts({ kind: 'facts', values: named(names, cells) }, layout)).join('\n\n')
  return [names, ...lines].map((cells) => renderRow(cells, widths)).join('\n')
}

function nameOf(heading: Heading = '', { width }: Layout): string {
  if (typeof heading === 'string') return heading
  return width !== undefined && 'short' in heading ? heading.short : heading.name
}

function named(names: readonly string[], cells: readonly string[]): Record<string, string> {
  return Object.fromEntries(names.flatMap((name, column) => (cells[column] === '-' ? [] : [[name, cells[column] ?? '']])))
}

/** Narrows the widest columns of words first. Undefined: none fit. */
function narrowed(
  names: readonly string[],
  lines: readonly (readonly string[])[],
  natural: readonly number[],
  width: number,
): number[] | undefined {
  const room = width - gap * (natural.length - 1)
  const least = natural.map((whole, column) => {
    const words = [names[column] ?? '', ...lines.map((cells) => cells[column] ?? '')].flatMap((cell) => cell.split(' '))
    return Math.min(whole, Math.max(leastColumn, ...words.map((word) => stringWidth(word))))
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
  const columns = cells.map((cell, column) =>
    stringWidth(cell) <= (widths[column] ?? 0) ? [cell] : wrap(cell, widths[column] ?? leastColumn),
  )
  const height = Math.max(1, ...columns.map((column) => column.length))
  const lines = Array.from({ length: height }, (_, line) =>
    columns.map((column, index) => padded(column[line] ?? '', widths[index] ?? 0)).join(' '.repeat(gap)),
  )
  return lines.map((line) => line.trimEnd()).join('\n')
}

function padded(text: string, width: number): string {
  return text + ' '.repeat(Math.max(0, width - stringWidth(text)))
}

/** One line: a stranger's text cannot look like another row. */
function cellText(cell: Cell, { width }: Layout): string {
  const text = typeof cell === 'object' ? (width === undefined ? cell.full : cell.short) : String(cell ?? '-')
  return harmless(text.replaceAll(/\s+/g, ' '))
}

/** Breaks a word that is wider than a line. */
export function wrap(text: string, width: number): string[] {
  const lines: string[] = []
  let line = ''
  for (const word of text.split(' ').flatMap((whole) => pieces(whole, width))) {
    const longer = line === '' ? word : `${line} ${word}`
    if (stringWidth(longer) <= width) line = longer
    else {
      lines.push(line)
      line = word
    }
  }
  return [...lines, line]
}

function pieces(word: string, width: number): string[] {
  if (stringWidth(word) <= width) return [word]
  const found: string[] = []
  let piece = ''
  for (const sign of word) {
    if (stringWidth(piece + sign) > width && piece !== '') {
      found.push(piece)
      piece = ''
    }
    piece += sign
  }
  return [...found, piece]
}

/** Further lines are indented by two more. A word that is too wide stays whole. */
function wrapProse(line: string, { width }: Layout): string[] {
  if (width === undefined || stringWidth(line) <= width) return [line]
  const indent = /^ */.exec(line)?.[0] ?? ''
  const lines: string[] = []
  let now = indent
  for (const word of line.trim().split(' ')) {
    const start = now.trim() === ''
    if (!start && stringWidth(now) + 1 + stringWidth(word) > width) {
      lines.push(now)
      now = `${indent}  ${word}`
    } else now = start ? `${now}${word}` : `${now} ${word}`
  }
  return [...lines, now]
}
