import { existsSync } from 'node:fs'
import { mkdir, readFile, rmdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

/** The limit of a process that may use only a share of one core. */
export interface CpuLimit {
  /** Share of the 100 ms periods in which the process had used up its CPU time, of all periods in which it ran. */
  readonly usedUp: () => Promise<number>
  /** Removes the limit's group. Call it after the process has ended. */
  readonly end: () => Promise<void>
}

const periodUs = 100_000

/** Controllers of Linux's control groups in version 1 and 2 (kernel documentation: cgroup-v1, cgroup-v2). */
const [first, second] = ['/sys/fs/cgroup/cpu', '/sys/fs/cgroup']

/** Throws Error if this user cannot make control groups. */
export async function limitCpu(name: string, pid: number, share: number): Promise<CpuLimit> {
  const isFirst = existsSync(join(first, 'cgroup.procs'))
  const group = join(isFirst ? first : second, `portage-${process.pid}-${name}`)
  const quotaUs = Math.round(periodUs * share)
  await mkdir(group)
  const limits = isFirst ? { 'cpu.cfs_period_us': periodUs, 'cpu.cfs_quota_us': quotaUs } : { 'cpu.max': `${quotaUs} ${periodUs}` }
  for (const [file, value] of Object.entries({ ...limits, 'cgroup.procs': pid })) await writeFile(join(group, file), String(value))
  const statistic = async (field: string) =>
    Number(new RegExp(`^${field} (\\d+)$`, 'm').exec(await readFile(join(group, 'cpu.stat'), 'utf8'))?.[1])
  return {
    usedUp: async () => (await statistic('nr_throttled')) / Math.max(1, await statistic('nr_periods')),
    end: () => rmdir(group),
  }
}
