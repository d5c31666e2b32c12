import { Readable } from 'node:stream'
import { main } from '../../cli/main.ts'

export interface CliResult {
  readonly code: number
  readonly out: string
  readonly err: string
  /** What --json printed. */
  json(): Record<string, unknown>
}

export interface CliSetting {
  readonly env?: NodeJS.ProcessEnv
  readonly stdin?: string
  readonly cwd?: string
  /** Called with every text on stderr. */
  readonly onError?: (text: string) => void
}

/** Runs a command line in this process and collects its output. */
export async function runCli(
  argv: readonly string[],
  { env = {}, stdin = '', cwd = process.cwd(), onError = () => {} }: CliSetting = {},
): Promise<CliResult> {
  let out = ''
  let err = ''
  const code = await main(argv, {
    env,
    stdin: Readable.from([stdin]),
    stdout: { write: (text) => (out += text) },
    stderr: {
      write(text) {
        err += text
        onError(text)
      },
    },
    cwd: () => cwd,
    on: () => {},
    off: () => {},
  })
  return { code, out, err, json: () => JSON.parse(out) as Record<string, unknown> }
}
