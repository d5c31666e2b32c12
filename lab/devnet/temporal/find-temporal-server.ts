import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { RelayerError } from '../../../domain/catalogue/errors.ts'
import { goInstall } from './go-install.ts'
import { programCache } from './temporal-cli.ts'

/** Tests of TLS and authorization need the production server, because the dev server has neither. */
export const serverVersion = '1.32.0'
const goModule = `go.temporal.io/server/cmd/server@v${serverVersion}`

export interface FindServerOptions {
  readonly env?: NodeJS.ProcessEnv
  readonly log?: (line: string) => void
}

/** The server that TEMPORAL_SERVER names, or an earlier build. Undefined if there is none. */
export function knownTemporalServer(env: NodeJS.ProcessEnv = process.env): string | undefined {
  // A wrong path in TEMPORAL_SERVER is a user error, so no other server is used instead.
  const path = env['TEMPORAL_SERVER'] || join(programCache(env), `temporal-server-${serverVersion}`)
  return existsSync(path) ? path : undefined
}

/** Finds the Temporal server, or builds it with `go install` and caches it. Throws SETUP_INCOMPLETE with the reason. */
export async function findTemporalServer({ env = process.env, log = say }: FindServerOptions = {}): Promise<string> {
  const known = knownTemporalServer(env)
  if (known !== undefined) return known
  if (env['TEMPORAL_SERVER'])
    throw new RelayerError('SETUP_INCOMPLETE', { detail: `TEMPORAL_SERVER: ${env['TEMPORAL_SERVER']} does not exist` })
  const cache = programCache(env)
  await mkdir(cache, { recursive: true })
  const work = await mkdtemp(join(cache, 'work-'))
  const tried: string[] = []
  try {
    const built = await goInstall({ what: 'Temporal server', module: goModule, dir: work, env, log, tried })
    if (!built) throw new RelayerError('SETUP_INCOMPLETE', { detail: `No Temporal server: ${tried.join('; ')}.` })
    const path = join(cache, `temporal-server-${serverVersion}`)
    // The complete file is renamed into place, so that other processes never see a part of it.
    await rename(join(work, process.platform === 'win32' ? 'server.exe' : 'server'), path)
    return path
  } finally {
    await rm(work, { recursive: true, force: true })
  }
}

function say(line: string): void {
  process.stderr.write(`${line}\n`)
}

if (process.argv[1] && import.meta.url === pathToFileURL(process.argv[1]).href) {
  try {
    say(`Temporal server: ${await findTemporalServer()}`)
  } catch (error) {
    // Only a few tests need the server, so a failure does not stop the set-up.
    say(error instanceof Error ? error.message : String(error))
    say(
      'NOT RUN: the tests with a Temporal server with TLS and authorization, test/e2e/temporal-access.test.ts and test/e2e/temporal-postgres.test.ts (they need Go 1.26 or newer, or TEMPORAL_SERVER)',
    )
  }
}
