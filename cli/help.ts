import { wrap } from './output/layout.ts'

/** Columns: the same in a terminal, a log and a document. */
export const helpWidth = 80
const indent = '  '

interface HelpEnd {
  readonly notes?: string
  readonly examples?: readonly string[]
}

/** The end of a command's help: its notes and its examples. */
export function helpEnd({ notes, examples = [] }: HelpEnd): string {
  const heading = examples.length === 1 ? 'Example' : 'Examples'
  const parts = [
    ...(notes ? [notesText(notes)] : []),
    ...(examples.length > 0 ? [[`${heading}:`, ...examples.map((line) => commandText(indent + line))].join('\n')] : []),
  ]
  return parts.map((part) => `\n${part}`).join('\n')
}

/** A line that begins with a space is not wrapped. */
function notesText(notes: string): string {
  const parts = notes.split('\n').reduce<string[]>((before, line) => {
    const last = before.at(-1)
    const goesOn = last !== undefined && !last.startsWith(' ') && !line.startsWith(' ') && !last.endsWith(':')
    return goesOn ? [...before.slice(0, -1), `${last} ${line}`] : [...before, line]
  }, [])
  return parts.flatMap((part) => (part.startsWith(' ') ? commandText(part) : wrap(part, helpWidth))).join('\n')
}

function commandText(line: string): string {
  const [first = '', ...words] = line.split(/ (?=--)/)
  const more = `\n${indent.repeat(3)}`
  const fits = (text: string, word: string) => (text.split('\n').at(-1) ?? '').length + 1 + word.length + 2 <= helpWidth
  if (line.split('\n').every((one) => one.length <= helpWidth)) return line
  return words.reduce((text, word) => (fits(text, word) ? `${text} ${word}` : `${text} \\${more}${word}`), first)
}
