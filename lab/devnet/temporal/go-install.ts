import { run } from '../run.ts'

export interface GoInstallOptions {
  /** Name of the program as people know it, such as `Temporal CLI`. */
  readonly what: string
  /** `path@version` of a module in Go's module proxy. */
  readonly module: string
  readonly dir: string
  readonly env: NodeJS.ProcessEnv
  readonly log: (line: string) => void
  readonly tried: string[]
}

/** Builds a program with `go install`, and logs progress every ten seconds. Returns false if the build failed. */
export async function goInstall({ what, module, dir, env, log, tried }: GoInstallOptions): Promise<boolean> {
  const go = await run('go', ['version'], { env, timeoutMs: 20_000 })
  if (go.code !== 0) {
    tried.push('go install: Go is not installed')
    return false
  }
  log(`${what}: building it with \`go install ${module}\` (once; some minutes on 2 cores)…`)
  const started = Date.now()
  const seconds = () => Math.round((Date.now() - started) / 1000)
  let latest = 'compiling'
  const ticker = setInterval(() => log(`${what}: ${seconds()} s, ${latest}`), 10_000)
  const answer = await run('go', ['install', module], {
    env: { ...env, GOBIN: dir },
    timeoutMs: 1_800_000,
    onLine: (line) => (latest = line.slice(0, 100)),
  })
  clearInterval(ticker)
  if (answer.code === 0) {
    log(`${what}: built in ${seconds()} s.`)
    return true
  }
  tried.push(`go install: ${answer.timedOut ? 'not done after 30 minutes' : lastLine(answer.stderr)}`)
  return false
}

export function lastLine(text: string): string {
  return text.trim().split('\n').at(-1)?.slice(0, 160) ?? 'no reason given'
}
