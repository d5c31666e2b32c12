import { Command, type ParseOptionsResult } from 'commander'

/** A word with a single leading dash, other than the options -h and -V. */
const dashed = /^-[^-].+/

/**
 * Accepts arguments that begin with a single dash: ids of keys are random. Words with two dashes are options, unless
 * they follow a `--` of their own.
 */
export class Program extends Command {
  override createCommand(name?: string): Program {
    return new Program(name)
  }

  override parseOptions(argv: string[]): ParseOptionsResult {
    const { operands, unknown } = super.parseOptions(argv)
    const takesArguments = this.commands.length === 0 && this.registeredArguments.length > 0
    const isArgument = (word: string) => !word.startsWith('-') || word === '-' || dashed.test(word)
    return takesArguments && unknown.every(isArgument) ? { operands: [...operands, ...unknown], unknown: [] } : { operands, unknown }
  }
}
