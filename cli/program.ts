import { Command, type ParseOptionsResult } from 'commander'

/** What begins with one `-` and is longer than an option of one letter, of which there are only -h and -V. */
const dashed = /^-[^-].+/

/**
 * A command whose arguments may begin with `-`: names of keys are random, and Portage has no options that begin with a single `-` but -h and -V. A word that
 * begins with `--` is an option in any case; what follows a `--` of its own is none.
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
