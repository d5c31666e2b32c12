import { readdir, readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { parseStat, type Stat, type ThreadGroup, threadGroupOf } from './proc-stat.ts'

export interface ProcessUsage {
  readonly cpuMs: number
  /** CPU time by thread group. Covers only threads that were still running at the second reading. */
  readonly threadMs: Readonly<Record<ThreadGroup, number>>
  readonly rssPeakMiB: number
}

/** Processes to measure, by name. `tree`: the process and all its descendants. */
export type Measured = Readonly<Record<string, readonly number[] | { readonly tree: number }>>

export const namedThreads = { NODE_OPTIONS: `--require "${fileURLToPath(new URL('./name-threads.cjs', import.meta.url))}"` } as const

const memoryEveryMs = 2_000

interface Look {
  readonly process: Stat
  readonly threads: ReadonlyMap<number, Stat>
}
type Looks = ReadonlyMap<number, Look>

/**
 * Starts a measurement of processes. `stop` returns the CPU time and memory of each process since the start, or zeros
 * on systems without /proc.
 */
export async function startCpuMeter(measured: Measured): Promise<{ stop(): Promise<Record<string, ProcessUsage>> }> {
  const entries = Object.entries(measured)
  const look = () => Promise.all(entries.map(async ([, which]) => lookAt(await pidsOf(which))))
  const peaks = entries.map(() => 0)
  const watch = async () => {
    for (const [index, [, which]] of entries.entries()) peaks[index] = Math.max(peaks[index] ?? 0, await memoryOf(await pidsOf(which)))
  }
  const before = await look()
  const timer = setInterval(() => void watch(), memoryEveryMs)
  return {
    async stop() {
      clearInterval(timer)
      const after = await look()
      await watch()
      return Object.fromEntries(entries.map(([name], index) => [name, usageOf(before[index], after[index], peaks[index] ?? 0)]))
    },
  }
}

async function pidsOf(which: Measured[string]): Promise<readonly number[]> {
  if ('length' in which) return which
  const of = async (pid: number): Promise<number[]> => {
    const children = await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8').catch(() => '')
    const below = await Promise.all(children.trim().split(' ').filter(Boolean).map(Number).map(of))
    return [pid, ...below.flat()]
  }
  return of(which.tree)
}

async function memoryOf(pids: readonly number[]): Promise<number> {
  const all = await Promise.all(pids.map(async (pid) => (await statOf(`/proc/${pid}/stat`))?.rss ?? 0))
  return all.reduce((sum, rss) => sum + rss, 0)
}

async function lookAt(pids: readonly number[]): Promise<Looks> {
  const looks = await Promise.all(
    pids.map(async (pid): Promise<[number, Look][]> => {
      const [process, tids] = await Promise.all([statOf(`/proc/${pid}/stat`), readdir(`/proc/${pid}/task`).catch(() => [])])
      const threads = await Promise.all(tids.map(async (tid) => [Number(tid), await statOf(`/proc/${pid}/task/${tid}/stat`)] as const))
      const living = threads.flatMap(([tid, stat]) => (stat ? [[tid, stat] as const] : []))
      return process ? [[pid, { process, threads: new Map(living) }]] : []
    }),
  )
  return new Map(looks.flat())
}

async function statOf(file: string): Promise<Stat | undefined> {
  const line = await readFile(file, 'utf8').catch(() => undefined)
  return line === undefined ? undefined : parseStat(line)
}

/** CPU time between two readings. A process that is new in `after` counts from its start. */
function usageOf(before: Looks | undefined, after: Looks | undefined, peak: number): ProcessUsage {
  const threadMs: Record<ThreadGroup, number> = { main: 0, workflow: 0, core: 0, gcJit: 0, pool: 0 }
  let cpuMs = 0
  for (const [pid, { process, threads }] of after ?? []) {
    const earlier = before?.get(pid)
    cpuMs += process.cpuMs - (earlier?.process.cpuMs ?? 0)
    for (const [tid, thread] of threads)
      threadMs[threadGroupOf(thread.name, tid === pid)] += thread.cpuMs - (earlier?.threads.get(tid)?.cpuMs ?? 0)
  }
  return { cpuMs, threadMs, rssPeakMiB: Math.round(peak / 1_048_576) }
}
