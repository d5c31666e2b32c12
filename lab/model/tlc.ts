import { mkdir, rm } from 'node:fs/promises'
import { cpus } from 'node:os'
import { join } from 'node:path'
import { type RunResult, run } from '../devnet/run.ts'

export interface TlcRun {
  /** Folder with the modules. TLC's own files are in a folder below it, which is removed. */
  readonly folder: string
  readonly module: string
  readonly config: string
  /** Writes random runs to files whose names begin with `file`. Checks nothing. */
  readonly simulate?: { readonly file: string; readonly runs: number; readonly depth: number; readonly seed: number }
  /** Number of worker threads. Default: one per core. */
  readonly workers?: number
  readonly timeoutMs?: number
}

export interface TlcResult {
  /**
   * `violated`: an invariant or property does not hold. `failed`: TLC itself failed, for example at a mistake in a
   * module.
   */
  readonly verdict:
    | { readonly kind: 'holds' }
    | { readonly kind: 'violated'; readonly name: string }
    | { readonly kind: 'failed'; readonly why: string }
  readonly states: number
  readonly distinct: number
  /** Number of steps to the state that is farthest from the first states. */
  readonly depth: number
  readonly seconds: number
  /** The steps that lead to the violation, as TLC prints them. */
  readonly trace: string
}

const timeoutMs = 600_000

export async function runTlc(
  jar: string,
  { folder, module, config, simulate, workers = cpus().length, ...limits }: TlcRun,
): Promise<TlcResult> {
  const own = join(folder, `tlc-${config}-${process.hrtime.bigint()}`)
  await mkdir(own, { recursive: true })
  const mode = simulate
    ? ['-simulate', `file=${simulate.file},num=${simulate.runs}`, '-depth', String(simulate.depth), '-seed', String(simulate.seed)]
    : ['-workers', String(workers)]
  const started = performance.now()
  try {
    // A separate folder for temporary files. TLC unpacks its standard modules into it, so two runs must not share it.
    const java = ['-XX:+UseParallelGC', '-Xmx2g', `-Djava.io.tmpdir=${own}`, '-cp', jar, 'tlc2.TLC']
    const files = ['-metadir', join(own, 'states'), '-config', config, join(folder, `${module}.tla`)]
    const result = await run('java', [...java, '-deadlock', ...mode, ...files], { timeoutMs, ...limits })
    return { ...readTlc(result), seconds: (performance.now() - started) / 1000 }
  } finally {
    await rm(own, { recursive: true, force: true })
  }
}

/** Reads TLC's output. Unknown text is a failure, never a success. */
export function readTlc({ stdout, stderr, code, timedOut }: RunResult): Omit<TlcResult, 'seconds'> {
  const [, states = '0', distinct = '0'] = /^([\d,]+) states generated, ([\d,]+) distinct states found/m.exec(stdout) ?? []
  const [, depth = '0'] = /^The depth of the complete state graph search is (\d+)/m.exec(stdout) ?? []
  const [, invariant] = /^Error: Invariant (\w+) is violated/m.exec(stdout) ?? []
  const [, property] = /^Error: (Temporal properties) were violated/m.exec(stdout) ?? []
  const name = invariant ?? property
  const isDone =
    code === 0 && /^(Model checking completed\. No error has been found|Finished in )/m.test(stdout) && !/^Error:/m.test(stdout)
  const why = timedOut
    ? 'TLC took too long'
    : (/^Error: [^]*?(?=\n\d+ states generated|(?![^]))/m.exec(stdout)?.[0] ?? (stderr || stdout)).trim().slice(0, 2_000)
  const [, trace = ''] = /^Error: The behavior up to this point is:\n([^]*?)\n\d+ states generated/m.exec(stdout) ?? []
  const whole = (text: string) => Number(text.replaceAll(',', ''))
  return {
    verdict: name ? { kind: 'violated', name } : isDone ? { kind: 'holds' } : { kind: 'failed', why },
    ...{ states: whole(states), distinct: whole(distinct), depth: whole(depth), trace },
  }
}
