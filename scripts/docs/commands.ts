import type { Command } from 'commander'
import type { Commands, CommandSpec } from '../../cli/command.ts'
import { commands, createProgram } from '../../cli/main.ts'
import { filterFields } from '../../operations/orders/transfer-filter.ts'
import { contentsPlace } from './contents.ts'
import { markdownTable } from './markdown.ts'

/** docs/reference/commands.md: every command with its arguments, options, notes and examples, from the command tree. */
export function describeCommands(): string {
  const program = createProgram({ ...process, stdout: { write: () => true }, stderr: { write: () => true } }, () => {})
  const sections = Object.entries(commands).map(([name, spec]) => sectionOf(childOf(program, name), name, spec, 2))
  return [
    '# Commands',
    '`portage --help` shows the same texts. [The command line](../start/command-line.md) explains ids, amounts and tables.',
    contentsPlace,
    '## For every command',
    optionTable(program),
    ...sections,
    '## Next steps\n\n- [The command line](../start/command-line.md): names, amounts, tables.\n- [Access](../operate/access.md): which command needs which token.',
  ].join('\n\n')
}

function sectionOf(command: Command, path: string, spec: CommandSpec, level: number): string {
  const { description, notes, examples = [] } = spec
  return [
    `${'#'.repeat(level)} ${path}`,
    `${description.replace(/\.?$/, '')}.`,
    ...(spec.run ? [`\`portage ${path} ${command.usage()}\``] : []),
    ...(command.registeredArguments.length > 0 || command.options.length > 0 ? [optionTable(command, path)] : []),
    ...(notes === undefined ? [] : [notesText(notes)]),
    ...(examples.length > 0 ? [['```text', ...examples, '```'].join('\n')] : []),
    ...subcommands(command, path, spec.commands ?? {}, level),
  ].join('\n\n')
}

function subcommands(command: Command, path: string, inner: Commands, level: number): string[] {
  return Object.entries(inner).map(([name, spec]) => sectionOf(childOf(command, name), `${path} ${name}`, spec, level + 1))
}

/**
 * A table of the arguments and options of a command. If a command has all options that select transfers, one row refers
 * to their rows in the table of `transfer list`.
 */
function optionTable(command: Command, path = ''): string {
  const given = command.registeredArguments.map((one) => [`\`${one.required ? `<${one.name()}>` : `[${one.name()}]`}\``, one.description])
  const shown = command.options.filter(({ hidden }) => !hidden)
  const filters = path === 'transfer list' ? [] : Object.values(filterFields).map(({ flag }) => flag)
  const refers = filters.length > 0 && filters.every((filter) => shown.some(({ flags }) => flags === filter))
  const own = refers ? shown.filter(({ flags }) => !filters.includes(flags)) : shown
  const reference = refers ? [['`--state` … `--blocked`', 'the filters of [transfer list](#transfer-list)']] : []
  return markdownTable(
    ['option', 'meaning'],
    [...given, ...reference, ...own.map(({ flags, description }) => [`\`${flags}\``, description])],
  )
}

/** Joins lines to one paragraph. Notes with a line that begins with a space (a table, a command) do not change. */
function notesText(notes: string): string {
  const lines = notes.split('\n')
  return lines.some((line) => line.startsWith(' ')) ? ['```text', notes, '```'].join('\n') : lines.join(' ')
}

function childOf(command: Command, name: string): Command {
  return command.commands.find((one) => one.name() === name)!
}
