import { type DocumentOptions, type ErrorCode, parseDocument, type ParseOptions, type SchemaOptions } from 'yaml'
import { invalid, type Problem } from './problems.ts'

/** Texts for the library's errors. The library's own messages quote the file, which may contain secrets. */
const words: Readonly<Partial<Record<ErrorCode, string>>> = {
  BAD_ALIAS: 'an alias (*name) is not the name of an anchor (&name)',
  BAD_DQ_ESCAPE: 'a text in double quotes has an unknown escape',
  BAD_INDENT: 'the indentation is wrong',
  BAD_SCALAR_START: 'a text begins with a character that needs quotes',
  BLOCK_AS_IMPLICIT_KEY: 'a map is where a value has to be: something is missing above',
  DUPLICATE_KEY: 'the name of a field is there twice',
  MISSING_CHAR: 'a bracket, a quote, a comma or a colon is missing',
  MULTILINE_IMPLICIT_KEY: 'the name of a field goes over more than one line',
  MULTIPLE_DOCS: 'there is more than one document',
  TAB_AS_INDENT: 'a tab is used as indentation',
  TAG_RESOLVE_FAILED: 'a tag (!) is unknown',
  UNEXPECTED_TOKEN: 'something is where it does not belong',
}

/** Maximum depth of the tree, because functions read the tree recursively. No config nests this deep. */
const deepest = 50

const options: ParseOptions & DocumentOptions & SchemaOptions = {
  // Hides warnings, which the library would print to stderr together with parts of the text.
  logLevel: 'error',
  // Turns off YAML's hexadecimal numbers, so that an address needs no quotes.
  customTags: (tags) => tags.filter((tag) => typeof tag === 'string' || tag.tag !== 'tag:yaml.org,2002:int' || tag.format !== 'HEX'),
}

/** Returns the text with new values at these paths. Comments and other values stay. The text must be valid YAML. */
export function editYaml(text: string, edits: readonly (readonly [path: readonly string[], value: unknown])[]): string {
  const document = parseDocument(text, options)
  for (const [path, value] of edits) document.setIn(path, document.createNode(value))
  return document.toString({ lineWidth: 0 })
}

/** Returns the tree of a YAML text. Throws CONFIG_INVALID, which never contains the text. */
export function readYaml(text: string, source: string): unknown {
  try {
    const document = parseDocument(text, options)
    const found = [...document.errors, ...document.warnings]
    if (found.length > 0) throw invalid(source, found.map(toProblem))
    const tree: unknown = document.toJS()
    if (depthOf(tree) <= deepest) return tree
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'CONFIG_INVALID') throw error
    // The library's other errors (missing anchors, too many aliases, endless nesting) get the message below.
  }
  const problem = 'the YAML is nested too deep, or has aliases (*name) that lead nowhere, into themselves, or to too much'
  throw invalid(source, [{ path: '', problem, remedy: 'Write it without them.' }])
}

function depthOf(node: unknown, level = 0): number {
  if (typeof node !== 'object' || node === null || level > deepest) return level
  return Object.values(node).reduce<number>((most, child) => Math.max(most, depthOf(child, level + 1)), level)
}

function toProblem({ code, linePos }: { code: ErrorCode; linePos?: readonly { line: number; col: number }[] | undefined }): Problem {
  const [at] = linePos ?? []
  const problem = words[code] ?? 'the YAML is malformed'
  return { path: at ? `line ${at.line}, column ${at.col}:` : '', problem, remedy: 'Correct the YAML.' }
}
