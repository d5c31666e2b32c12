import { mkdir, rm } from 'node:fs/promises'
import { cpus } from 'node:os'
import { join } from 'node:path'
import { type RunResult, run } from '../devnet/run.ts'

export interface TlcRun {
  /** Folder with the modules. TLC writes its own files into a new subfolder, which is removed at the end. */
  readonly folder: string
  readonly module: string
  readonly config: string
  /** If set, TLC writes random runs to files whose names begin with `file`, and checks nothing. */
  readonly simulate?: { readonly file: string; readonly runs: number; readonly depth: number; readonly seed: number }
  readonly workers?: number
  readonly timeoutMs?: number
}

export interface TlcResult {
  /** `failed`: TLC itself failed, for example because of a mistake in a module. */
  readonly verdict:
    | { readonly kind: 'holds' }
    | { readonly kind: 'violated'; readonly name: string }
    | { readonly kind: 'failed'; readonly why: string }
  readonly states: number
  readonly distinct: number
  /** Number of steps from an initial state to the most distant state. */
  readonly depth: number
  readonly seconds: number
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
    // TLC unpacks its standard modules into the folder for temporary files, so two runs must not share this folder.
    const java = ['-XX:+UseParallelGC', '-Xmx2g', `-Djava.io.tmpdir=${own}`, '-cp', jar, 'tlc2.TLC']
    const files = ['-metadir', join(own, 'states'), '-config', config, join(folder, `${module}.tla`)]
    const result = await run('java', [...java, '-deadlock', ...mode, ...files], { timeoutMs, ...limits })
    return { ...readTlc(result), seconds: (performance.now() - started) / 1000 }
  } finally {
    await rm(own, { recursive: true, force: true })
  }
}

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
