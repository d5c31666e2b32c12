import { run } from '../../lab/devnet/run.ts'
import type { TemporalServer } from '../../lab/devnet/temporal/temporal.ts'

export interface CliAnswer {
  readonly stdout: string
  readonly stderr: string
}

/** Runs Temporal's CLI. Throws Error with the CLI's output if its exit code is not 0. */
export async function runTemporalCli({ cliPath, address }: TemporalServer, args: readonly string[]): Promise<CliAnswer> {
  const { code, stdout, stderr } = await run(cliPath, [...args, '--address', address], { timeoutMs: 30_000 })
  if (code !== 0) throw new Error(`temporal ${args.join(' ')} ended with ${code}: ${stderr || stdout}`)
  return { stdout, stderr }
}
