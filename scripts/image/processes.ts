import { readdir, readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import type { FleetProcess } from './fleet.ts'

/** `capabilities`: names of the sets that are not empty. `peakBytes`: peak memory of the process. */
export async function privilegesOf({ name, pid }: FleetProcess) {
  const status = await readFile(`/proc/${pid}/status`, 'utf8')
  const field = (wanted: string) => new RegExp(`^${wanted}:\\s*(.*)$`, 'm').exec(status)?.[1] ?? ''
  const sets = ['CapInh', 'CapPrm', 'CapEff', 'CapAmb'].filter((set) => /[1-9a-f]/.test(field(set)))
  const root = `/proc/${pid}/root`
  const below = (await readdir(`${root}/run/secrets`, { recursive: true })).map((path) => join('/run/secrets', path))
  const files = await Promise.all(below.map(async (path) => ((await stat(root + path)).isFile() ? [path] : [])))
  return {
    name,
    uid: field('Uid').split('\t')[0] ?? '',
    capabilities: sets,
    noNewPrivileges: field('NoNewPrivs') === '1',
    secrets: files.flat().toSorted(),
    peakBytes: Number.parseInt(field('VmHWM'), 10) * 1_024,
  }
}
