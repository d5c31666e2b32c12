import { Readable } from 'node:stream'
import { main } from '../../cli/main.ts'
import { loadConfig } from '../../config/load/load.ts'
import { makeToken } from '../../lab/devnet/access.ts'

export interface CliResult {
  readonly code: number
  readonly out: string
  readonly err: string
  json(): Record<string, unknown>
}

export interface CliSetting {
  readonly env?: NodeJS.ProcessEnv
  readonly stdin?: string
  readonly terminal?: boolean
  readonly cwd?: string
  readonly onError?: (text: string) => void
  /** Adds an admin's token (night-shift) if the command line names a valid config and `env` has none. Default: true. */
  readonly asAdministrator?: boolean
}

async function tokenFor(argv: readonly string[], env: NodeJS.ProcessEnv): Promise<string | undefined> {
  const file = argv[argv.indexOf('--config') + 1]
  if (!argv.includes('--config') || file === undefined) return undefined
  const config = await loadConfig(file, env).catch(() => undefined)
  return config && makeToken(config)
}

export async function runCli(
  argv: readonly string[],
  { env = {}, stdin = '', terminal = false, cwd = process.cwd(), onError = () => {}, asAdministrator = true }: CliSetting = {},
): Promise<CliResult> {
  let out = ''
  let err = ''
  const PORTAGE_TOKEN = env['PORTAGE_TOKEN'] ?? (asAdministrator ? await tokenFor(argv, env) : undefined)
  const code = await main(argv, {
    env: { ...env, PORTAGE_TOKEN },
    stdin: Object.assign(Readable.from([stdin]), { isTTY: terminal }),
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
