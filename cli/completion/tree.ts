import type { Argument, Command, Option } from 'commander'

/** The completions after a command. */
export interface CompletionCommand {
  /** `transfer list`; empty: the program. */
  readonly path: string
  readonly commands: readonly CompletionWord[]
  readonly options: readonly CompletionOption[]
  readonly choices: readonly string[]
  readonly takesFile: boolean
}

export interface CompletionWord {
  readonly name: string
  readonly description: string
}

interface CompletionOption extends CompletionWord {
  /** Absent: the option takes no value. */
  readonly value?: { readonly choices: readonly string[]; readonly isFile: boolean }
}

/** The options of the program are repeated for each command. */
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

function toOption(option: Option): CompletionOption {
  const { long, description, argChoices: choices = [], required, optional } = option
  const value = required || optional ? { choices, isFile: isFile(option) } : undefined
  return { name: long ?? option.flags, description: firstSentence(description), ...(value && { value }) }
}

/** By its word in the help: `--config <file>`, `<file>`. */
function isFile(given: Option | Argument): boolean {
  return 'flags' in given ? given.flags.includes('<file>') : given.name() === 'file'
}

function firstSentence(text: string): string {
  return text.split(/[.;:](?:\s|$)/)[0]?.replaceAll(/\s+/g, ' ') ?? ''
}
