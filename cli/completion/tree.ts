import type { Argument, Command, Option } from 'commander'

export interface CompletionCommand {
  readonly path: string
  readonly commands: readonly CompletionWord[]
  readonly options: readonly ReturnType<typeof toOption>[]
  readonly choices: readonly string[]
  readonly takesFile: boolean
}

interface CompletionWord {
  readonly name: string
  readonly description: string
}

export function completionTree(program: Command): CompletionCommand[] {
  const everywhere = [...program.options.map(toOption), { name: '--help', description: 'display help for command' }]
  const walk = (command: Command, path: readonly string[]): CompletionCommand[] => [
    {
      path: path.join(' '),
      commands: command.commands.map((one) => ({ name: one.name(), description: firstSentence(one.description()) })),
      options: command === program ? everywhere : [...command.options.map(toOption), ...everywhere],
      choices: command.registeredArguments.flatMap(({ argChoices = [] }) => argChoices),
      takesFile: command.registeredArguments.some(isFile),
    },
    ...command.commands.flatMap((one) => walk(one, [...path, one.name()])),
  ]
  return walk(program, [])
}

function toOption(option: Option): CompletionWord & { readonly value?: { readonly choices: readonly string[]; readonly isFile: boolean } } {
  const { long, description, argChoices: choices = [], required, optional } = option
  const value = required || optional ? { choices, isFile: isFile(option) } : undefined
  return { name: long ?? option.flags, description: firstSentence(description), ...(value && { value }) }
}

function isFile(given: Option | Argument): boolean {
  return 'flags' in given ? given.flags.includes('<file>') : given.name() === 'file'
}

function firstSentence(text: string): string {
  return text.split(/[.;:](?:\s|$)/)[0]?.replaceAll(/\s+/g, ' ') ?? ''
}

interface Quoting {
  readonly one: (text: string) => string
  readonly list: (texts: readonly string[]) => string
  readonly words: (words: readonly CompletionWord[]) => string
}

/** Returns shell functions for bash and zsh that look up the words after a command, and the values of an option. */
export function lookUps(tree: readonly CompletionCommand[], { one, list, words }: Quoting): string {
  const commands = tree.map(({ path, commands: below, options, choices, takesFile }) => {
    const valued = options.flatMap(({ name, value }) => (value ? [name] : []))
    return `    ${one(path)}) commands=${words(below)} options=${words(options)} valued=${list(valued)} choices=${list(choices)} file=${takesFile ? 1 : ''} ;;`
  })
  const values = tree.flatMap(({ path, options }) =>
    options.flatMap(({ name, value }) =>
      value && (value.isFile || value.choices.length > 0)
        ? [`    ${one(`${path} ${name}`)}) choices=${list(value.choices)} file=${value.isFile ? 1 : ''} ;;`]
        : [],
    ),
  )
  return `_portage_command() {
  case $1 in
${commands.join('\n')}
  esac
}
_portage_value() {
  choices=${list([])} file=
  case "$1 $2" in
${values.join('\n')}
  esac
}`
}
