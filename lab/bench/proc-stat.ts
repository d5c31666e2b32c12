/** CPU time of a process or thread, from Linux's /proc (proc_pid_stat(5)). */
export interface Stat {
  readonly name: string
  /** User and kernel mode together, ms. */
  readonly cpuMs: number
  /** Resident memory of the process, bytes. */
  readonly rss: number
}

/** USER_HZ is 100 on every Linux that Node runs on. Pages have 4,096 bytes on x86-64, and nearly always on arm64. */
const [msPerTick, pageBytes] = [10, 4096]

/** Parses /proc/<pid>/stat or /proc/<pid>/task/<tid>/stat. Throws Error for other text. */
export function parseStat(line: string): Stat {
  const [open, close] = [line.indexOf('('), line.lastIndexOf(')')]
  // All fields after the name, which may contain spaces and is field 2: state is 3, utime 14, stime 15, rss 24.
  const fields = line
    .slice(close + 2)
    .trim()
    .split(' ')
  const [user, kernel, pages] = [Number(fields[11]), Number(fields[12]), Number(fields[21])]
  if (open < 0 || close < open || ![user, kernel, pages].every(Number.isFinite))
    throw new Error(`Not a line of /proc/…/stat: ${line.slice(0, 80)}`)
  return { name: line.slice(open + 1, close), cpuMs: (user + kernel) * msPerTick, rss: pages * pageBytes }
}

/** Threads of a Node process. workflow: Node's workers. core: Temporal's Rust threads. gcJit: V8. pool: libuv. */
export const threadGroups = ['main', 'workflow', 'core', 'gcJit', 'pool'] as const
export type ThreadGroup = (typeof threadGroups)[number]

/**
 * name-threads.cjs gives the first two names. In Node 20, V8's threads keep the program's name, because they start
 * before any script, and threads of libuv or of a time limit inherit the name of the thread that starts them. Node 24
 * names its own threads. The kernel cuts names after 15 characters.
 */
const groupsByName = new Map<string, ThreadGroup>([
  ['js-main', 'pool'],
  ['js-worker', 'workflow'],
  ['node', 'gcJit'],
  ['V8Worker', 'gcJit'],
  ['DelayedTaskSche', 'gcJit'],
  ['SignalInspector', 'gcJit'],
  ['WorkerThread', 'workflow'],
  ['Watchdog', 'workflow'],
  ['libuv-worker', 'pool'],
])

/** The group of a thread. Names that are not in `groupsByName` are those of Rust threads, which name themselves. */
export function threadGroupOf(name: string, isFirst: boolean): ThreadGroup {
  return isFirst ? 'main' : (groupsByName.get(name) ?? 'core')
}
