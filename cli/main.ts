import { CommanderError } from 'commander'
import { RelayerError } from '../domain/errors.ts'
import { type CliContext, type ExitCode, exitCodes, type GlobalOptions } from './context.ts'
import { printError } from './output.ts'
import { createProgram } from './program.ts'

/** Runs one command line (without `node` and the script). Never throws; the answer is the exit code. */
export async function main(argv: readonly string[], context: CliContext): Promise<ExitCode> {
  let code: ExitCode = exitCodes.ok
  const program = createProgram(context, (result) => {
    code = result
  })
  try {
    await program.parseAsync(argv, { from: 'user' })
    return code
  } catch (error) {
    // Commander has printed its text already. Help and version are no failure; everything else is a wrong command line.
    if (error instanceof CommanderError) {
      if (error.exitCode === 0) return exitCodes.ok
      // The line could not be parsed, so that --json is looked for in the raw arguments.
      if (argv.includes('--json'))
        printError(context, { json: true }, new RelayerError('INPUT_INVALID', { detail: error.message.replace(/^error: /, '') }))
      return exitCodes.usage
    }
    printError(context, program.opts<GlobalOptions>(), error)
    return exitCodes.failure
  }
}
