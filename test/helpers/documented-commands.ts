import { commands, createProgram } from '../../cli/main.ts'
import type { Commands, CommandSpec } from '../../cli/command.ts'
import { docsPages, shellBlocks, textOf } from './documents.ts'

type Values = Readonly<Record<string, string>>

const samples: Values = {
  amount: '0.05ether',
  address: `0x${'b'.repeat(40)}`,
  block: '5',
  chain: 'bsc',
  fee: '80gwei',
  file: 'settings.json',
  hex: '0x',
  id: `wormhole-token-bridge:2:${'0'.repeat(64)}:1:0123456789abcdef`,
  key: 'abcdefgh',
  kind: 'recipient',
  lane: `evm-1397:0x${'a'.repeat(40)}`,
  level: 'read',
  n: '8',
  // The name of a chain, a node or a token.
  name: 'bsc',
  nonce: '3',
  number: '7',
  'other lane': `evm-1397:0x${'c'.repeat(40)}`,
  receiver: 'pager',
  stream: `wormhole-token-bridge:ethereum:${'0'.repeat(64)}`,
  node: 'node-2',
  party: `0x${'d'.repeat(40)}`,
  scope: '--all',
  text: 'a reason',
  url: 'http://10.0.0.7:8545',
  time: '2026-11-22T17:00Z',
  vaa: 'AQ==',
  version: '2.4.1',
  wei: '1000',
}

/** A command line in a `sh` block. `argv` has the words that the shell gives to the program. */
export interface DocumentedCommand {
  readonly document: string
  readonly line: string
  readonly argv: readonly string[]
}

export function documentedCommands(): DocumentedCommand[] {
  return ['README.md', ...docsPages].flatMap((document) =>
    commandLines(textOf(document)).map((line) => ({ document, line, argv: argvOf(line) })),
  )
}

/** Finds commands within `$(…)`, after variables, and after `node bin/portage.js`. Joins lines that end with `\`. */
export function commandLines(text: string): string[] {
  const blocks = shellBlocks(text).map((body) => body.replaceAll(/\\\n\s*/g, ''))
  return blocks
    .flatMap((body) => body.split('\n'))
    .flatMap((line) => {
      const start = /(?:^|\$\()\s*(?:[A-Z_]+=\S* )*(?:npx |node )?(?:bin\/)?portage(?:\.js)? (.*)$/.exec(line.trim())?.[1]
      return start === undefined ? [] : [`portage ${start}`]
    })
}

const reading =
  /^(audit show|config (check|schema)|doctor(?! --send-test)|fees show|lane (list|show|transactions|batches)|node list|notifications list|settings|stream list|stuck|token (keys|list)|transfer (list|show))\b/

/** The documented command lines that change nothing. Skips lines with a `<word>` that has no value. */
export function readingCommands(values: Values): (readonly string[])[] {
  const lines = documentedCommands().flatMap(({ line }) => {
    const typed = line.replace(/\s#.*$/, '')
    const isFilled = [...typed.matchAll(placeholder)].every(([, name = '']) => Object.hasOwn(values, name))
    return isFilled ? [argvOf(typed, values)] : []
  })
  return [...new Map(lines.map((argv) => [argv.join(' '), argv])).values()].filter((argv) =>
    reading.test(argv.join(' ').replace(/^--config \S+ /, '')),
  )
}

const placeholder = /"?<([a-z][a-z ]*)>"?/g

/** The words up to a pipe, a redirection, a comment or the end of `$(…)`. Throws Error for a word without a value. */
export function argvOf(line: string, values: Values = samples): string[] {
  const filled = line.replaceAll(placeholder, (_, name: string) => {
    if (values[name] === undefined) throw new Error(`${line}: <${name}> has no sample in test/helpers/documented-commands.ts`)
    return `"${values[name]}"`
  })
  const words = filled.match(/(?:"[^"]*"|'[^']*'|[^\s"'|<>#)&;]|(?<=\S)#)+|[#|<>)&;]/g) ?? []
  const end = words.findIndex((word) => /^[#|<>)&;]/.test(word))
  return (end < 0 ? words : words.slice(0, end)).slice(1).map((word) => word.replaceAll(/"([^"]*)"|'([^']*)'/g, '$1$2'))
}

function withoutRuns(tree: Commands): Commands {
  const inert = ({ run, commands: inner, ...spec }: CommandSpec): CommandSpec => ({
    ...spec,
    ...(inner && { commands: withoutRuns(inner) }),
    ...(run && { run: async () => {} }),
  })
  return Object.fromEntries(Object.entries(tree).map(([name, spec]) => [name, inert(spec)]))
}

/** Parses a command line without running it. Throws CommanderError if the line is wrong or asks for help. */
export async function parseCommand(argv: readonly string[]): Promise<void> {
  const program = createProgram(
    { ...process, stdout: { write: () => true }, stderr: { write: () => true } },
    () => {},
    withoutRuns(commands),
  )
  await program.parseAsync(argv, { from: 'user' })
}
