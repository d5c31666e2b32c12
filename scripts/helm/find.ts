import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, rename, rm } from 'node:fs/promises'
import { delimiter, join } from 'node:path'
import { run } from '../../lab/devnet/run.ts'
import { goInstall } from '../../lab/devnet/temporal/go-install.ts'
import { programCache } from '../../lab/devnet/temporal/temporal-cli.ts'

const helmVersion = '3.22.0'
/** Accepted minor versions of Helm 3. Older versions render different texts, and newer versions are untested. */
const [oldestMinor, newestMinor] = [18, 22]

/**
 * Finds Helm in HELM (any version), in PATH or in an earlier build, or builds it with Go. `why`: why none of these
 * works.
 */
export async function findHelm(env: NodeJS.ProcessEnv): Promise<{ helm?: string; why?: string }> {
  const { HELM, PATH = '' } = env
  if (HELM) return { helm: HELM }
  const cached = join(programCache(env), `helm-${helmVersion}`)
  for (const path of [...PATH.split(delimiter).map((folder) => join(folder, 'helm')), cached])
    if (await isKnown(path)) return { helm: path }
  await mkdir(programCache(env), { recursive: true })
  const work = await mkdtemp(join(programCache(env), 'work-'))
  const tried: string[] = []
  try {
    const log = (line: string) => process.stderr.write(`${line}\n`)
    const module = `helm.sh/helm/v3/cmd/helm@v${helmVersion}`
    if (!(await goInstall({ what: 'Helm', module, dir: work, env, log, tried }))) return { why: tried.join('; ') }
    // Renames only a complete program, so that another process never sees a part of the program.
    await rename(join(work, 'helm'), cached)
    return { helm: cached }
  } finally {
    await rm(work, { recursive: true, force: true })
  }
}

async function isKnown(path: string): Promise<boolean> {
  if (!existsSync(path)) return false
  const { code, stdout } = await run(path, ['version', '--short'], { timeoutMs: 20_000 })
  // A Helm that `go install` built prints only v3.22, without a patch version.
  const minor = Number(/^v3\.(\d+)\b/m.exec(stdout)?.[1])
  return code === 0 && minor >= oldestMinor && minor <= newestMinor
}
