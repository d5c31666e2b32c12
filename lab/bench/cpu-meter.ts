import { readdir, readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { parseStat, type Stat, type ThreadGroup, threadGroupOf, threadGroups } from './proc-stat.ts'

/** What a process used between two looks. */
export interface ProcessUsage {
  readonly cpuMs: number
  /** Of threads that live at both looks. */
  readonly threadMs: Readonly<Record<ThreadGroup, number>>
  /** Most resident memory that was seen, MiB. */
  readonly rssPeakMiB: number
}

/** Processes whose CPU time is counted: pids by what they are called. Several pids of one name are added up. */
export type Measured = Readonly<Record<string, readonly number[]>>

/** Makes `name-threads.cjs` run first in a Node process. */
export const namedThreads = { NODE_OPTIONS: `--require "${fileURLToPath(new URL('name-threads.cjs', import.meta.url))}"` } as const

const memoryEveryMs = 500

interface Look {
  readonly process: Stat
  readonly threads: ReadonlyMap<number, Stat>
}

/** Starts to count. `stop` gives what each used since then; nothing but zeros where there is no /proc. */
export async function startCpuMeter(measured: Measured): Promise<{ stop(): Promise<Record<string, ProcessUsage>> }> {
  const entries = Object.entries(measured)
  const pids = entries.flatMap(([, list]) => list)
  const peaks = new Map<number, number>()
  const watch = async () => {
    for (const pid of pids) peaks.set(pid, Math.max(peaks.get(pid) ?? 0, (await statOf(`/proc/${pid}/stat`))?.rss ?? 0))
  }
  const before = await lookAt(pids)
  const timer = setInterval(() => void watch(), memoryEveryMs)
  return {
    async stop() {
      clearInterval(timer)
      const after = await lookAt(pids)
      await watch()
      const usageOf = (pid: number) => between(pid, before.get(pid), after.get(pid), peaks.get(pid) ?? 0)
      return Object.fromEntries(entries.map(([name, list]) => [name, sum(list.map(usageOf))]))
    },
  }
}

async function lookAt(pids: readonly number[]): Promise<Map<number, Look>> {
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

/** Undefined: it has ended. */
async function statOf(file: string): Promise<Stat | undefined> {
  const line = await readFile(file, 'utf8').catch(() => undefined)
  return line === undefined ? undefined : parseStat(line)
}

function between(pid: number, before: Look | undefined, after: Look | undefined, peak: number): ProcessUsage {
  const threadMs = noThreads()
  for (const [tid, { name, cpuMs }] of after?.threads ?? [])
    threadMs[threadGroupOf(name, tid === pid)] += cpuMs - (before?.threads.get(tid)?.cpuMs ?? 0)
  const cpuMs = (after?.process.cpuMs ?? 0) - (before?.process.cpuMs ?? 0)
  return { cpuMs: Math.max(0, cpuMs), threadMs, rssPeakMiB: Math.round(peak / 1_048_576) }
}

function sum(usages: readonly ProcessUsage[]): ProcessUsage {
  const threadMs = noThreads()
  for (const usage of usages) for (const group of threadGroups) threadMs[group] += usage.threadMs[group]
  const total = (of: (usage: ProcessUsage) => number) => usages.reduce((all, usage) => all + of(usage), 0)
  return { cpuMs: total(({ cpuMs }) => cpuMs), threadMs, rssPeakMiB: total(({ rssPeakMiB }) => rssPeakMiB) }
}

function noThreads(): Record<ThreadGroup, number> {
  return { main: 0, workflow: 0, core: 0, gcJit: 0, pool: 0 }
}
