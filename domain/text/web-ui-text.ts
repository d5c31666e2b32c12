import { ageText } from './age.ts'
import { cut, oneLine, utf8Bytes } from './printable.ts'

// Temporal's Web UI shows summaries as plain text or Markdown, and current details as Markdown.

/**
 * Maximum size of a summary: half of Temporal's default limit of 400 bytes (user_metadata.proto), because encryption
 * adds bytes.
 */
const mostSummaryBytes = 200
const longestForeign = 500

/**
 * Replacements for markup characters. These are not escaped, because Temporal's command line would show the escapes.
 */
const instead: Readonly<Record<string, string>> = {
  ...{ '[': '(', ']': ')', '{': '(', '}': ')', '<': '‹', '>': '›' },
  ...{ '`': "'", '*': '·', '\\': '/' },
}

/** Cuts the text to `mostSummaryBytes`, because a text above Temporal's limit would fail a workflow task. */
export function summaryText(text: unknown): string {
  const plain = withoutLinks(oneLine(text).replaceAll(/[[\]{}<>`*\\]/g, (character) => instead[character] ?? ' '))
  let bytes = 0
  let short = ''
  for (const character of plain) {
    bytes += utf8Bytes(character)
    if (bytes > mostSummaryBytes - 3) return `${short.trimEnd()}…`
    short += character
  }
  return short
}

/** One line without markup, links, HTML or placeholders of the Web UI, because a stranger wrote the text. */
export function foreign(text: unknown, longest = longestForeign): string {
  const line = oneLine(text)
  const short = withoutLinks(line.length > longest ? `${cut(line, longest)}…` : line)
  return short.replaceAll(/[\\`*_[\]{}<>|~&]/g, (character) => `\\${character}`)
}

export function code(text: unknown): string {
  return `\`${oneLine(text).replaceAll('`', "'").replaceAll(/[{}]/g, ' ')}\``
}

/** The link works only if Temporal's Web UI is at the root of its host. */
export function workflowLink(namespace: string, workflowId: string, text: string): string {
  return `[${foreign(text)}](/namespaces/${pathPart(namespace)}/workflows/${pathPart(workflowId)})`
}

export function timeText(at: number): string {
  return new Date(at).toISOString()
}

export function durationText(ms: number): string {
  return ageText(Math.max(1_000, ms))
}

export function paragraphs(...given: readonly (string | false | undefined)[]): string {
  return given.filter(Boolean).join('\n\n')
}

/** Breaks up web addresses, because Markdown turns them into links. */
function withoutLinks(text: string): string {
  return text.replaceAll('://', '[:]//').replaceAll(/\bwww\./gi, (www) => `${www.slice(0, -1)}[.]`)
}

function pathPart(text: string): string {
  return encodeURIComponent(text).replaceAll(/[!'()*]/g, (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`)
}
